// What the caller is told of a call that was not run, or not yet: a successful result that no agent
// can take for an empty one (AT-27).
#pragma once

#include <string>

#include "core/call/trail.h"
#include "sallyport/call.h"

namespace sallyport::core {

enum class NotRun { Skipped, Proposed, PendingApproval };

// `url` is where people find the question, empty where that is nowhere.
ToolResult not_run(const Trail& trail, NotRun why, const std::string& url = {});

}  // namespace sallyport::core
