#include "core/handoff/pending_call.h"

#include <boost/json.hpp>

namespace sallyport::core {

PendingCall pending_call(const Trail& trail) {
  const Call& call = trail.call();
  const Classification& tool = trail.classification();
  return {.id = call.tool_call_id,
          .name = call.tool,
          .display_name = tool.display_name.empty() ? call.tool : tool.display_name,
          .tier = tool.tier,
          .input = trail.requested_input(),
          .effective_input = call.input,
          .listen_context = trail.prepared()};
}

}  // namespace sallyport::core
