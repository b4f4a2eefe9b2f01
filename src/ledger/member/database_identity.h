// Checks that a shared log is still in the database where it was written (SC-48).
#pragma once

#include "ledger/store.h"

namespace sallyport::ledger {

// `identity`: that of the database behind the view; empty: unknown, and not compared. `Corrupt`:
// the log was written in another database.
Result<void> check_database(ReadView& view, const std::string& identity);

}  // namespace sallyport::ledger
