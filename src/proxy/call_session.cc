#include "proxy/call_session.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/try.h"
#include "core/handoff/model_calls.h"

namespace sallyport::proxy {

namespace {

constexpr int kMostSteps = 8;

// The session of the latest call of the tool that was handed out with the id; else the agent's.
Result<std::string> latest_session(const DoorParts& parts, const Call& call) {
  core::Recorder& recorder = parts.governor.recorder();
  SALLYPORT_TRY(const std::vector<core::model_calls::Proposed> known,
                core::model_calls::find(recorder, recorder, call.agent_id, call.tool_call_id));
  for (const core::model_calls::Proposed& proposed : known) {
    const bool other_tool = !call.tool.empty() && !core::model_calls::is_same_tool(proposed, call);
    if (!other_tool && proposed.session_id.starts_with(parts.session_id)) {
      return proposed.session_id;
    }
  }
  return parts.session_id;
}

}  // namespace

Result<std::string> session_of_call(const DoorParts& parts, const Call& call) {
  if (!parts.record.session_id.empty() || call.tool_call_id.empty()) return parts.session_id;
  core::Idempotency& rows = parts.governor.idempotency();
  Call lookup = call;
  SALLYPORT_TRY(lookup.session_id, latest_session(parts, call));
  // Two calls of one answer have this id: a result could not name one of them.
  const auto& calls = parts.record.calls;
  if (std::ranges::find(calls, call.tool_call_id, &RecordedCall::tool_call_id) != calls.end()) {
    return lookup.session_id;
  }
  for (int step = 0; step < kMostSteps; ++step) {
    SALLYPORT_TRY(const auto row, rows.row(rows.key(lookup)));
    if (!row) return lookup.session_id;
    SALLYPORT_TRY(const auto out, parts.hand_offs.proposed_call(lookup));
    if (out) return lookup.session_id;
    lookup.session_id = fmt::format("{}:{}", parts.session_id, row->call_id);
  }
  return fmt::format("{}:{}", parts.session_id, parts.record.request_id);
}

Result<std::string> session_of_result(const DoorParts& parts, const std::string& tool,
                                      const std::string& tool_call_id) {
  if (!parts.record.session_id.empty()) return parts.session_id;
  return latest_session(
      parts, {.tool_call_id = tool_call_id, .agent_id = parts.record.agent_id, .tool = tool});
}

}  // namespace sallyport::proxy
