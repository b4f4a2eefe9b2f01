#include "external/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/cut_text.h"
#include "base/json_members.h"
#include "base/try.h"
#include "core/event/hook_registry.h"
#include "core/result/call_preview.h"

namespace sallyport::external {

namespace {

constexpr std::size_t kLongestMessage = 4096;

std::unexpected<Error> malformed(std::string message) {
  return fail(ErrorCode::Corrupt, std::move(message));
}

// Checks that the answer has these members and no others.
Result<void> check_members(const json::object& answer,
                           std::initializer_list<std::string_view> known) {
  for (const json::key_value_pair& member : answer) {
    if (std::ranges::find(known, std::string_view(member.key())) == known.end()) {
      return malformed(
          fmt::format("the answer has the unknown member `{:.80}`", std::string(member.key())));
    }
  }
  return {};
}

Result<std::string> text_member(const json::object& answer, std::string_view name) {
  const json::value* const value = answer.if_contains(name);
  if (value == nullptr || !value->is_string() || value->get_string().empty()) {
    return malformed(fmt::format("`{}` of the answer is missing or no text", name));
  }
  return cut_utf8_bytes(std::string(value->get_string()), kLongestMessage);
}

Result<std::string> verdict_of(const json::object& answer) {
  return text_member(answer, "verdict");
}

struct Reason {
  std::string message{};
  std::string rule{};
};

Result<Reason> reason_in(const json::object& answer) {
  SALLYPORT_CHECK_OK(check_members(answer, {"verdict", "message", "rule"}));
  Reason reason;
  SALLYPORT_TRY(reason.message, text_member(answer, "message"));
  if (answer.contains("rule")) {
    SALLYPORT_TRY(reason.rule, text_member(answer, "rule"));
  }
  return reason;
}

bool is_allowed(Kind kind, std::string_view verdict) {
  if (verdict == "allow" || verdict == "deny") return true;
  if (verdict == "rewrite") return kind == Kind::Guard || kind == Kind::Rewriter;
  if (verdict == "ask") return kind == Kind::Guard || kind == Kind::Authorizer;
  return verdict == "escalate" && kind == Kind::Guard;
}

}  // namespace

json::object request_at(std::string_view at, const Entry& entry, const std::string& policy_hash) {
  return {{"schema", kSchema},          {"at", at},
          {"call", json::object()},     {"classification", json::object()},
          {"effects", json::array()},   {"rules", json::array()},
          {"policy_hash", policy_hash}, {"deadline_ms", entry.deadline.count()}};
}

json::value redacted(const core::Redactor& redactor, std::string_view name, json::value value) {
  try {
    redactor.redact(name, value);
  } catch (const std::exception&) {
    value = "[REDACTED:unreadable]";
  }
  return value;
}

void add_call(json::object& request, const Entry& entry, const ShownCall& shown,
              const core::Redactor& redactor) {
  const Call& call = shown.call;
  json::object object{{"call_id", call.call_id},
                      {"tool_call_id", call.tool_call_id},
                      {"agent", call.agent_id},
                      {"session", call.session_id},
                      {"front", call.setting.front.empty() ? "library" : call.setting.front},
                      {"interactive", call.setting.interactive},
                      {"server", call.server},
                      {"tool", call.tool},
                      {"cwd", text_or_null(shown.seen.cwd.value_or(""))},
                      {"workspace", json::value_from(shown.seen.workspaces)}};
  json::value effects = shown.seen.effects;
  if (entry.sees_input) {
    object["input"] = call.input;
    // A number that a double cannot hold is exact here.
    if (call.raw_input) object["input_text"] = *call.raw_input;
  } else {
    Preview preview = shown.preview
                          ? *shown.preview
                          : core::preview_of(call, shown.classification, call.setting.folder);
    // The input after the guards before this one.
    preview.raw_input = redacted(redactor, "raw_input", call.input);
    preview.structured_input = redacted(redactor, "structured_input", preview.structured_input);
    object["preview"] = to_json(preview);
    effects = redacted(redactor, "effects", std::move(effects));
  }
  request["call"] = std::move(object);
  request["classification"] = json::object{{"tier", to_string(shown.classification.tier)},
                                           {"effect_class", shown.classification.effect_class},
                                           {"source", text_or_null(shown.classification.source)}};
  request["effects"] = std::move(effects);
  request["rules"] = shown.rules;
}

Result<json::object> answer_from(std::string_view text) {
  if (text.size() > kLargestAnswer) return fail(ErrorCode::Corrupt, "the answer is over 1 MiB");
  Result<ParsedJson> parsed = parse_json(text);
  if (!parsed || !parsed->value.is_object()) {
    return fail(ErrorCode::Corrupt, "the answer is not exactly one JSON object");
  }
  if (!parsed->exact) {
    return fail(ErrorCode::Corrupt, "the answer has a number that a double cannot hold");
  }
  return std::move(parsed->value.get_object());
}

Result<Verdict> call_verdict(Kind kind, const json::object& answer) {
  SALLYPORT_TRY(const std::string verdict, verdict_of(answer));
  if (!is_allowed(kind, verdict)) {
    return malformed(fmt::format("`{:.80}` is not a valid verdict of an entry of kind `{}`",
                                 verdict, to_string(kind)));
  }
  if (verdict == "allow") {
    SALLYPORT_CHECK_OK(check_members(answer, {"verdict"}));
    return Verdict::allow();
  }
  if (verdict == "rewrite") {
    SALLYPORT_CHECK_OK(check_members(answer, {"verdict", "input"}));
    const json::value* const input = answer.if_contains("input");
    if (input == nullptr) return malformed("`input` of the answer is missing");
    return Verdict::rewrite(*input);
  }
  SALLYPORT_TRY(Reason reason, reason_in(answer));
  if (verdict == "deny") return Verdict::deny(std::move(reason.message), std::move(reason.rule));
  if (verdict == "ask") return Verdict::ask(std::move(reason.message), std::move(reason.rule));
  return Verdict::escalate(std::move(reason.message), std::move(reason.rule));
}

Result<Verdict> result_verdict(const json::object& answer) {
  Result<Verdict> verdict = hook_verdict_from_json(answer, "answer");
  if (!verdict) return malformed(verdict.error().message);
  const std::string_view member = verdict->kind == Verdict::Kind::Deny       ? "reason"
                                  : verdict->kind == Verdict::Kind::Rewrite  ? "value"
                                  : verdict->kind == Verdict::Kind::Escalate ? "message"
                                                                             : "verdict";
  SALLYPORT_CHECK_OK(check_members(answer, {"verdict", member}));
  return verdict;
}

Result<void> events_result(const json::object& answer) {
  SALLYPORT_TRY(const std::string verdict, verdict_of(answer));
  if (verdict == "allow") return check_members(answer, {"verdict"});
  if (verdict != "deny") return malformed(fmt::format("`{:.80}` is not a verdict here", verdict));
  SALLYPORT_TRY(const Reason reason, reason_in(answer));
  return fail(ErrorCode::Conflict, reason.message, {}, std::string(core::kHookRefuses));
}

Result<std::optional<Reply>> reply_from(const json::object& answer, const std::string& reviewer) {
  SALLYPORT_TRY(const std::string verdict, verdict_of(answer));
  if (verdict == "allow") {
    SALLYPORT_CHECK_OK(check_members(answer, {"verdict"}));
    return Reply::approve(reviewer);
  }
  if (verdict != "deny" && verdict != "ask") {
    return malformed(fmt::format("`{:.80}` is not a verdict here", verdict));
  }
  SALLYPORT_TRY(Reason reason, reason_in(answer));
  if (verdict == "ask") return std::nullopt;
  return Reply::deny(reviewer, std::move(reason.message));
}

}  // namespace sallyport::external
