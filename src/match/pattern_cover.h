// Does every text in which one expression finds something hold a find of others, too? Decided over
// their automata, never by trying texts (WB-63).
#pragma once

#include <cstdint>
#include <vector>

#include "match/expression.h"

namespace sallyport::match {

enum class Cover : std::uint8_t {
  Yes,
  No,  // some text has a find of the one and none of the others
  NotDecided,
};

// The search looks at so many states at most.
Cover covered_by(const Expression& narrow, const std::vector<Expression>& wide,
                 std::size_t most_states = 4'000);

}  // namespace sallyport::match
