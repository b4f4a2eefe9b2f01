// Entries as readers see them: with the openings of their sealed fields put in.
#pragma once

#include <boost/json/object.hpp>
#include <functional>

#include "ledger/read/query.h"

namespace sallyport::app {

// Visits the entries of `filter` that have a body, in write order, until `visit` returns false.
Result<void> visit_opened(
    ledger::ReadView& view, const ledger::Filter& filter,
    const std::function<bool(const json::object& entry, const json::object& body)>& visit);

}  // namespace sallyport::app
