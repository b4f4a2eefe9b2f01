// The causes why a call does not run automatically, with their places in the policy (WB-26, WB-27).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/decision/rehearsal.h"
#include "policy/policy.h"
#include "workbench/call_verdict.h"
#include "workbench/policy_tree.h"

namespace sallyport::app {

// One unit, limit or fact that keeps a call from running.
struct Cause {
  CauseKind kind = CauseKind::Call;
  std::string name{};   // of the check, rule, guard; where the tier comes from
  std::string place{};  // file:line:column of the policy text; empty: it is no part of it
  CallVerdict verdict = CallVerdict::Refused;
  std::string text{};
  std::string part{};  // of a tier: a JSON Pointer into the policy; empty: it is not in the policy

  bool operator==(const Cause&) const = default;
};

// In the order in which they are weighed; empty: the call runs. `seen` was decided with
// `RehearsalScope::All`.
std::vector<Cause> causes_of(const core::Rehearsal& seen, const policy::Policy& policy,
                             const PolicyTree& tree);

// The unit that decides (WB-26). Also of a call that runs.
Cause decider_of(const core::Rehearsal& seen, const policy::Policy& policy, const PolicyTree& tree);

// The place of a check in the policy. No value: the policy has no such check.
std::optional<std::size_t> check_index(const policy::Policy& policy, std::string_view label);

}  // namespace sallyport::app
