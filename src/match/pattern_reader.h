// Parses a pattern into a tree and refuses what is not in the dialect. PCRE2 has checked the
// pattern before; a text that is not well-formed may give any tree.
#pragma once

#include <string_view>

#include "match/expression.h"

namespace sallyport::match {

Result<Parsed> read_pattern(std::string_view text, Alphabet alphabet);

}  // namespace sallyport::match
