#include "core/call/call_record.h"

#include <boost/json.hpp>
#include <utility>

#include "base/json_members.h"
#include "core/event/emitter.h"
#include "core/turn/dispatch.h"

namespace sallyport::core {

namespace {

// Takes members out of a body, so that what is left is what has no field.
class TakingMembers {
 public:
  explicit TakingMembers(json::object& body) : body_(body) {}

  std::string text(std::string_view name) {
    std::string text = text_or_empty(body_, name);
    body_.erase(name);
    return text;
  }
  std::optional<std::uint64_t> number(std::string_view name) {
    const std::optional<std::uint64_t> number = number_in(body_, name);
    body_.erase(name);
    return number;
  }
  bool truth(std::string_view name) {
    const bool truth = bool_in(body_, name).value_or(false);
    body_.erase(name);
    return truth;
  }
  void drop(std::string_view name) { body_.erase(name); }

 private:
  json::object& body_;
};

std::optional<DecisionContext> context_in(json::object& body, const std::string& started_at) {
  TakingMembers take(body);
  if (body.contains("decided"))
    return DecisionContext::from_brief(take.text("decided"), started_at);
  if (!body.contains("decided_at")) return std::nullopt;
  return DecisionContext{.decided_at = take.text("decided_at"),
                         .as_of = take.number("as_of").value_or(0),
                         .class_source = take.text("class_source"),
                         .caution = take.truth("caution"),
                         .definition = take.text("definition"),
                         .front = take.text("front")};
}

// What an intent and a record both say.
json::object body_of(CallRecord& record) {
  json::object body = std::move(record.content);
  body["tool_call_id"] = record.tool_call_id;
  body["display_name"] = record.display_name;
  body["tier"] = to_string(record.tool_tier);
  body["turn"] = record.turn;
  body["request_digest"] = record.request_digest;
  body["call_digest"] = record.call_digest;
  body["effect_class"] = record.effect_class;
  body["recovery_class"] = to_string(record.recovery_class);
  body["autonomy"] = to_string(record.tier);
  body["autonomy_source"] = record.tier_source;
  body["approval_id"] =
      record.approval_id.empty() ? json::value() : json::value(record.approval_id);
  body["matched_grant_index"] =
      record.matched_grant_index ? json::value(*record.matched_grant_index) : json::value();
  if (!record.trigger_id.empty()) body["trigger_id"] = record.trigger_id;
  return body;
}

Draft draft_of(CallRecord& record, Kind kind) {
  return {.kind = kind,
          .subject = std::move(record.subject),
          .body = body_of(record),
          .exact = std::move(record.exact),
          .facts = std::move(record.facts),
          .changes = std::move(record.changes),
          .redactions = std::move(record.redactions)};
}

}  // namespace

namespace {

// What was taken out of the content that the record repeats: it has the marks, so it lists them.
json::array kept_redactions(const json::object& entry) {
  json::array kept;
  const json::value* const all = entry.if_contains("redactions");
  if (all == nullptr || !all->is_array()) return kept;
  for (const json::value& each : all->get_array()) {
    const std::string path = each.is_object() ? text_or_empty(each.get_object(), "path") : "";
    if (path.starts_with("/outcome") || path.starts_with("/post_invocation")) continue;
    kept.push_back(each);
  }
  return kept;
}

}  // namespace

CallRecord CallRecord::from_entry(const json::object& entry) {
  CallRecord record{.subject = subject_of(entry)};
  json::object body = entry.at("body").as_object();
  TakingMembers take(body);
  // It joined another question: that question is no approval that it used.
  if (text_in(body, "record") == "approval_joined") {
    take.drop("record");
    take.drop("request_id");
  }
  for (const char* const name : {"outcome", "terminal", "effect_state", "post_invocation"}) {
    take.drop(name);
  }
  record.tool_call_id = take.text("tool_call_id");
  record.display_name = take.text("display_name");
  record.tool_tier = take.text("tier") == to_string(Tier::Observe) ? Tier::Observe : Tier::Confirm;
  record.turn = take.number("turn").value_or(0);
  record.request_digest = take.text("request_digest");
  record.call_digest = take.text("call_digest");
  record.effect_class = take.text("effect_class");
  record.recovery_class =
      recovery_class_from(take.text("recovery_class")).value_or(RecoveryClass::SideEffecting);
  record.tier = autonomy_from(take.text("autonomy")).value_or(Autonomy::ActWithApproval);
  record.tier_source = take.text("autonomy_source");
  record.approval_id = take.text("approval_id");
  record.matched_grant_index = take.number("matched_grant_index");
  record.trigger_id = take.text("trigger_id");
  record.announced = {.started_at = take.text("started_at"),
                      .request_id = take.text("request_id"),
                      .binding = take.text("binding"),
                      .row_key = take.text("row_key"),
                      .continuation_id = take.text("continuation_id")};
  record.decision = context_in(body, record.announced.started_at);
  record.content = std::move(body);
  record.redactions = kept_redactions(entry);
  return record;
}

Draft CallRecord::intent() && {
  Draft draft = draft_of(*this, Kind::Intent);
  if (decision) draft.body["decided"] = decision->brief();
  draft.body["started_at"] = announced.started_at;
  if (!announced.request_id.empty()) {
    draft.body["request_id"] = announced.request_id;
    draft.body["binding"] = announced.binding;
  }
  if (!announced.row_key.empty()) draft.body["row_key"] = announced.row_key;
  if (!announced.continuation_id.empty()) {
    draft.body["continuation_id"] = announced.continuation_id;
  }
  return draft;
}

Draft CallRecord::audit() && {
  Draft draft = draft_of(*this, Kind::ToolAudit);
  if (decision) decision->add_to(draft.body);
  return draft;
}

void CallRecord::follow_row(Idempotency::Status status) {
  if (announced.row_key.empty()) return;
  facts.push_back(Idempotency::fact(announced.row_key, {.call_id = subject.call_id,
                                                        .request_digest = request_digest,
                                                        .status = status,
                                                        .started_at = announced.started_at}));
}

Subject subject_of(const json::object& entry) {
  const auto member = [&](std::string_view name) { return text_or_empty(entry, name); };
  return {.policy_hash = member("policy_hash"),
          .call_id = member("call_id"),
          .session_id = member("session_id"),
          .agent_id = member("agent_id"),
          .server = member("server"),
          .tool_name = member("tool_name"),
          .trace_id = member("trace_id"),
          .run_id = member("run_id")};
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

EndPlaces add_end(CallRecord record, const Ending& ending, Batch& batch) {
  EndPlaces places;
  for (const Event& event : ending.events) {
    places.events.push_back(batch.add(event_row(event, record.subject)));
  }
  batch.add(std::move(record.in_front));
  Draft draft = std::move(record).audit();
  add_ending(draft, ending);
  if (ending.terminal) keep_end_of_dispatched(draft);
  places.record = batch.add(std::move(draft));
  if (ending.memory) batch.add(*ending.memory);
  return places;
}

}  // namespace sallyport::core
