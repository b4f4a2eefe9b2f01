// The current problems of a gate, for the banner of every page (CO-64), read from the facts of the
// log and from the state of the ledger.
#pragma once

#include "ledger/ledger.h"

namespace sallyport::app {

// `[{"kind":"fail_open","since":"...","detail":"guard pii"}]`; empty: all is well. `since` is null
// if it is unknown.
Result<json::array> banner(ledger::ReadView& view, const ledger::Health& health);

// The body of GET health, without the time.
Result<json::object> health_json(ledger::Ledger& ledger);

}  // namespace sallyport::app
