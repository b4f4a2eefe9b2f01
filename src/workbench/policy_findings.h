// Finds parts of a policy that can never matter, each with its proof (WB-62, WB-63). It reports
// only what it can prove.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "guardrails/document/document.h"
#include "policy/policy.h"

namespace sallyport::app {

struct PolicyFinding {
  std::string code{};  // stable
  bool is_error = false;
  std::string place{};  // file:line:column
  std::string text{};
  json::object proof{};  // `call`, or `dead` with what causes it
};
json::object to_json(const PolicyFinding& finding);

// `tree`: of the policy, or of a guardrail document, whose `policy` is null.
struct PolicyToLint {
  const policy::Policy* policy = nullptr;
  const guardrails::Document* guardrails = nullptr;  // null: there are none
  const policy::PolicyTree& tree;
  WallTime now{};
  std::string home{};
};
// In the order of the places.
std::vector<PolicyFinding> findings_in(const PolicyToLint& linted);

}  // namespace sallyport::app
