#include "guardrails/check/hit.h"

#include <boost/json/object.hpp>

namespace sallyport::guardrails {

namespace {

template <class T>
json::value or_null(const std::optional<T>& value) {
  return value ? json::value(*value) : json::value(nullptr);
}

}  // namespace

json::object to_json(const Hit& hit) {
  json::object out{{"check_index", hit.check_index},
                   {"check", hit.check},
                   {"check_id", or_null(hit.check_id)},
                   {"stage", to_string(hit.stage)},
                   {"rule_type", to_string(hit.rule_type)},
                   {"action", to_string(hit.action)},
                   {"on_fail", to_string(hit.on_fail)},
                   {"severity", to_string(hit.severity)},
                   {"reason_code", hit.reason_code},
                   {"replacement", or_null(hit.replacement)},
                   {"entry", or_null(hit.entry)},
                   {"matched", or_null(hit.matched)},
                   {"start", or_null(hit.start)},
                   {"end", or_null(hit.end)},
                   {"view", or_null(hit.view)},
                   {"path", or_null(hit.path)}};
  if (hit.at) out["at"] = *hit.at;
  return out;
}

json::object to_json(const Coverage& coverage) {
  json::object out{{"check_index", coverage.check_index},
                   {"check", coverage.check},
                   {"status", coverage.skipped ? "skipped" : "ran"},
                   {"why", or_null(coverage.skipped)}};
  if (coverage.decode_truncated) out["decode_truncated"] = true;
  return out;
}

std::string_view reason_code_of(CheckType type) {
  switch (type) {
    case CheckType::Regex:
      return "guardrail.regex";
    case CheckType::Blocklist:
      return "guardrail.blocklist";
    case CheckType::ToolPattern:
      return "guardrail.tool_pattern";
  }
  return "guardrail.engine_error";
}

std::string_view default_replacement(Stage stage, Action action) {
  if (action == Action::Redact) return "[redacted]";
  switch (stage) {
    case Stage::Input:
      return "[This prompt was refused by a guardrail.]";
    case Stage::Output:
      return "[This answer was withheld by a guardrail.]";
    case Stage::ToolUse:
      return "[This tool call was refused by a guardrail.]";
    case Stage::ToolOutput:
      break;
  }
  return "[This tool result was withheld by a guardrail.]";
}

}  // namespace sallyport::guardrails
