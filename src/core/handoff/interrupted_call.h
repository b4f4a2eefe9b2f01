// A call that ran when its process died. The ledger closes it in the transaction in which the next
// process starts (`ledger/write/start.cc`), before that process has a Governor (AU-77). Its end is made by
// `add_end`, like every other.
#pragma once

#include <boost/json/object.hpp>
#include <vector>

#include "core/record/draft.h"

namespace sallyport::core {

// Returns the entries that close the call which `entry` opened.
std::vector<Draft> close_interrupted(const json::object& entry);

}  // namespace sallyport::core
