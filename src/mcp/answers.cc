#include "mcp/answers.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "mcp/message.h"

namespace sallyport::mcp {

namespace {

// A call that did not run and is no failure (AT-27).
std::string_view harmless_status(const Answer& answer, Autonomy autonomy) {
  if (answer.outcome.kind == Outcome::Kind::RequiresConfirmation) {
    return autonomy == Autonomy::Suggest ? "proposed" : "pending_approval";
  }
  const bool shadow =
      answer.outcome.kind == Outcome::Kind::Blocked && answer.outcome.text.starts_with("shadow: ");
  return shadow ? "skipped" : "";
}

std::string sentence(const Answer& answer) {
  std::string text = answer.result.output;
  if (!text.empty() && text.back() != '.') text += '.';
  if (!answer.record_id.empty()) text += fmt::format(" (record {})", answer.record_id);
  return text;
}

}  // namespace

std::string notice_result(const Answer& answer, Autonomy autonomy, bool structured) {
  const std::string_view harmless = harmless_status(answer, autonomy);
  std::string text = sentence(answer);
  if (harmless == "pending_approval" || harmless == "proposed") {
    text = fmt::format("Not run yet: {} A person has to answer {}.", text, answer.approval_id);
  } else if (harmless == "skipped") {
    text = fmt::format("Not run: {}", text);
  }
  json::object result{{"content", json::array{json::object{{"type", "text"}, {"text", text}}}}};
  json::object status{
      {"status", harmless.empty() ? to_string(answer.outcome.kind) : harmless},
      {"call_id", answer.call_id},
  };
  if (!harmless.empty()) status["tier"] = to_string(autonomy);
  if (!answer.approval_id.empty()) status["approval_id"] = answer.approval_id;
  if (!answer.record_id.empty()) status["record"] = answer.record_id;
  if (harmless.empty()) status["reason"] = answer.result.output;
  if (structured) {
    result["structuredContent"] = json::object{{"sallyport", std::move(status)}};
  }
  if (harmless.empty()) result["isError"] = true;
  return json::serialize(result);
}

std::string unrecorded_result(const Error& error) {
  const std::string text =
      fmt::format("Not shown: the call could not be recorded ({}).", error.message);
  return json::serialize(json::object{
      {"content", json::array{json::object{{"type", "text"}, {"text", text}}}}, {"isError", true}});
}

std::string notice_error(const Answer& answer) {
  const bool denied = answer.outcome.kind != Outcome::Kind::Completed;
  const json::object error{
      {"code", denied ? kDenied : kInternalError},
      {"message", sentence(answer)},
      {"data", json::object{{"record", answer.record_id}, {"retryable", false}}}};
  return json::serialize(error);
}

}  // namespace sallyport::mcp
