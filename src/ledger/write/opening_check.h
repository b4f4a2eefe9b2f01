// The checks before the first append: newest checkpoint, right edge, tail, witness.
#pragma once

#include <filesystem>
#include <vector>

#include "ledger/entry/opening.h"
#include "ledger/proof/note.h"
#include "ledger/store.h"

namespace sallyport::ledger {

// The newest checkpoint is signed by `key` and says size and recomputed root; the last 4,096
// entries have the hashes that are stored for them (LE-45). `Corrupt` names the place.
Result<void> check_before_writing(ReadView& view, const VerifierKey& key,
                                  std::uint64_t looks_back = 4096);

// Every verifier key this ledger ever had, oldest first, as its control entries tell.
struct KeyPeriod {
  VerifierKey key;
  std::uint64_t first_size = 0;            // smallest tree it may have signed
  std::optional<std::uint64_t> last_size;  // no value: still in use
  bool compromised = false;
};
Result<std::vector<KeyPeriod>> key_history(ReadView& view);

// The entry has the bytes that were hashed, or was pruned; `corrupt` names the place.
Result<void> check_leaf(const StoredEntry& stored);

// The openings of an entry. `corrupt` names the place where one does not match its commitment, is
// missing, or where the row differs from its seal: nothing of such an entry is returned.
Result<std::vector<Opening>> openings_of(const StoredEntry& stored);

// The whole entry as readers see it, its body opened.
Result<json::object> opened_entry(const StoredEntry& stored);

// Rows are read with their seals from now on, unless the newest has none: then an earlier release
// wrote the ledger, and verifying says so.
Result<void> check_seals_of(LedgerStore& store, std::shared_ptr<const KeyedDigest> secret);

// Checks that a checkpoint kept elsewhere is an earlier state of this ledger, signed by a key of
// `keys`.
Result<void> check_against(ReadView& view, std::string_view kept_note,
                           const std::vector<KeyPeriod>& keys);

}  // namespace sallyport::ledger
