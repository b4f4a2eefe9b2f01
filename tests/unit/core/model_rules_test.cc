#include "core/plan/model_rules.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sallyport::core {
namespace {

// MP-70 (partly)
TEST(ModelRulesTest, NamesOfModelsAreComparedWithWildcardsAndWithoutCase) {
  const struct {
    std::string_view wildcard, name;
    bool matches;
  } kCases[] = {
      {"", "", true},
      {"", "a", false},
      {"a", "", false},
      {"*", "", true},
      {"*", "gpt", true},
      {"gpt-4", "GPT-4", true},
      {"gpt-4", "gpt-4o", false},
      {"gpt-4o", "gpt-4", false},
      {"gpt-?", "gpt-4", true},
      {"gpt-?", "gpt-", false},
      {"gpt-?", "gpt-4o", false},
      {"gpt*", "gpt", true},
      {"*mini", "gpt-mini", true},
      {"*mini", "mini-gpt", false},
      {"a*b*c", "a-b-b-c", true},
      {"a*b*c", "a-c-b", false},
      {"a*?", "a", false},
      {"a*?", "ab", true},
      {"*ab", "aab", true},
      {"a**", "a", true},
      {"a*b", "ac", false},
  };
  for (const auto& [wildcard, name, matches] : kCases) {
    EXPECT_EQ(model_matches(wildcard, name), matches) << wildcard << " " << name;
  }
}

// MP-55 (partly): an agent's own entry counts, else the entry for all others.
TEST(ModelRulesTest, AnAgentHasItsOwnEntryOrThatOfTheOthers) {
  ModelRules rules;
  EXPECT_TRUE(rules.may_use("a", "any"));
  EXPECT_EQ(rules.tool_calls_of("a"), ToolCallMode::HandOff);
  EXPECT_EQ(rules.rule_for_tool("web"), ProviderToolRule::Allow);
  rules.allow = {{"a", {"small", "mid*"}}};
  EXPECT_TRUE(rules.may_use("a", "small"));
  EXPECT_TRUE(rules.may_use("a", "middle"));
  EXPECT_FALSE(rules.may_use("a", "large"));
  EXPECT_FALSE(rules.may_use("b", "small")) << "no entry";
  rules.allow["*"] = {"large"};
  EXPECT_TRUE(rules.may_use("b", "large"));
  EXPECT_FALSE(rules.may_use("a", "large")) << "its own entry counts";
  rules.tool_calls = {{"a", ToolCallMode::Observe}, {"*", ToolCallMode::Defer}};
  EXPECT_EQ(rules.tool_calls_of("a"), ToolCallMode::Observe);
  EXPECT_EQ(rules.tool_calls_of("b"), ToolCallMode::Defer);
  rules.provider_tools = {{"web", ProviderToolRule::Strip}};
  EXPECT_EQ(rules.rule_for_tool("web"), ProviderToolRule::Strip);
  EXPECT_EQ(rules.rule_for_tool("code"), ProviderToolRule::Allow);
}

TEST(ModelRulesTest, KeptContentIsInTheHashOnlyWhereItIsChosen) {
  ModelRules rules;
  EXPECT_FALSE(model_rules_json(rules).contains("keeps_content"));
  rules.keeps_content = true;
  EXPECT_EQ(model_rules_json(rules).at("keeps_content"), json::value(true));
}

}  // namespace
}  // namespace sallyport::core
