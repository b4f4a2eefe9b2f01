// The error for a command that does not exist, with the nearest one.
#pragma once

#include <string>
#include <string_view>

#include "cli/completion.h"

namespace sallyport::app {

// `under` is the command that was understood, empty for none; `word` is what came next.
std::string about_unknown_verb(const CommandInfo& root, std::string_view under,
                               const std::string& word);

}  // namespace sallyport::app
