#include "mcp/message/notices.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "core/call/ending.h"
#include "core/record/ledger_error.h"
#include "mcp/message/message.h"

namespace sallyport::mcp {

namespace {

constexpr int kRetryAfterSeconds = 5;

// A call that did not run and is no failure says so itself (AT-27).
const json::object* not_run(const Answer& answer) {
  const json::object* const data = answer.result.success ? answer.result.data.if_object() : nullptr;
  return data ? object_in(*data, "sallyport") : nullptr;
}

std::string result_with(const std::string& text, bool error, json::object status, bool structured) {
  json::object result{{"content", json::array{json::object{{"type", "text"}, {"text", text}}}}};
  if (error || !structured) result["isError"] = true;
  result[structured ? "structuredContent" : "_meta"] =
      json::object{{"sallyport", std::move(status)}};
  return json::serialize(result);
}

std::string sentence(const Answer& answer) {
  std::string text = answer.result.output;
  if (!text.empty() && text.back() != '.') text += '.';
  if (!answer.record_id.empty()) text += fmt::format(" (record {})", answer.record_id);
  return text;
}

std::string rule_sentence(std::string text) {
  if (text.empty()) return text;
  if (text.back() != '.') text += '.';
  return text + ' ';
}

json::value rule_of(const Answer& answer) {
  return answer.rule.empty() ? json::value() : json::value(answer.rule);
}

std::string message_of(const Answer& answer) {
  return answer.message.empty() ? answer.result.output : answer.message;
}

}  // namespace

std::string notice_result(const Answer& answer, bool structured) {
  if (const json::object* const status = not_run(answer)) {
    return result_with(sentence(answer), false, *status, structured);
  }
  json::object status{{"status", to_string(answer.outcome.kind)}, {"call_id", answer.call_id}};
  if (!answer.approval_id.empty()) status["approval_id"] = answer.approval_id;
  if (!answer.record_id.empty()) status["record"] = answer.record_id;
  status["rule"] = rule_of(answer);
  status["message"] = message_of(answer);
  status["reason"] = answer.result.output;
  return result_with(sentence(answer), true, std::move(status), structured);
}

std::string pending_result(std::string_view tool, const core::WaitingCall& call, bool structured) {
  const std::string text = fmt::format(
      "pending_approval: `{}` was not run yet, it waits for a person (tier {}, call {}, approval "
      "{}). {}Make the same call again in {} seconds or later: once it is approved it runs, once.",
      tool, to_string(call.tier), call.call_id, call.approval_id, rule_sentence(call.text),
      kRetryAfterSeconds);
  json::object status{{"status", "pending_approval"},
                      {"tier", to_string(call.tier)},
                      {"call_id", call.call_id},
                      {"approval_id", call.approval_id}};
  if (!call.rule.empty()) {
    status["rule"] = call.rule;
    status["message"] = call.message;
  }
  if (!call.url.empty()) status["url"] = call.url;
  status["retry_after_s"] = kRetryAfterSeconds;
  return result_with(text, false, std::move(status), structured);
}

std::string unrecorded_sentence(const Error& error) {
  const std::string_view word =
      error.cause.empty() ? to_string(error.code) : std::string_view(error.cause);
  if (error.where == core::kOutcome) {
    return fmt::format(
        "The tool ran, but its result could not be recorded ({}) and is not shown. "
        "Check before you repeat the call.",
        word);
  }
  if (!core::is_ledger_error(error)) {
    return fmt::format("Blocked: not run: {}{}", error.message,
                       error.message.ends_with('.') ? "" : ".");
  }
  return fmt::format("Blocked: not run. The ledger cannot be written now ({}); try again later.",
                     word);
}

std::string unrecorded_result(const Error& error) {
  const std::string text = unrecorded_sentence(error);
  return json::serialize(json::object{
      {"content", json::array{json::object{{"type", "text"}, {"text", text}}}}, {"isError", true}});
}

std::string notice_error(const Answer& answer) {
  const bool denied = answer.outcome.kind != Outcome::Kind::Completed;
  const json::object error{{"code", denied ? kDenied : kInternalError},
                           {"message", sentence(answer)},
                           {"data", json::object{{"record", answer.record_id},
                                                 {"rule", rule_of(answer)},
                                                 {"message", message_of(answer)},
                                                 {"retryable", false}}}};
  return json::serialize(error);
}

std::string unknown_error(std::string_view why, const Answer& answer) {
  return json::serialize(json::object{
      {"code", kInvalidParams},
      {"message", fmt::format("{} (record {})", why, answer.record_id)},
      {"data",
       json::object{{"record", answer.record_id}, {"rule", nullptr}, {"retryable", false}}}});
}

}  // namespace sallyport::mcp
