// Golden cases of a guardrail document: the expected result for a text or a call.
//
//   {"cases": [
//     {"name": "a key in an answer", "stage": "output", "text": "it is AKIAIOSFODNN7EXAMPLE",
//      "expect": {"verdict": "redact", "hits": ["secrets-output"], "text": "it is [redacted]"}},
//     {"name": "removes the root", "stage": "tool_use", "tool": "bash",
//      "arguments": {"command": "rm -rf /"}, "expect": {"verdict": "block"}}]}
//
// A case has `name`, `stage`, optionally `tool`, one of `text`, `texts` (all with the same result)
// and `arguments` (`tool_use`, or a `tool_output` that is JSON), and `expect`: `verdict`, and
// optionally `hits` (labels of all checks that hit, in document order) and the redacted `text` or
// `arguments`. An unknown member is an error.
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

// `InvalidInput`: `where` is the JSON Pointer of the fault.
Result<std::vector<Case>> read_cases(const json::value& document);

struct CaseResult {
  std::string name;
  std::string problem;  // the difference to the expected result; empty: passed

  bool operator==(const CaseResult&) const = default;
};

// Returns one result for each case, in order.
std::vector<CaseResult> run_cases(const Guardrails& guardrails, std::span<const Case> cases);

}  // namespace sallyport::guardrails
