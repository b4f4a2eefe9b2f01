// The keys that a log was signed with, and whether an earlier checkpoint was.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ledger/proof/note.h"
#include "ledger/store.h"

namespace sallyport::ledger {

// The time of one key, in sizes of the tree.
struct KeyPeriod {
  VerifierKey key;
  std::uint64_t first_size = 0;            // smallest tree it may have signed
  std::optional<std::uint64_t> last_size;  // no value: still in use
  bool compromised = false;
};

// Every verifier key this ledger ever had, oldest first, as its control entries tell.
Result<std::vector<KeyPeriod>> key_history(ReadView& view);

// Checks that a checkpoint kept elsewhere is an earlier state of this ledger, signed by a key of
// `keys`.
Result<void> check_against(ReadView& view, std::string_view kept_note,
                           const std::vector<KeyPeriod>& keys);

}  // namespace sallyport::ledger
