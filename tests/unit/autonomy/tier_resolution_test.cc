#include "autonomy/tier_resolution.h"

#include <gtest/gtest.h>

#include <array>

#include "autonomy/tier.h"

namespace sallyport::autonomy {
namespace {

const Action kWrite{.agent = "bot", .tool = "write_file", .effect_class = "fs.write"};

EffectiveTier weigh(const AutonomyPolicy& policy, Controls controls = {}) {
  const ScopeStack none;
  return effective_tier({.policy = policy, .action = kWrite, .scopes = none, .controls = controls});
}

// AT-1
TEST(TierTest, TiersAreFourWordsInOrder) {
  const std::array<std::string_view, 4> words = {"shadow", "suggest", "act_with_approval",
                                                 "act_auto"};
  for (std::size_t i = 0; i < words.size(); ++i) {
    EXPECT_EQ(to_string(kTiers[i]), words[i]);
    EXPECT_EQ(autonomy_from(words[i]), kTiers[i]);
    if (i > 0) EXPECT_LT(kTiers[i - 1], kTiers[i]);
  }
  EXPECT_FALSE(autonomy_from("Shadow"));
  EXPECT_FALSE(autonomy_from(""));
  EXPECT_EQ(lower(Autonomy::ActAuto, Autonomy::Suggest), Autonomy::Suggest);
}

// The seven places of AT-3 as a reader of the page alone would list them.
struct Place {
  std::string_view source;
  void (*put)(AutonomyPolicy&, Autonomy);
  bool action_rule;
};
constexpr std::array<Place, 7> kPlaces = {{
    {"agent_action_tiers",
     [](AutonomyPolicy& p, Autonomy t) { p.agent_action_tiers["bot"]["write_file"] = t; }, true},
    {"agent_action_tiers",
     [](AutonomyPolicy& p, Autonomy t) { p.agent_action_tiers["bot"]["fs.write"] = t; }, true},
    {"agent_tiers", [](AutonomyPolicy& p, Autonomy t) { p.agent_tiers["bot"] = t; }, false},
    {"action_tiers", [](AutonomyPolicy& p, Autonomy t) { p.action_tiers["write_file"] = t; }, true},
    {"action_tiers", [](AutonomyPolicy& p, Autonomy t) { p.action_tiers["fs.write"] = t; }, true},
    {"autonomy_tier", [](AutonomyPolicy& p, Autonomy t) { p.autonomy_tier = t; }, false},
    {"tier", [](AutonomyPolicy& p, Autonomy t) { p.tier = t; }, false},
}};

using MaybeTier = std::optional<Autonomy>;
constexpr std::array<MaybeTier, 5> kMaybe = {std::nullopt, Autonomy::Shadow, Autonomy::Suggest,
                                             Autonomy::ActWithApproval, Autonomy::ActAuto};

// Each place is empty or holds one of two tiers that differ from place to place, so that a wrong
// order is detected: 3^7 policies.
struct Declared {
  AutonomyPolicy policy;
  MaybeTier first;
  std::string_view source;
  bool action_rule = false;
};
std::vector<Declared> all_policies() {
  std::vector<Declared> all;
  for (int code = 0; code < 2187; ++code) {
    Declared one;
    int rest = code;
    for (std::size_t i = 0; i < kPlaces.size(); ++i, rest /= 3) {
      if (rest % 3 == 0) continue;
      const Autonomy tier = kTiers[(i + static_cast<std::size_t>(rest % 3) * 2) % 4];
      kPlaces[i].put(one.policy, tier);
      if (one.first) continue;
      one.first = tier;
      one.source = kPlaces[i].source;
      one.action_rule = kPlaces[i].action_rule;
    }
    // Rules for other agents must never count.
    one.policy.agent_tiers["other"] = Autonomy::ActAuto;
    one.policy.action_tiers["delete_file"] = Autonomy::ActAuto;
    one.policy.agent_action_tiers["other"]["write_file"] = Autonomy::ActAuto;
    one.policy.agent_action_tiers["bot"]["delete_file"] = Autonomy::ActAuto;
    all.push_back(std::move(one));
  }
  return all;
}

// AT-3 AT-4 AT-5 AT-6 AT-8 (partly)
TEST(TierTableTest, EveryPolicyContextPromotionDemotionAndCeilingResolvesAsWritten) {
  const ScopeStack none;
  std::size_t rows = 0;
  for (const Declared& declared : all_policies()) {
    AutonomyPolicy policy = declared.policy;
    for (const MaybeTier context : kMaybe) {
      for (const MaybeTier promoted : kMaybe) {
        for (const MaybeTier demoted : kMaybe) {
          for (const MaybeTier ceiling : kMaybe) {
            // Such a policy does not load (AT-32).
            if (ceiling && declared.first && *declared.first > *ceiling) continue;
            policy.ceiling = ceiling;
            MaybeTier tier = declared.first;
            std::string_view source = declared.source;
            if (!tier) tier = context, source = "dispatch_context";
            if (!tier) tier = Autonomy::ActWithApproval, source = "default";
            if (promoted && !declared.action_rule) tier = promoted, source = "promotion";
            if (ceiling && *ceiling < *tier) tier = ceiling, source = "ceiling";
            if (demoted && *demoted < *tier) tier = demoted, source = "demotion";
            const EffectiveTier got =
                effective_tier({.policy = policy,
                                .action = kWrite,
                                .scopes = none,
                                .context_tier = context,
                                .controls = {.promoted_to = promoted, .demoted_to = demoted}});
            ASSERT_EQ(to_string(got.tier), to_string(*tier));
            ASSERT_EQ(to_string(got.source), source);
            ++rows;
          }
        }
      }
    }
  }
  EXPECT_GT(rows, 800'000u);
}

// AT-7 AT-8 AT-17 (partly)
TEST(TierTableTest, TheLowestOfAllThatNarrowsHoldsAndIsNamed) {
  std::size_t rows = 0;
  for (const Autonomy resolved : kTiers) {
    for (const MaybeTier scope : kMaybe) {
      for (const MaybeTier grant : kMaybe) {
        for (const MaybeTier trust : kMaybe) {
          for (const bool human : {false, true}) {
            for (const bool exhausted : {false, true}) {
              AutonomyPolicy policy{.tier = resolved, .requires_human = human};
              ScopeStack scopes;
              const auto entered = scopes.enter({.tier = scope});
              ASSERT_TRUE(entered);
              struct Cap {
                MaybeTier tier;
                std::string_view source;
              };
              const MaybeTier approval = Autonomy::ActWithApproval;
              const std::array<Cap, 5> caps = {{{scope, "scope"},
                                                {grant, "grant"},
                                                {human ? approval : MaybeTier(), "requires_human"},
                                                {exhausted ? approval : MaybeTier(), "budget"},
                                                {trust, "trust"}}};
              Autonomy lowest = resolved;
              std::string_view source = "tier";
              for (const Cap& cap : caps) {
                // A human is named even if the tier would ask anyway.
                const bool names =
                    cap.tier &&
                    (*cap.tier < lowest || (*cap.tier == lowest && cap.source == "requires_human"));
                if (names) lowest = *cap.tier, source = cap.source;
              }
              const EffectiveTier got = effective_tier({.policy = policy,
                                                        .action = kWrite,
                                                        .scopes = scopes,
                                                        .grant_ceiling = grant,
                                                        .budget_exhausted = exhausted,
                                                        .trust_cap = trust});
              ASSERT_EQ(to_string(got.tier), to_string(lowest));
              ASSERT_EQ(to_string(got.source), source);
              ++rows;
            }
          }
        }
      }
    }
  }
  EXPECT_EQ(rows, 4u * 5 * 5 * 5 * 4);
}

// AT-4
TEST(TierResolutionTest, ACallThatNobodySpeaksOfAsks) {
  EXPECT_EQ(weigh({}), (EffectiveTier{Autonomy::ActWithApproval, Source::Default}));
}

// AT-5
TEST(TierResolutionTest, APromotionNeverReplacesAnActionRuleNorPassesTheCeiling) {
  const Controls up{.promoted_to = Autonomy::ActAuto};
  EXPECT_EQ(weigh({.action_tiers = {{"fs.write", Autonomy::Suggest}}}, up).tier, Autonomy::Suggest);
  const EffectiveTier capped = weigh({.ceiling = Autonomy::ActWithApproval}, up);
  EXPECT_EQ(capped.tier, Autonomy::ActWithApproval);
  EXPECT_EQ(weigh({.tier = Autonomy::Shadow}, up),
            (EffectiveTier{Autonomy::ActAuto, Source::Promotion}));
}

// AT-6
TEST(TierResolutionTest, ADemotionCapsActionRulesToo) {
  const Controls down{.promoted_to = Autonomy::ActAuto, .demoted_to = Autonomy::Suggest};
  EXPECT_EQ(weigh({.action_tiers = {{"write_file", Autonomy::ActAuto}}}, down),
            (EffectiveTier{Autonomy::Suggest, Source::Demotion}));
  EXPECT_EQ(weigh({.tier = Autonomy::Shadow}, {.demoted_to = Autonomy::Suggest}).tier,
            Autonomy::Shadow);
}

// AT-9
TEST(TierResolutionTest, AToolThatOnlyLooksIsNotTiered) {
  const AutonomyPolicy policy{.tier = Autonomy::Shadow};
  const ScopeStack none;
  const Action look{.agent = "bot", .tool = "read_file", .effect_class = "none"};
  EXPECT_EQ(effective_tier(
                {.policy = policy, .action = look, .scopes = none, .tool_tier = Tier::Observe}),
            (EffectiveTier{Autonomy::ActAuto, Source::Observe}));
}

// AT-17
TEST(TierResolutionTest, AHumanIsRequiredForAllForSomeToolsOrForSomeAgents) {
  const AutonomyPolicy everywhere{.tier = Autonomy::ActAuto, .requires_human = true};
  const AutonomyPolicy by_tool{.tier = Autonomy::ActAuto, .requires_human_actions = {"write_file"}};
  const AutonomyPolicy by_class{.tier = Autonomy::ActAuto, .requires_human_actions = {"fs.write"}};
  const AutonomyPolicy by_agent{.tier = Autonomy::ActAuto, .requires_human_agents = {"bot"}};
  for (const AutonomyPolicy& policy : {everywhere, by_tool, by_class, by_agent}) {
    EXPECT_EQ(weigh(policy), (EffectiveTier{Autonomy::ActWithApproval, Source::RequiresHuman}));
  }
  const AutonomyPolicy elsewhere{.tier = Autonomy::ActAuto,
                                 .requires_human_actions = {"fs.delete"},
                                 .requires_human_agents = {"other"}};
  EXPECT_EQ(weigh(elsewhere).tier, Autonomy::ActAuto);
  EXPECT_EQ(weigh({.tier = Autonomy::Shadow, .requires_human = true}).tier, Autonomy::Shadow);
}

// RU-7, RU-8: an allow rule lifts `act_with_approval`; each of the other places caps it.
TEST(TierResolutionTest, WhatCapsATierCapsWhatARuleAllows) {
  const AutonomyPolicy asks{.tier = Autonomy::ActWithApproval};
  const ScopeStack none;
  const TierInputs allowed{.policy = asks,
                           .action = kWrite,
                           .scopes = none,
                           .tool_tier = Tier::Confirm,
                           .rules = core::RuleAdvice::Allows};
  const auto is = [](const TierInputs& inputs, Autonomy tier, Source source) {
    const EffectiveTier found = effective_tier(inputs);
    EXPECT_EQ(found.tier, tier);
    EXPECT_EQ(to_string(found.source), to_string(source));
  };
  is(allowed, Autonomy::ActAuto, Source::Rule);
  TierInputs demoted = allowed;
  demoted.controls.demoted_to = Autonomy::Suggest;
  is(demoted, Autonomy::Suggest, Source::Demotion);
  TierInputs granted = allowed;
  granted.grant_ceiling = Autonomy::ActWithApproval;
  is(granted, Autonomy::ActWithApproval, Source::Grant);
  TierInputs spent = allowed;
  spent.budget_exhausted = true;
  is(spent, Autonomy::ActWithApproval, Source::Budget);
  TierInputs mistrusted = allowed;
  mistrusted.trust_cap = Autonomy::Shadow;
  is(mistrusted, Autonomy::Shadow, Source::Trust);
  ScopeStack scopes;
  const auto entered = scopes.enter({.tier = Autonomy::Suggest});
  ASSERT_TRUE(entered);
  const TierInputs scoped{.policy = asks,
                          .action = kWrite,
                          .scopes = scopes,
                          .tool_tier = Tier::Confirm,
                          .rules = core::RuleAdvice::Allows};
  is(scoped, Autonomy::Suggest, Source::Scope);
}

// AT-8 (partly): an existing budget is one of the steps, used up or not.
TEST(TierResolutionTest, TheStepsTellOfABudgetWhereThereIsOne) {
  const ScopeStack none;
  const AutonomyPolicy policy{.tier = Autonomy::ActAuto};
  const auto budget_step = [&](std::string about, bool exhausted) -> std::string {
    std::vector<core::TierStep> steps;
    (void)effective_tier({.policy = policy,
                          .action = kWrite,
                          .scopes = none,
                          .budget_exhausted = exhausted,
                          .steps = &steps,
                          .budget_about = std::move(about)});
    for (const core::TierStep& step : steps) {
      if (step.source == "budget") return std::string(to_string(step.tier)) + " " + step.about;
    }
    return "";
  };
  EXPECT_EQ(budget_step("", false), "");
  EXPECT_EQ(budget_step("2 of 5", false), "act_auto 2 of 5");
  EXPECT_EQ(budget_step("5 of 5", true), "act_with_approval 5 of 5");
}

}  // namespace
}  // namespace sallyport::autonomy
