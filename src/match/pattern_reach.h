// Does a pattern match anything, or everything? Decided over its automaton, never by trying texts.
#pragma once

#include <cstdint>

#include "match/expression.h"

namespace sallyport::match {

enum class Reach : std::uint8_t {
  Nothing,     // no text has a match
  Some,        // or it is not decided
  Everything,  // every text of one character or more has a match
};

// Of an expression that the dialect has.
Reach reach_of(const Expression& expression);

}  // namespace sallyport::match
