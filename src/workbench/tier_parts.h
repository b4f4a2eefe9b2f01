// The parts of a policy that give a step towards the tier of a call (WB-26, WB-27).
#pragma once

#include <string>
#include <vector>

#include "core/decision/rehearsal.h"
#include "policy/policy.h"
#include "workbench/policy_tree.h"

namespace sallyport::app {

struct TierPart {
  std::string pointer{};  // JSON Pointer into the policy; empty: it is not in the policy
  Autonomy tier = Autonomy::ActWithApproval;
};

// One part for most steps; several for a person who is required, for scopes and for budgets.
// At least one.
std::vector<TierPart> tier_parts(const core::TierStep& step, const core::Rehearsal& seen,
                                 const policy::Policy& policy, const PolicyTree& tree);

}  // namespace sallyport::app
