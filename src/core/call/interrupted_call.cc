#include "core/call/interrupted_call.h"

#include <boost/json.hpp>

#include "base/json_members.h"
#include "core/approval/approvals.h"
#include "core/approval/bound_input.h"
#include "core/approval/live_questions.h"
#include "core/call/reopened_call.h"
#include "core/event/host_events.h"
#include "sallyport/event.h"

namespace sallyport::core {

std::vector<Draft> close_interrupted(const json::object& entry) {
  constexpr std::string_view kDied =
      "interrupted: the process ended before an outcome was recorded";
  if (text_in(entry, "kind") == "event") return finish_interrupted(entry);
  Draft draft = reopened(entry);
  const auto member = [&](std::string_view name) { return text_or_empty(draft.body, name); };
  std::vector<Draft> drafts;
  if (text_in(entry, "kind") != "intent") {
    // A prepared operation that only its process knew of (AU-80).
    add_ending(draft, {.outcome = Outcome::invalidated(
                           "interrupted: what was prepared did not outlive its process")});
    draft.facts.push_back(Approvals::invalidated(member("approval_id"), draft.subject.call_id,
                                                 member("call_digest")));
    live_questions::add_done(draft.facts, member("approval_id"), ApprovalStatus::Invalidated);
    draft.facts.push_back(no_kept_input(member("approval_id")));
    drafts.push_back(std::move(draft));
    return drafts;
  }
  const Event finished = event::ToolExecutionFinished{.agent_id = draft.subject.agent_id,
                                                      .tool_name = draft.subject.tool_name,
                                                      .tool_call_id = member("tool_call_id"),
                                                      .is_error = true,
                                                      .error = std::string(kDied),
                                                      .output_preview = std::string(kDied)};
  drafts.push_back(
      {.kind = Kind::Event, .subject = draft.subject, .body = sallyport::to_json(finished)});
  add_ending(draft, {.outcome = Outcome::persistence_failed(std::string(kDied)),
                     .effect = EffectState::Unknown});
  // A caller that presents the call again is told that its end is unknown.
  take_row(draft, Idempotency::Status::Unknown);
  drafts.push_back(std::move(draft));
  return drafts;
}

}  // namespace sallyport::core
