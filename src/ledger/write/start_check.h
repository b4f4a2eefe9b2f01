// The checks before a ledger is written: newest checkpoint, right edge, last entries, seals.
#pragma once

#include <cstdint>
#include <memory>

#include "ledger/proof/note.h"
#include "ledger/store.h"

namespace sallyport::ledger {

// Checks that `key` signed the newest checkpoint, that its size and root are right, and that the
// last 4,096 entries have their stored hashes (LE-45). `Corrupt` names the place.
Result<void> check_before_writing(ReadView& view, const VerifierKey& key,
                                  std::uint64_t looks_back = 4096);

// From now on rows are read with their seals, unless the newest row has none: then an earlier
// release wrote the ledger, and `ledger verify` reports it.
Result<void> check_seals_of(LedgerStore& store, std::shared_ptr<const KeyedDigest> secret);

}  // namespace sallyport::ledger
