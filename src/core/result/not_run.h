// The result of a call that was not run, or not yet: a success that no agent can mistake for an
// empty result (AT-27).
#pragma once

#include <string>
#include <string_view>

#include "core/call/trail.h"
#include "sallyport/call.h"

namespace sallyport::core {

enum class NotRun { Skipped, Proposed, PendingApproval };

// What the agent reads. `approval_id`: empty, if no person was asked.
std::string not_run_text(NotRun why, std::string_view tool, std::string_view tier,
                         std::string_view call_id, std::string_view approval_id);

// `url`: the page of the question; empty: there is none.
ToolResult not_run(const Trail& trail, NotRun why, const std::string& url = {});

}  // namespace sallyport::core
