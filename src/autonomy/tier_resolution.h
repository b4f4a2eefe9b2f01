// The tier that holds for one call, and what it came from (AT-3..AT-9). A pure function of what is
// known when the call is decided.
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

// What signed control records say about an agent (TR-15).
struct Controls {
  std::optional<Autonomy> promoted_to{};
  std::optional<Autonomy> demoted_to{};  // only where no promotion came later

  bool operator==(const Controls&) const = default;
};

struct Weighing {
  const AutonomyPolicy& policy;
  const Action& action;
  const ScopeStack& scopes;
  Tier tool_tier = Tier::Confirm;
  std::optional<Autonomy> context_tier{};
  core::RuleSay rules = core::RuleSay::Nothing;
  Controls controls{};
  std::optional<Autonomy> grant_ceiling{};
  bool budget_exhausted = false;
  std::optional<Autonomy> trust_cap{};  // of the derived trust policy, where it is enforced
  std::vector<core::TierStep>* steps = nullptr;  // gets every tier that was weighed, in order
  std::string budget_about{};                    // how much of the budget is used, for the steps
};

struct EffectiveTier {
  Autonomy tier = Autonomy::ActWithApproval;
  Source source = Source::Default;

  bool operator==(const EffectiveTier&) const = default;
};

// Before anything lowers it: what policy, promotions and the context say.
EffectiveTier resolved_tier(const Weighing& weighing);

EffectiveTier effective_tier(const Weighing& weighing);
// True if a person must be asked, at a door of their own (AT-17).
bool needs_human(const Weighing& weighing);

}  // namespace sallyport::autonomy
