// What the caller is told of a call that was not run, or not yet: a successful result that no agent
// can take for an empty one (AT-27).
#pragma once

#include <string_view>

#include "core/call/trail.h"
#include "sallyport/call.h"

namespace sallyport::core {

// `status` is skipped, proposed or pending_approval; `url` is where people find the question, empty
// where that is nowhere.
ToolResult not_run(const Trail& trail, std::string_view status, const std::string& url = {});

}  // namespace sallyport::core
