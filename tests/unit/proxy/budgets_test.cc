#include "proxy/budgets.h"

#include <gtest/gtest.h>

#include <map>

namespace sallyport::proxy {
namespace {

using core::ModelBudget;

// Facts in the form of a store.
class Facts {
 public:
  Result<void> apply(const core::FactChange& change) {
    const auto stored = [this](std::string_view space,
                               std::string_view key) -> Result<std::optional<std::string>> {
      const auto found = facts_.find({std::string(space), std::string(key)});
      if (found == facts_.end()) return std::nullopt;
      return found->second;
    };
    const auto changed = change.facts(stored);
    if (!changed) return std::unexpected(changed.error());
    for (const core::Fact& fact : *changed) {
      if (fact.value) {
        facts_[{fact.space, fact.key}] = *fact.value;
      } else {
        facts_.erase({fact.space, fact.key});
      }
    }
    return {};
  }

  // Replaces every fact of a space.
  void spoil(std::string_view space, const char* value) {
    for (auto& [key, stored] : facts_) {
      if (key.first == space) stored = value;
    }
  }

 private:
  std::map<std::pair<std::string, std::string>, std::string> facts_;
};

core::ModelRules rules_with(ModelBudget budget) {
  core::ModelRules rules;
  rules.budgets.push_back(std::move(budget));
  return rules;
}

WallTime at_minute(int minute) {
  return WallTime(std::chrono::minutes(30'000'000 + minute));
}

// MP-71, MP-72
TEST(BudgetsTest, WhatWasUsedReplacesWhatWasReserved) {
  const core::ModelRules rules = rules_with({.per = ModelBudget::Per::Day, .tokens = 1'000});
  const Budgets budgets(rules, {"a", "m", "s"}, at_minute(0));
  Facts facts;
  EXPECT_TRUE(facts.apply(*budgets.reserve("r1", {.input_tokens = 300, .output_tokens = 400})));
  const auto refused = facts.apply(*budgets.reserve("r2", {.input_tokens = 301}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Exhausted);
  EXPECT_TRUE(facts.apply(*Budgets::settle("r1", {.input_tokens = 10, .output_tokens = 5})));
  EXPECT_TRUE(facts.apply(*budgets.reserve("r2", {.input_tokens = 985})));
  // A request that settles twice, as after an unclear error, counts once.
  EXPECT_TRUE(facts.apply(*Budgets::settle("r1", {.input_tokens = 900})));
  EXPECT_FALSE(facts.apply(*budgets.reserve("r3", {.input_tokens = 1})));
}

// MP-70
TEST(BudgetsTest, HoursSlide) {
  const core::ModelRules hourly = rules_with({.per = ModelBudget::Per::Hour, .tokens = 100});
  Facts facts;
  const auto reserve = [&](const char* id, int minute, std::uint64_t tokens) {
    const Budgets budgets(hourly, {"a", "m", "s"}, at_minute(minute));
    return facts.apply(*budgets.reserve(id, {.input_tokens = tokens})).has_value();
  };
  EXPECT_TRUE(reserve("r1", 0, 60));
  EXPECT_TRUE(reserve("r2", 30, 40));
  EXPECT_FALSE(reserve("r3", 59, 1));
  EXPECT_TRUE(reserve("r4", 60, 60));
  EXPECT_FALSE(reserve("r5", 61, 1));
}

// MP-70
TEST(BudgetsTest, ABudgetOfOneRequestCountsNothing) {
  const core::ModelRules rules =
      rules_with({.model = "big-*", .per = ModelBudget::Per::Request, .output_tokens = 50});
  const Budgets fits(rules, {"a", "BIG-1", "s"}, at_minute(0));
  Facts facts;
  EXPECT_TRUE(facts.apply(*fits.reserve("r1", {.output_tokens = 50})));
  EXPECT_TRUE(facts.apply(*fits.reserve("r2", {.output_tokens = 50})));
  EXPECT_FALSE(facts.apply(*fits.reserve("r3", {.output_tokens = 51})));
  EXPECT_FALSE(Budgets(rules, {"a", "small", "s"}, at_minute(0)).any());
}

// MP-73
TEST(BudgetsTest, CostCountsCachedTokensApart) {
  const Price price{.input = 3, .output = 15, .cache_read = 0.3, .cache_write = 3.75};
  const Usage usage{.input_tokens = 1'000,
                    .output_tokens = 10,
                    .cache_read_input_tokens = 400,
                    .cache_creation_input_tokens = 100};
  EXPECT_EQ(cost_of(price, llm::Api::AnthropicMessages, usage), 3'000u + 150 + 120 + 375);
  // OpenAI counts them as part of the input.
  EXPECT_EQ(cost_of(price, llm::Api::OpenAiChat, usage), 1'500u + 150 + 120 + 375);
}

// One request once made a counter that nobody could read, and every agent was locked out.
// MP-71, MP-72
TEST(BudgetsTest, CountersStopAtTheLargestNumberOfAFact) {
  const core::ModelRules rules =
      rules_with({.per = ModelBudget::Per::Month, .input_tokens = 100'000});
  const Budgets budgets(rules, {"a", "m", "s"}, at_minute(0));
  Facts facts;
  const Amount huge{.input_tokens = 1, .output_tokens = ~std::uint64_t{0}};
  EXPECT_TRUE(facts.apply(*budgets.reserve("r1", huge)));
  EXPECT_TRUE(facts.apply(*budgets.reserve("r2", huge)));
  EXPECT_TRUE(facts.apply(*Budgets::settle("r1", {.input_tokens = ~std::uint64_t{0}})));
  const auto refused = facts.apply(*budgets.reserve("r3", {.input_tokens = 1}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Exhausted);
}

// MP-72
TEST(BudgetsTest, ACounterThatCannotBeReadIsFullUntilItsWindowEnds) {
  const core::ModelRules rules = rules_with({.per = ModelBudget::Per::Hour, .tokens = 100});
  const auto reserve = [&](Facts& facts, int minute) {
    const Budgets budgets(rules, {"a", "m", "s"}, at_minute(minute));
    return facts.apply(*budgets.reserve("r", {.input_tokens = 1}));
  };
  for (const char* const broken : {"{\"1\":{\"in\":1125899906842624100,\"out\":0,\"cost\":0}}",
                                   "[]", "{\"x\":{\"in\":1,\"out\":0,\"cost\":0}}",
                                   "{\"1\":{\"in\":-1,\"out\":0,\"cost\":0}}", "nonsense"}) {
    Facts facts;
    ASSERT_TRUE(reserve(facts, 0));
    facts.spoil("model_budget", broken);
    const auto refused = reserve(facts, 1);
    ASSERT_FALSE(refused) << broken;
    EXPECT_EQ(refused.error().code, ErrorCode::Exhausted) << broken;
    EXPECT_TRUE(facts.apply(*Budgets::settle("r", {.input_tokens = 1}))) << broken;
  }
}

// MP-73
TEST(BudgetsTest, ACostStopsAtTheLargestNumberOfAnEntry) {
  EXPECT_EQ(
      cost_of({.input = 1e9}, llm::Api::OpenAiChat, {.input_tokens = ~std::uint64_t{0} >> 11}),
      (std::uint64_t{1} << 53) - 1);
}

}  // namespace
}  // namespace sallyport::proxy
