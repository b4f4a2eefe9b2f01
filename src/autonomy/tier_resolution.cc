#include "autonomy/tier_resolution.h"

#include <array>

namespace sallyport::autonomy {

namespace {

EffectiveTier declared_tier(const Weighing& weighing) {
  if (const auto declared = weighing.policy.tier_for(weighing.action)) {
    switch (declared->member) {
      case TierMember::AgentActionTiers:
        return {declared->tier, Source::AgentActionTiers};
      case TierMember::AgentTiers:
        return {declared->tier, Source::AgentTiers};
      case TierMember::ActionTiers:
        return {declared->tier, Source::ActionTiers};
      case TierMember::AutonomyTier:
        return {declared->tier, Source::AutonomyTier};
      case TierMember::Tier:
        return {declared->tier, Source::Tier};
    }
  }
  if (weighing.context_tier) return {*weighing.context_tier, Source::DispatchContext};
  return {Autonomy::ActWithApproval, Source::Default};
}

bool is_action_rule(Source source) {
  return source == Source::AgentActionTiers || source == Source::ActionTiers;
}

void note(const Weighing& weighing, Autonomy tier, Source source, std::string about = {}) {
  if (weighing.steps == nullptr) return;
  weighing.steps->push_back({std::string(to_string(source)), tier, std::move(about)});
}

// One look at what could lower a tier.
class Lowering {
 public:
  Lowering(const Weighing& weighing, EffectiveTier& tier) : weighing_(weighing), tier_(tier) {}

  void to(std::optional<Autonomy> limit, Source source, std::string about = {}) {
    if (!limit) return;
    note(weighing_, *limit, source, std::move(about));
    if (*limit < tier_.tier) tier_ = {*limit, source};
  }

 private:
  const Weighing& weighing_;
  EffectiveTier& tier_;
};

}  // namespace

std::string_view to_string(Source source) {
  constexpr std::array<std::string_view, 17> kNames = {"agent_action_tiers",
                                                       "agent_tiers",
                                                       "action_tiers",
                                                       "autonomy_tier",
                                                       "tier",
                                                       "dispatch_context",
                                                       "default",
                                                       "promotion",
                                                       "demotion",
                                                       "ceiling",
                                                       "scope",
                                                       "grant",
                                                       "requires_human",
                                                       "budget",
                                                       "trust",
                                                       "observe",
                                                       "rule"};
  return kNames[static_cast<std::size_t>(source)];
}

EffectiveTier resolved_tier(const Weighing& weighing) {
  EffectiveTier tier = declared_tier(weighing);
  note(weighing, tier.tier, tier.source);
  if (weighing.controls.promoted_to && !is_action_rule(tier.source)) {
    tier = {*weighing.controls.promoted_to, Source::Promotion};
    note(weighing, tier.tier, tier.source);
  }
  // Before whatever lowers a tier: a rule lifts none of that (RU-7, RU-8).
  if (weighing.rules == core::RuleSay::Allows && tier.tier >= Autonomy::ActWithApproval) {
    tier = {Autonomy::ActAuto, Source::Rule};
    note(weighing, tier.tier, tier.source);
  }
  Lowering lower(weighing, tier);
  if (weighing.rules == core::RuleSay::Asks) lower.to(Autonomy::ActWithApproval, Source::Rule);
  lower.to(weighing.policy.ceiling, Source::Ceiling);
  lower.to(weighing.controls.demoted_to, Source::Demotion);
  return tier;
}

bool needs_human(const Weighing& weighing) {
  return weighing.policy.needs_human_for(weighing.action) ||
         weighing.scopes.needs_human_for(weighing.action);
}

EffectiveTier effective_tier(const Weighing& weighing) {
  if (weighing.steps) weighing.steps->clear();
  if (weighing.tool_tier == Tier::Observe) {
    note(weighing, Autonomy::ActAuto, Source::Observe);
    return {Autonomy::ActAuto, Source::Observe};
  }
  EffectiveTier tier = resolved_tier(weighing);
  Lowering lower(weighing, tier);
  lower.to(weighing.scopes.cap(weighing.action), Source::Scope);
  lower.to(weighing.grant_ceiling, Source::Grant);
  if (needs_human(weighing)) {
    lower.to(Autonomy::ActWithApproval, Source::RequiresHuman);
    // Said also where the tier would ask anyway: such a yes is given by hand (AT-17).
    if (tier.tier == Autonomy::ActWithApproval) tier.source = Source::RequiresHuman;
  }
  if (weighing.budget_exhausted) {
    lower.to(Autonomy::ActWithApproval, Source::Budget, weighing.budget_about);
  } else if (!weighing.budget_about.empty()) {
    note(weighing, Autonomy::ActAuto, Source::Budget, weighing.budget_about);
  }
  lower.to(weighing.trust_cap, Source::Trust);
  return tier;
}

}  // namespace sallyport::autonomy
