// Finds the tier of one call and its source (AT-3..AT-9). A pure function of its inputs.
//
//   const EffectiveTier tier = effective_tier({.policy = policy, .action = action,
//                                              .scopes = scopes, .controls = controls});
//   record(to_string(tier.tier), to_string(tier.source));
#pragma once

#include <optional>
#include <string_view>

#include "autonomy/autonomy_policy.h"
#include "autonomy/scope_stack.h"
#include "core/plan/autonomy_rules.h"

namespace sallyport::autonomy {

// `autonomy_source` of records (AT-8).
enum class Source {
  AgentActionTiers,
  AgentTiers,
  ActionTiers,
  AutonomyTier,
  Tier,
  DispatchContext,
  Default,
  Promotion,
  Demotion,
  Ceiling,
  Scope,
  Grant,
  RequiresHuman,
  Budget,
  Trust,
  Observe,  // not tiered
  Rule,
};
std::string_view to_string(Source source);

// The promotion and demotion of an agent by signed control records (TR-15).
struct Controls {
  std::optional<Autonomy> promoted_to{};
  std::optional<Autonomy> demoted_to{};  // only if no promotion came later

  bool operator==(const Controls&) const = default;
};

struct TierInputs {
  const AutonomyPolicy& policy;
  const Action& action;
  const ScopeStack& scopes;
  Tier tool_tier = Tier::Confirm;
  std::optional<Autonomy> context_tier{};
  core::RuleAdvice rules = core::RuleAdvice::Nothing;
  Controls controls{};
  std::optional<Autonomy> grant_ceiling{};
  bool budget_exhausted = false;
  std::optional<Autonomy> trust_cap{};           // of the derived trust policy, if enforced
  std::vector<core::TierStep>* steps = nullptr;  // receives every tier considered, in order
  std::string budget_about{};                    // the use of the budget, for the steps
};

struct EffectiveTier {
  Autonomy tier = Autonomy::ActWithApproval;
  Source source = Source::Default;

  bool operator==(const EffectiveTier&) const = default;
};

// The tier by policy, promotions and context, before anything lowers it.
EffectiveTier resolved_tier(const TierInputs& inputs);

EffectiveTier effective_tier(const TierInputs& inputs);
// True if a person must be asked. No dialog of a client may answer then (AT-17).
bool needs_human(const TierInputs& inputs);

}  // namespace sallyport::autonomy
