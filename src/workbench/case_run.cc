#include "workbench/case_run.h"

#include <fmt/format.h>

#include <chrono>

#include "base/try.h"
#include "workbench/case_expectations.h"

namespace sallyport::app {

CaseRun::CaseRun(CaseSuite suite) : suite_(std::move(suite)) {
  for (CaseSubject& subject : suite_.subjects) named_.push_back({std::move(subject)});
}

Result<CaseTrial*> CaseRun::trial_of(Tested& tested, const CallCase& test_case) {
  if (!tested.subject.policy) {
    return fail(ErrorCode::Unavailable,
                fmt::format("`{}` is a guardrail document, which decides no calls; name a policy",
                            tested.subject.name),
                test_case.place());
  }
  if (!tested.trial) {
    SALLYPORT_TRY(tested.trial, CaseTrial::build(*tested.subject.policy));
  }
  return tested.trial.get();
}

Result<void> CaseRun::run() {
  for (Tested& tested : named_) {
    for (const AnyCase& test_case : suite_.cases) {
      const bool own = test_case.call && test_case.call->policy;
      const bool other = !test_case.subject.empty() && test_case.subject != tested.subject.name;
      if (!own && !other) SALLYPORT_CHECK_OK(put(test_case, tested));
    }
  }
  for (const AnyCase& test_case : suite_.cases) {
    if (test_case.call && test_case.call->policy) {
      SALLYPORT_TRY(Tested* const tested, own_policy(*test_case.call));
      SALLYPORT_CHECK_OK(put(test_case, *tested));
    } else if (named_.empty()) {
      return fail(ErrorCode::Unavailable, "the case names no policy, and none was named",
                  fmt::format("{}:{}:{}", test_case.file, test_case.line, test_case.column));
    }
  }
  return {};
}

Result<CoverageByPolicy> CaseRun::coverage() const {
  CoverageByPolicy all;
  const auto add = [&](const Tested& tested) -> Result<void> {
    if (!tested.subject.policy) return {};
    std::vector<CoveredCase> cases;
    for (const auto& [test_case, at] : tested.put) {
      const std::optional<CaseAnswer>& answer = outcomes_[at].answer;
      cases.push_back({test_case, answer ? &*answer : nullptr});
    }
    SALLYPORT_TRY(auto units, coverage_of(tested.subject, cases));
    all.emplace_back(tested.subject.name, std::move(units));
    return {};
  };
  for (const Tested& tested : named_) SALLYPORT_CHECK_OK(add(tested));
  for (const auto& [key, tested] : own_) SALLYPORT_CHECK_OK(add(tested));
  return all;
}

Result<CaseRun::Tested*> CaseRun::own_policy(const CallCase& test_case) {
  // A file name means another file beside other cases.
  const std::string key =
      test_case.policy->find('\n') == std::string::npos
          ? *test_case.policy + '\n' + std::filesystem::path(test_case.file).parent_path().string()
          : *test_case.policy;
  Tested& tested = own_[key];
  if (!tested.subject.guardrails) {
    SALLYPORT_TRY(tested.subject, subject_of_case(test_case));
  }
  return &tested;
}

Result<void> CaseRun::put(const AnyCase& test_case, Tested& tested) {
  CaseOutcome outcome{.file = test_case.file,
                      .line = test_case.line,
                      .column = test_case.column,
                      .policy = tested.subject.name};
  const auto begin = std::chrono::steady_clock::now();
  if (test_case.guardrail) {
    const auto results = run_cases(*tested.subject.guardrails, {&*test_case.guardrail, 1});
    outcome.name = results.front().name;
    outcome.problem = results.front().problem;
  } else {
    SALLYPORT_TRY(CaseTrial* const trial, trial_of(tested, *test_case.call));
    SALLYPORT_CHECK_OK(check_expected_names(*test_case.call, trial->policy()));
    SALLYPORT_TRY(CaseAnswer answer, trial->answer(*test_case.call));
    outcome.name = test_case.call->name;
    outcome.problem = problem_of(*test_case.call, answer);
    outcome.answer = std::move(answer);
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  tested.put.emplace_back(&test_case, outcomes_.size());
  outcomes_.push_back(std::move(outcome));
  return {};
}

}  // namespace sallyport::app
