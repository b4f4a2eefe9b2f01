// Which parts of a policy its cases test (RU-76, WB-22, WB-23). A part decides a case if the
// verdict changes when the call is decided again without it; nothing is guessed from the layout.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workbench/case_files.h"
#include "workbench/case_trial.h"

namespace sallyport::app {

// The parts of a policy that have a place of their own.
enum class PartKind : std::uint8_t {
  Rule,
  Only,
  Tool,
  Server,
  Result,
  AgentTiers,
  ActionTiers,
  AgentActionTiers,
  RequiresHuman,
  RequiresHumanActions,
  RequiresHumanAgents,
  DualControl,
  Ceiling,
  Budget,
  RequiredGrant,
  Pattern,
  Word,
  Wildcard,
  Exception,
  Args,
};
std::string_view to_string(PartKind kind);

enum class CoverageStatus : std::uint8_t { Decides, Hits, Reaches, Never, Matches, Shadowed };
std::string_view to_string(CoverageStatus status);

struct CoverageUnit {
  PartKind kind = PartKind::Rule;
  std::string name{};
  std::string place{};  // file:line:column
  // Of a rule: `Decides`, `Matches`, `Shadowed` or `Never`; else one of the first four.
  CoverageStatus status = CoverageStatus::Never;
  std::string reason{};           // no_case, `shadowed by X`, dead; empty: it decides, or only logs
  bool tested_both_ways = false;  // decides in one case and does not hit in another

  bool decides() const { return status == CoverageStatus::Decides; }
};
json::object to_json(const CoverageUnit& unit);

// Sorted by kind and name. `cases`: those that were put to the policy, with their answers.
struct CoveredCase {
  const AnyCase* test_case = nullptr;
  const CaseAnswer* answer = nullptr;  // null: a case of guardrails
};
Result<std::vector<CoverageUnit>> coverage_of(const CaseSubject& subject,
                                              const std::vector<CoveredCase>& cases);

// Percent of the units that are tested both ways; 100 where there are none.
double covered_percent(const std::vector<CoverageUnit>& units);

}  // namespace sallyport::app
