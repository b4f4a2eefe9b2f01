// Golden cases of a guardrail document: what a text or a call must lead to.
//
//   {"cases": [
//     {"name": "a key in an answer", "stage": "output", "text": "it is AKIAIOSFODNN7EXAMPLE",
//      "expect": {"verdict": "redact", "hits": ["secrets-output"], "text": "it is [redacted]"}},
//     {"name": "removes the root", "stage": "tool_use", "tool": "bash",
//      "arguments": {"command": "rm -rf /"}, "expect": {"verdict": "block"}}]}
//
// A case has `name`, `stage`, perhaps `tool`, one of `text`, `texts` (each must lead to the same)
// and `arguments` (`tool_use`, or a `tool_output` that is JSON), and `expect`: `verdict`, and as
// far as it matters `hits` (labels of all checks that hit, in document order) and the redacted
// `text` or `arguments`. Nothing is ignored here either.
#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "guardrails/check/guardrails.h"
#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport::guardrails {

struct Case {
  std::string name{};
  Stage stage = Stage::Output;
  std::optional<std::string> tool{};
  std::vector<std::string> texts{};
  std::optional<json::value> arguments{};
  Verdict verdict = Verdict::Allow;
  std::optional<std::vector<std::string>> hits{};
  std::optional<std::string> text{};
  std::optional<json::value> new_arguments{};
};

// `InvalidInput`; `where` is the JSON Pointer of what is wrong.
Result<std::vector<Case>> read_cases(const json::value& document);

struct CaseResult {
  std::string name;
  std::string problem;  // what was seen instead of what; empty: passed

  bool operator==(const CaseResult&) const = default;
};

// One for each case, in order.
std::vector<CaseResult> run_cases(const Guardrails& guardrails, std::span<const Case> cases);

}  // namespace sallyport::guardrails
