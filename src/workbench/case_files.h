// Reads the files of `policy test`: policies, and cases with their places.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "guardrails/check/guardrails.h"
#include "guardrails/document/case_runner.h"
#include "policy/policy.h"
#include "workbench/call_case.h"
#include "workspace/context.h"

namespace sallyport::app {

// A case of either form.
struct AnyCase {
  std::optional<CallCase> call{};
  std::optional<guardrails::Case> guardrail{};
  std::string file{};
  int line = 1;
  int column = 1;
  std::string subject{};  // the only subject of this case; empty: all
};

// A policy or a guardrail document under test.
struct CaseSubject {
  std::string name{};                      // as it was named
  std::optional<policy::Policy> policy{};  // none: a guardrail document
  std::string text{};                      // of the policy
  std::shared_ptr<const guardrails::Guardrails> guardrails{};
};

struct CaseSuite {
  std::vector<CaseSubject> subjects{};
  std::vector<AnyCase> cases{};
  int exit_code = 0;  // not 0: the error of a guardrail document was printed
};

// Reads everything that was named. An error has `where` = file:line:column.
Result<CaseSuite> read_case_suite(const Context& context, const std::vector<std::string>& files,
                                  const std::vector<std::string>& cases);

// A policy and cases as texts, from a client that may name no file: `InvalidInput` where a case
// names one. Errors have `where` = policy:line:column or cases:line:column.
Result<CaseSuite> suite_of_texts(core::PolicyText policy, const std::string& cases);

// The policy that a case names: a shipped one, YAML, or a file beside the cases.
Result<CaseSubject> subject_of_case(const CallCase& test_case);

}  // namespace sallyport::app
