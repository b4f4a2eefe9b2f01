// Is a shared log still in the database where it was written? (SC-48)
#pragma once

#include "ledger/store.h"

namespace sallyport::ledger {

// `identity`: of the database that holds the view; empty: not known, and not compared. `Corrupt`:
// the log was written in another one.
Result<void> check_database(ReadView& view, const std::string& identity);

}  // namespace sallyport::ledger
