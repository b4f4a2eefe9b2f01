// Prepares outside input for a message of one line.
#pragma once

#include <string>
#include <string_view>

namespace sallyport::guardrails {

// Keeps at most 512 characters, enough for every entry of a check. Characters that would end a line
// or control a terminal become `\u{..}`.
std::string in_one_line(std::string_view text);

}  // namespace sallyport::guardrails
