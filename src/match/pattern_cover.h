// Decides whether every text with a match of one expression also has a match of others. It uses
// their automata and never tries texts (WB-63).
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

// The search visits at most `most_states` states.
Cover covered_by(const Expression& narrow, const std::vector<Expression>& wide,
                 std::size_t most_states = 4'000);

}  // namespace sallyport::match
