// Checks and summarises a policy, for `policy check` and for the HTTP API.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "guardrails/check/guardrails.h"
#include "machine/environment.h"
#include "policy/policy.h"
#include "rules/warnings.h"

namespace sallyport::app {

struct PolicyReport {
  std::optional<Error> refused{};  // with `where`; the rest is empty then
  policy::Policy policy{};
  std::string hash{};
  std::string durability{};
  std::vector<rules::Warning> warnings{};
  std::shared_ptr<const guardrails::Guardrails> guardrails{};  // null: there are no checks

  std::size_t checks() const { return policy.guardrails ? policy.guardrails->checks.size() : 0; }
};

// The output of `policy check --json`.
json::object to_json(const PolicyReport& report);

// An error of `read` becomes `refused`. An error of this function is not about the policy.
Result<PolicyReport> report_on(Result<policy::Policy> read, const Environment& environment,
                               const Clock& clock);

}  // namespace sallyport::app
