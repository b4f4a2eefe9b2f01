// The result of a call that was not run, or not yet: a success that no agent can mistake for an
// empty result (AT-27).
#pragma once

#include <string>

#include "core/call/trail.h"
#include "sallyport/call.h"

namespace sallyport::core {

enum class NotRun { Skipped, Proposed, PendingApproval };

// `url`: the page of the question; empty: there is none.
ToolResult not_run(const Trail& trail, NotRun why, const std::string& url = {});

}  // namespace sallyport::core
