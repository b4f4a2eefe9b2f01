// Expands `{a,b}` and `{1..3}` in words. This is the first expansion.
#pragma once

#include <optional>
#include <vector>

#include "effects/shell_syntax.h"

namespace sallyport::effects {

// The words that a word with braces expands to. No value if shells may disagree, or if there are
// too many.
std::optional<std::vector<std::vector<Part>>> brace_expanded(const std::vector<Part>& parts);

}  // namespace sallyport::effects
