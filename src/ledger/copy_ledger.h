// A complete copy of a ledger in another store: the same entries, tree, checkpoints, seals, index
// and facts, so that it goes on there under the same origin and key.
#pragma once

#include "ledger/store.h"

namespace sallyport::ledger {

// Says in the log that `who` moved it to `to`, in words. Nothing opens it for writing any more, but in
// a store that is shared.
core::Draft moved(std::string to, std::string who);
// Where it went; nothing: it is here.
Result<std::optional<std::string>> moved_to(ReadView& view);

// Copies what `to` does not have yet: a copy that was cut short is continued. `Conflict`: `to`
// holds another log. The number of entries.
Result<std::uint64_t> copy_ledger(LedgerStore& from, LedgerStore& to);

}  // namespace sallyport::ledger
