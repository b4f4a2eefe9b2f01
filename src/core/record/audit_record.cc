#include "sallyport/audit_record.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/encoding.h"
#include "core/record/read_field.h"
#include "core/record/shape_fields.h"
#include "core/record/shapes.h"

namespace sallyport {

namespace {

constexpr core::Word<GuardVerdict> kGuardVerdicts[] = {
    {"allow", GuardVerdict::Allow},       {"deny", GuardVerdict::Deny},
    {"rewrite", GuardVerdict::Rewrite},   {"ask", GuardVerdict::Ask},
    {"escalate", GuardVerdict::Escalate}, {"error", GuardVerdict::Error},
    {"skipped", GuardVerdict::Skipped},
};
constexpr core::Word<RecoveryClass> kRecoveryClasses[] = {
    {"replay_safe", RecoveryClass::ReplaySafe},
    {"side_effecting", RecoveryClass::SideEffecting},
    {"resumable", RecoveryClass::Resumable},
};

constexpr std::array<std::string_view, 20> kAdditions{"call_id",
                                                      "session_id",
                                                      "trace_id",
                                                      "agent_id",
                                                      "server",
                                                      "sequence",
                                                      "terminal",
                                                      "policy_hash",
                                                      "request_digest",
                                                      "call_digest",
                                                      "effect_class",
                                                      "recovery_class",
                                                      "effect_state",
                                                      "autonomy",
                                                      "autonomy_source",
                                                      "approval_id",
                                                      "matched_grant_index",
                                                      "guards",
                                                      "post_invocation",
                                                      "redactions"};

bool has_an_addition(const json::object& record) {
  return std::ranges::any_of(kAdditions,
                             [&](std::string_view name) { return record.contains(name); });
}

bool is_keyed_digest(std::string_view text) {
  constexpr std::string_view kPrefix = "hmac-sha256:";
  return text.starts_with(kPrefix) && text.size() == kPrefix.size() + 64 &&
         std::ranges::all_of(text.substr(kPrefix.size()), [](char c) { return hex_digit(c) >= 0; });
}

json::object to_json(const Provenance& provenance) {
  return {{"provider", provenance.provider}, {"model", provenance.model}};
}

Result<Provenance> provenance_from_json(const json::value& value, std::string where) {
  ObjectReader in(value, std::move(where));
  Provenance provenance{.provider = in.text("provider"), .model = in.text("model")};
  return core::finished(in, std::move(provenance));
}

EffectState effect_state_in(ObjectReader& in) {
  return effect_state_from(in.word("effect_state", {"none", "done", "unknown"}))
      .value_or(EffectState::Unknown);
}

void write_additions(json::object& object, const AuditRecord& record) {
  object["call_id"] = record.call_id;
  object["session_id"] = record.session_id;
  object["trace_id"] = record.trace_id;
  object["agent_id"] = record.agent_id;
  object["server"] = record.server;
  object["sequence"] = record.sequence;
  object["terminal"] = record.terminal;
  object["policy_hash"] = record.policy_hash;
  object["request_digest"] = record.request_digest;
  object["call_digest"] = record.call_digest;
  object["effect_class"] = record.effect_class;
  object["recovery_class"] = to_string(record.recovery_class);
  object["effect_state"] = to_string(record.effect_state);
  object["autonomy"] = to_string(record.autonomy);
  object["autonomy_source"] = record.autonomy_source;
  object["approval_id"] = core::or_null(record.approval_id);
  object["matched_grant_index"] = core::or_null(record.matched_grant_index);
  object["guards"] = core::array_of(record.guards);
  if (!record.decided_at.empty()) {
    object["decided_at"] = record.decided_at;
    object["as_of"] = record.as_of;
    object["class_source"] = record.class_source;
    object["caution"] = record.caution;
    object["definition"] = core::or_null(record.definition);
    object["front"] = record.front;
  }
  object["post_invocation"] = record.post_invocation;
  object["redactions"] = core::array_of(record.redactions);
}

void read_additions(ObjectReader& in, AuditRecord& record) {
  record.call_id = in.text("call_id");
  if (record.call_id.empty()) in.refuse("call_id", "must not be empty");
  record.session_id = in.text("session_id");
  record.trace_id = in.text("trace_id");
  record.agent_id = in.text("agent_id");
  record.server = in.text("server");
  record.sequence = in.number("sequence");
  record.terminal = in.boolean("terminal");
  record.policy_hash = in.text("policy_hash");
  record.request_digest = in.text("request_digest");
  record.call_digest = in.text("call_digest");
  record.effect_class = in.text("effect_class");
  record.recovery_class = core::read_word(in, "recovery_class", kRecoveryClasses);
  record.effect_state = effect_state_in(in);
  record.autonomy = core::autonomy_in(in, "autonomy");
  record.autonomy_source = in.text("autonomy_source");
  record.approval_id = in.optional_text("approval_id");
  record.matched_grant_index = in.optional_number("matched_grant_index");
  record.guards = core::shapes_in(in, "guards", guard_run_from_json);
  record.decided_at = in.optional_text("decided_at").value_or("");
  record.as_of = in.optional_number("as_of").value_or(0);
  record.class_source = in.optional_text("class_source").value_or("");
  record.caution = in.optional_any("caution") == json::value(true);
  record.definition = in.optional_text("definition");
  record.front = in.optional_text("front").value_or("");
  record.post_invocation = in.optional_any("post_invocation");
  record.redactions = core::shapes_in(in, "redactions", redaction_from_json);
}

}  // namespace

std::string_view to_string(GuardVerdict verdict) {
  return core::word_of(kGuardVerdicts, verdict);
}

std::optional<GuardVerdict> guard_verdict_from(std::string_view word) {
  return core::enum_of(kGuardVerdicts, word);
}

std::string_view to_string(RecoveryClass recovery_class) {
  return core::word_of(kRecoveryClasses, recovery_class);
}

std::optional<RecoveryClass> recovery_class_from(std::string_view word) {
  return core::enum_of(kRecoveryClasses, word);
}

template <class Out>
void core::write_members(Out& out, const GuardRun& run) {
  out.put("guard", run.guard);
  out.put("stage", run.stage);
  out.put("pass", run.pass);
  out.put("verdict", to_string(run.verdict));
  out.put("rule", run.rule);
  out.put("why", run.why);
  out.put("evidence", run.evidence);
  out.put("duration_us", run.duration_us);
}
template void core::write_members(CanonicalWriter& out, const GuardRun& run);

json::object to_json(const GuardRun& run) {
  return core::object_of(run);
}

Result<GuardRun> guard_run_from_json(const json::value& value, std::string where) {
  ObjectReader in(value, std::move(where));
  GuardRun run{.guard = in.text("guard"),
               .stage = in.word("stage", {"grant", "tool_use", "pre_hook", "authorizer", "autonomy",
                                          "external"}),
               .pass = in.number("pass"),
               .verdict = core::read_word(in, "verdict", kGuardVerdicts),
               .rule = in.optional_text("rule"),
               .why = in.optional_text("why"),
               .evidence = in.optional_any("evidence"),
               .duration_us = in.number("duration_us")};
  return core::finished(in, std::move(run));
}

json::object to_json(const Redaction& redaction) {
  json::object object{
      {"path", redaction.path}, {"category", redaction.category}, {"digest", redaction.digest}};
  if (!redaction.detector.empty()) object["detector"] = redaction.detector;
  if (redaction.whole) object["whole"] = true;
  return object;
}

Result<Redaction> redaction_from_json(const json::value& value, std::string where) {
  ObjectReader in(value, std::move(where));
  Redaction redaction{
      .path = in.text("path"), .category = in.text("category"), .digest = in.text("digest")};
  redaction.detector = in.optional_text("detector").value_or("");
  redaction.whole = in.optional_any("whole") == json::value(true);
  if (!redaction.path.empty() && redaction.path.front() != '/') {
    in.refuse("path", "must be a JSON Pointer, which begins with `/`");
  }
  if (!is_keyed_digest(redaction.digest)) {
    in.refuse("digest", "must be `hmac-sha256:` and 64 lower-case hex digits");
  }
  return core::finished(in, std::move(redaction));
}

json::object to_json(const AuditRecord& record) {
  json::object object{{"tool_call_id", record.tool_call_id},
                      {"tool_name", record.tool_name},
                      {"display_name", record.display_name},
                      {"tier", to_string(record.tier)},
                      {"requested_input", record.requested_input},
                      {"effective_input", record.effective_input},
                      {"turn", record.turn},
                      {"provenance", to_json(record.provenance)},
                      {"outcome", to_json(record.outcome)},
                      {"recorded_at", record.recorded_at}};
  if (record.has_additions()) write_additions(object, record);
  return object;
}

Result<AuditRecord> audit_record_from_json(const json::value& value) {
  ObjectReader in(value);
  AuditRecord record{.tool_call_id = in.text("tool_call_id"),
                     .tool_name = in.text("tool_name"),
                     .display_name = in.text("display_name"),
                     .tier = core::tier_in(in, "tier"),
                     .requested_input = in.any("requested_input"),
                     .effective_input = in.any("effective_input"),
                     .turn = in.number("turn"),
                     .provenance = core::shape_in(in, "provenance", provenance_from_json),
                     .outcome = core::shape_in(in, "outcome", outcome_from_json),
                     .recorded_at = core::utc_time_in(in, "recorded_at")};
  if (in.ok() && has_an_addition(value.get_object())) read_additions(in, record);
  return core::finished(in, std::move(record));
}

}  // namespace sallyport
