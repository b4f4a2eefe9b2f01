// How fast, and how many at once, one person may say yes.
#pragma once

#include <cstddef>
#include <string>

#include "base/clock.h"
#include "ledger/store.h"
#include "sallyport/json.h"

namespace sallyport::app {

// A person who approves more often than this within ten minutes must name each further call
// (AP-43).
inline constexpr std::size_t kHastyApprovals = 30;

// How often a person has said yes in the last ten minutes.
Result<std::size_t> recent_approvals(ledger::LedgerStore& store, const std::string& person,
                                     WallTime now);

// A call that needs a human, or two of them, needs one who looks at it, and no list (AT-17).
Result<bool> needs_own_look(ledger::LedgerStore& store, const json::object& request);

// `Conflict` or `Exhausted`: this yes is given by itself, not in a list.
Result<void> may_be_listed(ledger::LedgerStore& store, const json::object& request,
                           const std::string& person, WallTime now);

}  // namespace sallyport::app
