#include "core/handoff/interrupted_call.h"

#include <boost/json.hpp>

#include "base/json_members.h"
#include "core/approval/approvals.h"
#include "core/approval/bound_input.h"
#include "core/approval/live_questions.h"
#include "core/call/call_record.h"
#include "core/event/host_events.h"
#include "sallyport/event.h"

namespace sallyport::core {

std::vector<Draft> close_interrupted(const json::object& entry) {
  const std::optional<Kind> kind = kind_from(text_or_empty(entry, "kind"));
  if (kind == Kind::Event) return finish_interrupted(entry);
  CallRecord record = CallRecord::from_entry(entry);
  Ending ending;
  if (kind == Kind::Intent) {
    const std::string died = "interrupted: the process ended before an outcome was recorded";
    ending = {.outcome = Outcome::persistence_failed(died), .effect = EffectState::Unknown};
    ending.events.push_back(event::ToolExecutionFinished{.agent_id = record.subject->agent_id,
                                                         .tool_name = record.subject->tool_name,
                                                         .tool_call_id = record.tool_call_id,
                                                         .is_error = true,
                                                         .error = died,
                                                         .output_preview = died});
    // A caller that repeats the call learns that its end is unknown.
    record.follow_row(Idempotency::Status::Unknown);
  } else {
    // A prepared operation that only its process knew of (AU-80).
    ending.outcome =
        Outcome::invalidated("interrupted: what was prepared did not outlive its process");
    record.facts.push_back(
        Approvals::invalidated(record.approval_id, record.subject->call_id, record.call_digest));
    live_questions::add_done(record.facts, record.approval_id, ApprovalStatus::Invalidated);
    record.facts.push_back(no_kept_input(record.approval_id));
  }
  Batch batch;
  add_end(std::move(record), ending, batch);
  return std::move(batch).take();
}

}  // namespace sallyport::core
