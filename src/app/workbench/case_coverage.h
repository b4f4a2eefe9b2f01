// Which parts of a policy its cases test (RU-76, WB-22, WB-23). A part decides a case if the
// verdict changes when the call is decided again without it; nothing is guessed from the layout.
#pragma once

#include <string>
#include <vector>

#include "app/workbench/case_files.h"
#include "app/workbench/case_trial.h"

namespace sallyport::app {

struct CoverageUnit {
  std::string kind{};  // rule, only, tool, server, tier, requires_human, pattern, result, ..
  std::string name{};
  std::string place{};  // file:line:column
  std::string
      status{};  // decides, hits, reaches, never; of a rule: decides, matches, shadowed, never
  std::string reason{};           // no_case, `shadowed by X`, dead; empty: it decides, or only logs
  bool tested_both_ways = false;  // decides in one case and does not hit in another

  bool decides() const { return status == "decides"; }
};
json::object to_json(const CoverageUnit& unit);

// Sorted by kind and name. `cases`: those that were put to the policy, with their answers.
struct CoveredCase {
  const AnyCase* one = nullptr;
  const CaseAnswer* answer = nullptr;  // null: a case of guardrails
};
Result<std::vector<CoverageUnit>> coverage_of(const CaseSubject& subject,
                                              const std::vector<CoveredCase>& cases);

// Percent of the units that are tested both ways; 100 where there are none.
double covered_percent(const std::vector<CoverageUnit>& units);

}  // namespace sallyport::app
