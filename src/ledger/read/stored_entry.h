// One stored entry, checked: its bytes against their hash, its openings against their commitments.
#pragma once

#include <boost/json/object.hpp>
#include <vector>

#include "ledger/entry/opening.h"
#include "ledger/store.h"

namespace sallyport::ledger {

// Checks that the entry has the hashed bytes or was pruned; `corrupt` names the place.
Result<void> check_leaf(const StoredEntry& stored);

// The openings of an entry. `corrupt` names the place where one does not match its commitment, is
// missing, or where the row differs from its seal: nothing of such an entry is returned.
Result<std::vector<Opening>> openings_of(const StoredEntry& stored);

// The whole entry as readers see it, its body opened.
Result<json::object> opened_entry(const StoredEntry& stored);

}  // namespace sallyport::ledger
