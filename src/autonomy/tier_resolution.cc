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

void lower_to(EffectiveTier& tier, std::optional<Autonomy> limit, Source source) {
  if (limit && *limit < tier.tier) tier = {*limit, source};
}

}  // namespace

std::string_view to_string(Source source) {
  constexpr std::array<std::string_view, 16> kNames = {"agent_action_tiers",
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
                                                       "observe"};
  return kNames[static_cast<std::size_t>(source)];
}

EffectiveTier resolved_tier(const Weighing& weighing) {
  EffectiveTier tier = declared_tier(weighing);
  if (weighing.controls.promoted_to && !is_action_rule(tier.source)) {
    tier = {*weighing.controls.promoted_to, Source::Promotion};
  }
  lower_to(tier, weighing.policy.ceiling, Source::Ceiling);
  lower_to(tier, weighing.controls.demoted_to, Source::Demotion);
  return tier;
}

EffectiveTier effective_tier(const Weighing& weighing) {
  if (weighing.tool_tier == Tier::Observe) return {Autonomy::ActAuto, Source::Observe};
  EffectiveTier tier = resolved_tier(weighing);
  lower_to(tier, weighing.scopes.cap(weighing.action), Source::Scope);
  lower_to(tier, weighing.grant_ceiling, Source::Grant);
  const bool needs_human = weighing.policy.needs_human_for(weighing.action) ||
                           weighing.scopes.needs_human_for(weighing.action);
  if (needs_human) lower_to(tier, Autonomy::ActWithApproval, Source::RequiresHuman);
  if (weighing.budget_exhausted) lower_to(tier, Autonomy::ActWithApproval, Source::Budget);
  lower_to(tier, weighing.trust_cap, Source::Trust);
  return tier;
}

}  // namespace sallyport::autonomy
