// A call that ran when its process died. The ledger closes it, because no Governor runs it any more
// (AU-77): in the transaction in which the next process starts (`Start::close_calls`), or, on a
// shared log, from a running gateway (`Ledger::close_lost`). Its end is made by `add_end`, like
// every other.
#pragma once

#include <boost/json/object.hpp>
#include <vector>

#include "core/record/draft.h"

namespace sallyport::core {

// Returns the entries that close the call which `entry` opened.
std::vector<Draft> close_interrupted(const json::object& entry);

}  // namespace sallyport::core
