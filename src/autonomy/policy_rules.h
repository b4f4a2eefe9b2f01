// The autonomy rules of a plan: tiers from the policy and from signed promotions, budgets counted
// in the ledger, and a trust record for every call that reached the tiers.
//
//   PlanBuilder().autonomy_rules(std::make_shared<PolicyRules>(policy, clock, entropy));
#pragma once

#include <functional>

#include "autonomy/auto_use.h"
#include "autonomy/autonomy_policy.h"
#include "autonomy/policy_scope.h"
#include "autonomy/scope_stack.h"
#include "base/entropy.h"
#include "core/plan/autonomy_rules.h"
#include "trust/standing.h"

namespace sallyport::autonomy {

inline constexpr std::string_view kUseSpace = "autonomy_use";  // by agent

class PolicyRules final : public core::AutonomyRules {
 public:
  // Gives the promotions and demotions of an agent, for a caller without a ledger.
  using Standings = std::function<trust::Standing(const std::string& agent)>;

  // `clock` and `entropy` must outlive it. `enforce_trust`: the trust record may lower tiers
  // (TR-13). `scopes`: from the outermost to the innermost; the scopes of a call are inside all of
  // them. `standings`: if empty, the signed statements in the records count.
  PolicyRules(AutonomyPolicy policy, const Clock& clock, Entropy& entropy,
              bool enforce_trust = false, std::vector<PolicyScope> scopes = {},
              Standings standings = {})
      : policy_(std::move(policy)),
        scopes_(std::move(scopes)),
        enforce_trust_(enforce_trust),
        clock_(clock),
        entropy_(entropy),
        standings_(std::move(standings)) {}

  core::AutonomyAnswer weigh(const core::AutonomyQuestion& question, core::RecordReader& records,
                             WallTime now) const override;
  bool may_ask() const override;
  core::Draft remember(const core::Remembered& ended, WallTime now) const override;
  json::object dump() const override;

 private:
  // All scopes around the call, on top of the policy. Fails if they exclude each other.
  Result<ScopeStack> scopes_around(const Call& call) const;
  std::optional<Autonomy> trust_cap(const std::string& agent, const trust::Standing& standing,
                                    core::RecordReader& records) const;

  AutonomyPolicy policy_;
  std::vector<PolicyScope> scopes_;
  bool enforce_trust_;
  const Clock& clock_;
  Entropy& entropy_;
  Standings standings_;
};

// The policy as JSON, without members that are not set. Reading it gives the same policy.
json::object to_json(const AutonomyPolicy& policy);

}  // namespace sallyport::autonomy
