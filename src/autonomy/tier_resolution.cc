#include "autonomy/tier_resolution.h"

#include <array>

namespace sallyport::autonomy {

namespace {

EffectiveTier declared_tier(const TierInputs& inputs) {
  if (const auto declared = inputs.policy.tier_for(inputs.action)) {
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
  if (inputs.context_tier) return {*inputs.context_tier, Source::DispatchContext};
  return {Autonomy::ActWithApproval, Source::Default};
}

bool is_action_rule(Source source) {
  return source == Source::AgentActionTiers || source == Source::ActionTiers;
}

void note(const TierInputs& inputs, Autonomy tier, Source source, std::string about = {}) {
  if (inputs.steps == nullptr) return;
  inputs.steps->push_back({std::string(to_string(source)), tier, std::move(about)});
}

// Lowers a tier and notes each step.
class Lowering {
 public:
  Lowering(const TierInputs& inputs, EffectiveTier& tier) : inputs_(inputs), tier_(tier) {}

  void to(std::optional<Autonomy> limit, Source source, std::string about = {}) {
    if (!limit) return;
    note(inputs_, *limit, source, std::move(about));
    if (*limit < tier_.tier) tier_ = {*limit, source};
  }

 private:
  const TierInputs& inputs_;
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

EffectiveTier resolved_tier(const TierInputs& inputs) {
  EffectiveTier tier = declared_tier(inputs);
  note(inputs, tier.tier, tier.source);
  if (inputs.controls.promoted_to && !is_action_rule(tier.source)) {
    tier = {*inputs.controls.promoted_to, Source::Promotion};
    note(inputs, tier.tier, tier.source);
  }
  // Applied before anything lowers the tier: a rule lifts no limit (RU-7, RU-8).
  if (inputs.rules == core::RuleAdvice::Allows && tier.tier >= Autonomy::ActWithApproval) {
    tier = {Autonomy::ActAuto, Source::Rule};
    note(inputs, tier.tier, tier.source);
  }
  Lowering lower(inputs, tier);
  if (inputs.rules == core::RuleAdvice::Asks) lower.to(Autonomy::ActWithApproval, Source::Rule);
  lower.to(inputs.policy.ceiling, Source::Ceiling);
  lower.to(inputs.controls.demoted_to, Source::Demotion);
  return tier;
}

bool needs_human(const TierInputs& inputs) {
  return inputs.policy.needs_human_for(inputs.action) ||
         inputs.scopes.needs_human_for(inputs.action);
}

EffectiveTier effective_tier(const TierInputs& inputs) {
  if (inputs.steps) inputs.steps->clear();
  if (inputs.tool_tier == Tier::Observe) {
    note(inputs, Autonomy::ActAuto, Source::Observe);
    return {Autonomy::ActAuto, Source::Observe};
  }
  EffectiveTier tier = resolved_tier(inputs);
  Lowering lower(inputs, tier);
  lower.to(inputs.scopes.cap(inputs.action), Source::Scope);
  lower.to(inputs.grant_ceiling, Source::Grant);
  if (needs_human(inputs)) {
    lower.to(Autonomy::ActWithApproval, Source::RequiresHuman);
    // Also if the tier would ask anyway, because this approval must come from a person (AT-17).
    if (tier.tier == Autonomy::ActWithApproval) tier.source = Source::RequiresHuman;
  }
  if (inputs.budget_exhausted) {
    lower.to(Autonomy::ActWithApproval, Source::Budget, inputs.budget_about);
  } else if (!inputs.budget_about.empty()) {
    note(inputs, Autonomy::ActAuto, Source::Budget, inputs.budget_about);
  }
  lower.to(inputs.trust_cap, Source::Trust);
  return tier;
}

}  // namespace sallyport::autonomy
