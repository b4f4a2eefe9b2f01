// Limits how fast, and how many at once, one person may approve.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "core/approval/approval_state.h"
#include "core/approval/hidden_parts.h"
#include "ledger/store.h"
#include "sallyport/json.h"

namespace sallyport::app {

// After so many approvals within ten minutes, a person must name each further call (AP-43).
inline constexpr std::size_t kHastyApprovals = 30;

// How often a person has said yes in the last ten minutes.
Result<std::size_t> recent_approvals(ledger::LedgerStore& store, const std::string& person,
                                     WallTime now);

// A call that needs a human, or two people, cannot be approved in a list (AT-17).
Result<bool> needs_own_look(ledger::LedgerStore& store, const json::object& request,
                            const core::ApprovalState& state);

// `Exhausted` with the cause `haste`: a person who approves very often must name what they approve
// (AP-43). `then` says how.
Result<void> check_haste(ledger::LedgerStore& store, const std::string& person, WallTime now,
                         std::string_view then);
// The same, with the same cause, for the approval of a command that is redacted in part.
Result<void> check_seen(const std::vector<core::HiddenPart>& hidden, std::string_view then);

// What a person types for a yes at a terminal: `y`, or the first digits of the binding where the
// two checks above would fail. `recent`: how often the person has said yes; an error is too often.
std::string word_of_yes(const Result<std::size_t>& recent,
                        const std::vector<core::HiddenPart>& hidden, const std::string& binding);

// `Conflict` or `Exhausted`: this approval must be given alone, not in a list.
Result<void> may_be_listed(ledger::LedgerStore& store, const json::object& request,
                           const core::ApprovalState& state, const std::string& person,
                           WallTime now);

}  // namespace sallyport::app
