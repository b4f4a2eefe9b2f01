// `{a,b}` and `{1..3}` in words, before anything else is expanded.
#pragma once

#include <optional>
#include <vector>

#include "effects/shell_syntax.h"

namespace sallyport::effects {

// The words that a word with braces becomes. Nothing where shells could disagree, or where they are
// too many.
std::optional<std::vector<std::vector<Part>>> brace_expanded(const std::vector<Part>& parts);

}  // namespace sallyport::effects
