// Finds the record by which a call ended, or waits.
#pragma once

#include <optional>
#include <string>

#include "ledger/store.h"
#include "sallyport/json.h"

namespace sallyport::ledger {

// The newest record of a call of a session, as readers see it (AU-1), among those from `since` on.
// A model may use the id of an earlier call again. No value: there is none.
Result<std::optional<json::object>> last_record(LedgerStore& store, const std::string& session_id,
                                                const std::string& tool_call_id, WallTime since);

}  // namespace sallyport::ledger
