#include "agent/tool/tools.h"

namespace sallyport::agent {

Subject subject_of(const Call& call) {
  return {.call_id = call.call_id,
          .session_id = call.session_id,
          .agent_id = call.agent_id,
          .server = call.server,
          .tool_name = call.tool,
          .trace_id = call.trace_id,
          .run_id = call.run_id};
}

}  // namespace sallyport::agent
