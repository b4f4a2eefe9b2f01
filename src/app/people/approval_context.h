// What stands around a question, read from the ledger alone: how it differs from what was approved
// before, why it is asked, and how the agent has done (CO-30, CO-31).
#pragma once

#include "app/people/approval_items.h"
#include "ledger/store.h"

namespace sallyport::app {

// Null: no call of the same agent and tool was approved before.
Result<json::value> unlike_json(ledger::ReadView& view, const ApprovalItem& item);
// What the input would change in texts: `{path, before, now}` of an edit, `{path, diff}` of what a
// tool has prepared.
json::array edits_json(const ApprovalItem& item);
// Null: no record of the call says.
Result<json::value> why_json(ledger::ReadView& view, const ApprovalItem& item);
// Its trust records of the last 30 days by outcome, at most the newest 1,000.
Result<json::object> agent_counts(ledger::ReadView& view, const std::string& agent, WallTime now);

}  // namespace sallyport::app
