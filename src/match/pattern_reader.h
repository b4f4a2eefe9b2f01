// Reads the text of a pattern into a tree and refuses what the dialect does not have. Text that is
// not well-formed may give any tree: PCRE2 has judged that.
#pragma once

#include <string_view>

#include "match/expression.h"

namespace sallyport::match {

Result<Parsed> read_pattern(std::string_view text, Alphabet alphabet);

}  // namespace sallyport::match
