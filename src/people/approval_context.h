// The context of a question, read only from the ledger: how it differs from earlier approvals, what
// the call would edit, why it is asked, and the record of the agent (CO-30, CO-31).
#pragma once

#include "ledger/store.h"
#include "people/approval_items.h"

namespace sallyport::app {

// Null: no call of the same agent and tool was approved before.
Result<json::value> unlike_json(ledger::ReadView& view, const ApprovalItem& item);
// The texts that the input would change: `{path, before, now}` for an edit, `{path, diff}` for a
// prepared operation.
json::array edits_json(const ApprovalItem& item);
// Null: no record of the call says.
Result<json::value> why_json(ledger::ReadView& view, const ApprovalItem& item);
// Its trust records of the last 30 days by outcome, at most the newest 1,000.
Result<json::object> agent_counts(ledger::ReadView& view, const std::string& agent, WallTime now);

}  // namespace sallyport::app
