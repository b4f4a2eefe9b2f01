// Copies a whole ledger to another store: the same entries, tree, checkpoints, seals, index and
// facts, so that it continues there under the same origin and key.
#pragma once

#include "ledger/store.h"

namespace sallyport::ledger {

// The entry that `actor` moved the log to `to`. A log with this entry opens for writing only in a
// shared store.
core::Draft moved(std::string to, std::string actor);
// Where the ledger was moved; no value: it was not moved.
Result<std::optional<std::string>> moved_to(ReadView& view);

// Copies what `to` does not have yet, so it continues an interrupted copy. Returns the number of
// entries. `Conflict`: `to` holds another log.
Result<std::uint64_t> copy_ledger(LedgerStore& from, LedgerStore& to);

}  // namespace sallyport::ledger
