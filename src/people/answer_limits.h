// Limits how fast, and how many at once, one person may approve.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "core/approval/hidden_parts.h"
#include "ledger/store.h"
#include "sallyport/json.h"

namespace sallyport::people {

// A person who approves more often than this within ten minutes must name each further call
// (AP-43).
inline constexpr std::size_t kHastyApprovals = 30;

// How often a person has said yes in the last ten minutes.
Result<std::size_t> recent_approvals(ledger::LedgerStore& store, const std::string& person,
                                     WallTime now);

// A call that needs a human, or two people, cannot be approved in a list (AT-17).
Result<bool> needs_own_look(ledger::LedgerStore& store, const json::object& request);

// `Exhausted` with the cause `haste`: a person who approves very often must name what they approve
// (AP-43). `then` says how.
Result<void> check_haste(ledger::LedgerStore& store, const std::string& person, WallTime now,
                         std::string_view then);
// The same for a yes to a command of which a part was redacted.
Result<void> check_seen(const std::vector<core::HiddenPart>& hidden, std::string_view then);

// `Conflict` or `Exhausted`: this approval must be given alone, not in a list.
Result<void> may_be_listed(ledger::LedgerStore& store, const json::object& request,
                           const std::string& person, WallTime now);

}  // namespace sallyport::people
