// Puts cases to policies, for `policy test` and for the HTTP API.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "workbench/case_coverage.h"
#include "workbench/case_files.h"
#include "workbench/case_report.h"
#include "workbench/case_trial.h"

namespace sallyport::app {

using CoverageByPolicy = std::vector<std::pair<std::string, std::vector<CoverageUnit>>>;

// One thread.
class CaseRun {
 public:
  explicit CaseRun(CaseSuite suite);

  // An error: a case cannot be run. A failed case is not an error.
  Result<void> run();
  const std::vector<CaseOutcome>& outcomes() const { return outcomes_; }
  // Of each policy that a case was put to, by its name.
  Result<CoverageByPolicy> coverage() const;

 private:
  // A subject with the trial of its calls, which is made when the first case needs it.
  struct Tested {
    CaseSubject subject{};
    std::unique_ptr<CaseTrial> trial{};
    std::vector<std::pair<const AnyCase*, std::size_t>> put{};  // cases, and their outcomes
  };
  static Result<CaseTrial*> trial_of(Tested& tested, const CallCase& test_case);
  Result<Tested*> own_policy(const CallCase& test_case);
  Result<void> put(const AnyCase& test_case, Tested& tested);

  CaseSuite suite_;
  std::vector<Tested> named_;
  std::map<std::string, Tested> own_;  // of cases that name their policy, by its name or text
  std::vector<CaseOutcome> outcomes_;
};

}  // namespace sallyport::app
