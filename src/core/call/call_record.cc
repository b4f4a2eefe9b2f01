#include "core/call/call_record.h"

#include <boost/json.hpp>
#include <utility>

#include "base/exact_numbers.h"
#include "base/json_members.h"
#include "core/event/emitter.h"
#include "core/record/shapes.h"
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

// Writes the members of a record in canonical order, with its open values between them.
class RecordWriter {
 public:
  RecordWriter(CanonicalWriter& out, const std::vector<CallRecord::OpenMember>& open)
      : out_(out), open_(open) {}

  template <class T>
  void put(MemberName name, const T& value) {
    put_open_before(name.text());
    out_.put(name, value);
  }
  void put_or_null(MemberName name, const std::string& text) {
    put_open_before(name.text());
    if (text.empty()) return out_.put(name, nullptr);
    out_.put(name, text);
  }
  void put_unless_empty(MemberName name, const std::string& text) {
    if (!text.empty()) put(name, text);
  }
  template <class Members>
  void object(MemberName name, Members&& members) {
    put_open_before(name.text());
    out_.object(name, std::forward<Members>(members));
  }
  void put_rest() {
    for (; next_ < open_.size(); ++next_) out_.put_text(open_[next_].name, open_[next_].text);
  }

 private:
  void put_open_before(std::string_view name) {
    for (; next_ < open_.size() && open_[next_].name < name; ++next_) {
      out_.put_text(open_[next_].name, open_[next_].text);
    }
  }

  CanonicalWriter& out_;
  const std::vector<CallRecord::OpenMember>& open_;
  std::size_t next_ = 0;
};

// `announces`: it is the intent. `ending`: null for a call that has not ended.
CanonicalWriter body_of(const CallRecord& record, bool announces, const Ending* ending) {
  const auto& announced = record.announced;
  const DecisionContext* const context =
      record.decision && !announces ? &*record.decision : nullptr;
  const bool approved = announces && !announced.request_id.empty();
  CanonicalWriter body;
  body.object([&] {
    RecordWriter out(body, record.content);
    out.put_or_null("approval_id", record.approval_id);
    if (context) out.put("as_of", context->as_of);
    out.put("autonomy", to_string(record.tier));
    out.put("autonomy_source", record.tier_source);
    if (approved) out.put("binding", announced.binding);
    out.put("call_digest", record.call_digest);
    if (context) out.put("caution", context->caution);
    if (context) out.put("class_source", context->class_source);
    if (announces) out.put_unless_empty("continuation_id", announced.continuation_id);
    if (announces && record.decision) out.put("decided", record.decision->brief());
    if (context) out.put("decided_at", context->decided_at);
    if (context) out.put_or_null("definition", context->definition);
    out.put("display_name", record.display_name);
    out.put("effect_class", record.effect_class);
    if (ending) out.put("effect_state", to_string(ending->effect));
    if (context) out.put("front", context->front);
    out.put("matched_grant_index", record.matched_grant_index);
    if (ending) out.object("outcome", [&] { write_members(body, ending->outcome); });
    if (ending && ending->release) {
      out.object("post_invocation", [&] { write_members(body, *ending->release); });
    } else if (ending) {
      out.put("post_invocation", nullptr);
    }
    out.put("recovery_class", to_string(record.recovery_class));
    out.put("request_digest", record.request_digest);
    if (approved) out.put("request_id", announced.request_id);
    if (announces) out.put_unless_empty("row_key", announced.row_key);
    if (announces) out.put("started_at", announced.started_at);
    if (ending) out.put("terminal", ending->terminal);
    out.put("tier", to_string(record.tool_tier));
    out.put("tool_call_id", record.tool_call_id);
    out.put_unless_empty("trigger_id", record.trigger_id);
    out.put("turn", record.turn);
    out.put_rest();
  });
  return body;
}

Draft draft_of(CallRecord& record, Kind kind, CanonicalWriter body) {
  return {.kind = kind,
          .subject = std::move(record.subject),
          .body = std::move(body),
          .exact = std::move(record.exact),
          .facts = std::move(record.facts),
          .changes = std::move(record.changes),
          .redactions = std::move(record.redactions)};
}

}  // namespace

namespace {

// The redactions of the content that the record repeats: it has the marks, so it lists them.
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
  // The call joined the question about another call, so it used no approval.
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
  for (const json::key_value_pair& member : body) record.set(member.key(), member.value());
  record.redactions = kept_redactions(entry);
  return record;
}

Draft CallRecord::intent() && {
  return draft_of(*this, Kind::Intent, body_of(*this, true, nullptr));
}

Draft CallRecord::audit(const Ending* ending) && {
  Draft draft = draft_of(*this, Kind::ToolAudit, body_of(*this, false, ending));
  if (ending == nullptr) return draft;
  draft.outcome = to_string(ending->outcome.kind);
  if (ending->release) commit_to_release(draft, *ending->release);
  return draft;
}

void commit_to_release(Draft& draft, const Release& release) {
  draft.exact.push_back({.path = "/post_invocation/released", .withheld_if_redacted = true});
  if (!release.keeps_original()) return;
  const std::optional<std::string>& malformed = release.original.malformed_bytes;
  draft.exact.push_back({.path = "/post_invocation/original",
                         .bytes = malformed,
                         .raw = malformed.has_value(),
                         .withheld = true});
}

void CallRecord::set(std::string_view name, const json::value& value) {
  std::erase_if(content, [&](const OpenMember& member) { return member.name == name; });
  constexpr std::size_t kCommonText = 128;
  OpenMember member{.name = std::string(name)};
  member.text.reserve(kCommonText);
  append_exact_json(member.text, value);
  content.push_back(std::move(member));
}

json::object CallRecord::open_values() const {
  CanonicalWriter out;
  out.object([&] {
    for (const OpenMember& member : content) out.put_text(member.name, member.text);
  });
  return Body(std::move(out)).members();
}

void CallRecord::follow_row(Idempotency::Status status) {
  if (announced.row_key.empty()) return;
  facts.push_back(Idempotency::fact(announced.row_key, {.call_id = subject->call_id,
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
    // Parts that are not text pass the door with the rest; `to_result` splits them again.
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
  std::optional<DispatchedCall> dispatched;
  if (ending.terminal && !record.trigger_id.empty()) {
    dispatched = DispatchedCall{record.trigger_id, record.request_digest};
  }
  Draft draft = std::move(record).audit(&ending);
  if (dispatched) keep_end_of_dispatched(*dispatched, draft);
  places.record = batch.add(std::move(draft));
  if (ending.memory) batch.add(*ending.memory);
  return places;
}

}  // namespace sallyport::core
