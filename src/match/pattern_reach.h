// Decides over its automaton, without trying texts, if a pattern matches nothing or everything.
#pragma once

#include <cstdint>

#include "match/expression.h"

namespace sallyport::match {

enum class Reach : std::uint8_t {
  Nothing,     // no text has a match
  Some,        // or it is not decided
  Everything,  // every text of one character or more has a match
};

// The reach of an expression of the dialect.
Reach reach_of(const Expression& expression);

}  // namespace sallyport::match
