#include "core/call/reopened_call.h"

#include <boost/json.hpp>

#include "base/json_members.h"
#include "core/approval/approvals.h"
#include "core/approval/bound_input.h"
#include "core/approval/live_questions.h"
#include "core/call/decision_context.h"
#include "core/event/host_events.h"
#include "sallyport/event.h"

namespace sallyport::core {

Draft reopened(const json::object& entry) {
  const auto member = [&](std::string_view name) { return text_or_empty(entry, name); };
  Draft draft{.kind = Kind::ToolAudit,
              .subject = {.policy_hash = member("policy_hash"),
                          .call_id = member("call_id"),
                          .session_id = member("session_id"),
                          .agent_id = member("agent_id"),
                          .server = member("server"),
                          .tool_name = member("tool_name"),
                          .trace_id = member("trace_id"),
                          .run_id = member("run_id")},
              .body = entry.at("body").as_object()};
  if (text_in(draft.body, "record") == "approval_joined") {
    draft.body.erase("record");
    draft.body.erase("request_id");
  }
  expand_context(draft.body);
  return draft;
}

Autonomy tier_in(const json::object& body) {
  const auto word = text_in(body, "autonomy");
  for (const Autonomy tier : {Autonomy::Shadow, Autonomy::Suggest, Autonomy::ActAuto}) {
    if (word == to_string(tier)) return tier;
  }
  return Autonomy::ActWithApproval;
}

Call call_of(const Subject& subject) {
  return {.call_id = subject.call_id,
          .agent_id = subject.agent_id,
          .session_id = subject.session_id,
          .trace_id = subject.trace_id,
          .run_id = subject.run_id,
          .server = subject.server,
          .tool = subject.tool_name};
}

Envelope envelope_of(const ToolResult& result) {
  json::value data = result.data;
  if (!result.documents.empty()) {
    // What is no text passes the door with the rest; `to_result` takes it apart again.
    data = to_json(ToolResult{.success = result.success,
                              .output = result.output,
                              .data = std::move(data),
                              .documents = result.documents});
  }
  if (result.success) return Envelope::of(data.is_null() ? json::value(result.output) : data);
  Envelope envelope = Envelope::error(result.output);
  envelope.data = std::move(data);
  return envelope;
}

void take_row(Draft& record, std::optional<Idempotency::Status> status) {
  const auto member = [&](std::string_view name) { return text_or_empty(record.body, name); };
  const std::string key = member("row_key");
  if (status && !key.empty()) {
    record.facts.push_back(Idempotency::fact(key, {.call_id = record.subject.call_id,
                                                   .request_digest = member("request_digest"),
                                                   .status = *status,
                                                   .started_at = member("started_at")}));
  }
  for (const char* const name :
       {"row_key", "started_at", "continuation_id", "request_id", "binding"}) {
    record.body.erase(name);
  }
}

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
    live_questions::add_done(draft.facts, member("approval_id"), "invalidated");
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
