#include "app/workbench/case_run.h"

#include <fmt/format.h>

#include <chrono>

#include "app/workbench/case_expectations.h"
#include "base/try.h"

namespace sallyport::app {

CaseRun::CaseRun(CaseSuite suite) : suite_(std::move(suite)) {
  for (CaseSubject& subject : suite_.subjects) named_.push_back({std::move(subject)});
}

Result<CaseTrial*> CaseRun::trial_of(Tested& tested, const CallCase& one) {
  if (!tested.subject.policy) {
    return fail(ErrorCode::Unavailable,
                fmt::format("`{}` is a guardrail document, which decides no calls; name a policy",
                            tested.subject.name),
                one.place());
  }
  if (!tested.trial) {
    SALLYPORT_TRY(tested.trial, CaseTrial::build(*tested.subject.policy));
  }
  return tested.trial.get();
}

Result<void> CaseRun::run() {
  for (Tested& tested : named_) {
    for (const AnyCase& one : suite_.cases) {
      const bool own = one.call && one.call->policy;
      const bool other = !one.subject.empty() && one.subject != tested.subject.name;
      if (!own && !other) SALLYPORT_CHECK_OK(put(one, tested));
    }
  }
  for (const AnyCase& one : suite_.cases) {
    if (one.call && one.call->policy) {
      SALLYPORT_TRY(Tested* const tested, own_policy(*one.call));
      SALLYPORT_CHECK_OK(put(one, *tested));
    } else if (named_.empty()) {
      return fail(ErrorCode::Unavailable, "the case names no policy, and none was named",
                  fmt::format("{}:{}:{}", one.file, one.line, one.column));
    }
  }
  return {};
}

Result<CoverageByPolicy> CaseRun::coverage() const {
  CoverageByPolicy all;
  const auto add = [&](const Tested& tested) -> Result<void> {
    if (!tested.subject.policy) return {};
    std::vector<CoveredCase> cases;
    for (const auto& [one, at] : tested.put) {
      const std::optional<CaseAnswer>& answer = outcomes_[at].answer;
      cases.push_back({one, answer ? &*answer : nullptr});
    }
    SALLYPORT_TRY(auto units, coverage_of(tested.subject, cases));
    all.emplace_back(tested.subject.name, std::move(units));
    return {};
  };
  for (const Tested& tested : named_) SALLYPORT_CHECK_OK(add(tested));
  for (const auto& [key, tested] : own_) SALLYPORT_CHECK_OK(add(tested));
  return all;
}

Result<CaseRun::Tested*> CaseRun::own_policy(const CallCase& one) {
  // A file name means another file beside other cases.
  const std::string key =
      one.policy->find('\n') == std::string::npos
          ? *one.policy + '\n' + std::filesystem::path(one.file).parent_path().string()
          : *one.policy;
  Tested& tested = own_[key];
  if (!tested.subject.guardrails) {
    SALLYPORT_TRY(tested.subject, subject_of_case(one));
  }
  return &tested;
}

Result<void> CaseRun::put(const AnyCase& one, Tested& tested) {
  CaseOutcome outcome{
      .file = one.file, .line = one.line, .column = one.column, .policy = tested.subject.name};
  const auto begin = std::chrono::steady_clock::now();
  if (one.guardrail) {
    const auto results = run_cases(*tested.subject.guardrails, {&*one.guardrail, 1});
    outcome.name = results.front().name;
    outcome.problem = results.front().problem;
  } else {
    SALLYPORT_TRY(CaseTrial* const trial, trial_of(tested, *one.call));
    SALLYPORT_CHECK_OK(check_expected_names(*one.call, trial->policy()));
    SALLYPORT_TRY(CaseAnswer answer, trial->answer(*one.call));
    outcome.name = one.call->name;
    outcome.problem = problem_of(*one.call, answer);
    outcome.answer = std::move(answer);
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  tested.put.emplace_back(&one, outcomes_.size());
  outcomes_.push_back(std::move(outcome));
  return {};
}

}  // namespace sallyport::app
