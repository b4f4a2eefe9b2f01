// Entries as readers see them: with the openings of their sealed fields put in.
#pragma once

#include <boost/json/object.hpp>
#include <functional>

#include "ledger/read/query.h"

namespace sallyport::app {

// Those of `filter` that have a body, in write order, for as long as `visit` wants more.
Result<void> visit_opened(
    ledger::ReadView& view, const ledger::Filter& filter,
    const std::function<bool(const json::object& entry, const json::object& body)>& visit);

}  // namespace sallyport::app
