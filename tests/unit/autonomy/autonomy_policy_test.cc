#include "autonomy/autonomy_policy.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace sallyport::autonomy {
namespace {

Result<AutonomyPolicy> read(std::string_view text) {
  const Result<ParsedJson> parsed = parse_json(text);
  if (!parsed) return std::unexpected(parsed.error());
  return autonomy_policy_from_json(parsed->value);
}

// The message of a policy that is refused.
std::string refusal(std::string_view text) {
  const Result<AutonomyPolicy> policy = read(text);
  return policy ? "accepted" : policy.error().message;
}

// AT-2
TEST(AutonomyPolicyTest, EveryMemberIsReadAndNoneIsNeeded) {
  EXPECT_EQ(read("{}"), AutonomyPolicy{});
  const Result<AutonomyPolicy> policy = read(R"({
    "agent_id":"bot","autonomy_tier":"suggest","tier":"shadow",
    "action_tiers":{"fs.write":"act_auto","git.push":"shadow"},
    "agent_tiers":{"bot":"act_with_approval"},
    "agent_action_tiers":{"bot":{"write_file":"act_auto"}},
    "reviewers":["user:ada","user:bo"],"requires_human":true,
    "requires_human_actions":["process.exec"],"requires_human_agents":["intern"],
    "quorum":2,"deadline_s":60,"use_within_s":30,
    "budget":{"max_per_hour":0,"max_per_day":5},"ceiling":"act_auto"})");
  ASSERT_TRUE(policy) << policy.error().message;
  const AutonomyPolicy wanted{
      .agent_id = "bot",
      .autonomy_tier = Autonomy::Suggest,
      .tier = Autonomy::Shadow,
      .action_tiers = {{"fs.write", Autonomy::ActAuto}, {"git.push", Autonomy::Shadow}},
      .agent_tiers = {{"bot", Autonomy::ActWithApproval}},
      .agent_action_tiers = {{"bot", {{"write_file", Autonomy::ActAuto}}}},
      .reviewers = {"user:ada", "user:bo"},
      .requires_human = true,
      .requires_human_actions = {"process.exec"},
      .requires_human_agents = {"intern"},
      .quorum = 2,
      .deadline_s = 60,
      .use_within_s = 30,
      .budget = {.max_per_hour = 0, .max_per_day = 5},
      .ceiling = Autonomy::ActAuto};
  EXPECT_EQ(*policy, wanted);
}

// AT-2
TEST(AutonomyPolicyTest, AnUnknownMemberIsAnErrorThatNamesIt) {
  EXPECT_TRUE(refusal(R"({"tiers":{}})").starts_with("`autonomy.tiers` is unknown"));
  EXPECT_TRUE(
      refusal(R"({"budget":{"per_hour":1}})").starts_with("`autonomy.budget.per_hour` is unknown"));
  EXPECT_EQ(refusal("[]"), "`autonomy` is not an object");
}

// AT-32
TEST(AutonomyPolicyTest, WhatCannotHoldIsRefusedWithItsPlace) {
  struct Case {
    std::string_view text;
    std::string_view place;
  };
  const Case cases[] = {
      {R"({"tier":"auto"})", "autonomy.tier"},
      {R"({"autonomy_tier":"ACT_AUTO"})", "autonomy.autonomy_tier"},
      {R"({"tier":3})", "autonomy.tier"},
      {R"({"action_tiers":{"fs.write":"always"}})", "autonomy.action_tiers.fs.write"},
      {R"({"action_tiers":{"fs.write":null}})", "autonomy.action_tiers.fs.write"},
      {R"({"action_tiers":{"fs.*":"shadow"}})", "autonomy.action_tiers.fs.*"},
      {R"({"action_tiers":{"":"shadow"}})", "autonomy.action_tiers."},
      {R"({"agent_action_tiers":{"bot":{"fs.?":"shadow"}}})",
       "autonomy.agent_action_tiers.bot.fs.?"},
      {R"({"agent_action_tiers":{"bot":{"fs.write":"x"}}})",
       "autonomy.agent_action_tiers.bot.fs.write"},
      {R"({"agent_action_tiers":{"bot":"shadow"}})", "autonomy.agent_action_tiers.bot"},
      {R"({"agent_tiers":["bot"]})", "autonomy.agent_tiers"},
      {R"({"requires_human_actions":["fs.[wd]*"]})", "autonomy.requires_human_actions[0]"},
      {R"({"requires_human":"yes"})", "autonomy.requires_human"},
      {R"({"budget":{"max_per_hour":-1}})", "autonomy.budget.max_per_hour"},
      {R"({"budget":{"max_per_day":1.5}})", "autonomy.budget.max_per_day"},
      {R"({"budget":7})", "autonomy.budget"},
      {R"({"quorum":0})", "autonomy.quorum"},
      {R"({"quorum":3,"reviewers":["a","b"]})", "autonomy.quorum"},
      {R"({"quorum":2,"agent_id":"a","reviewers":["a","b"]})", "autonomy.quorum"},
      {R"({"agent_id":"a","reviewers":["a"]})", "autonomy.reviewers"},
      {R"({"requires_human_agents":["*"]})", "autonomy.requires_human_agents[0]"},
      {R"({"agent_tiers":{"b*":"shadow"}})", "autonomy.agent_tiers.b*"},
      {R"({"agent_action_tiers":{"[ab]":{"shell":"shadow"}}})", "autonomy.agent_action_tiers.[ab]"},
      {R"({"reviewers":[]})", "autonomy.reviewers"},
      {R"({"reviewers":["a","a"]})", "autonomy.reviewers[1]"},
      {R"({"reviewers":["a",""]})", "autonomy.reviewers[1]"},
      {R"({"deadline_s":0})", "autonomy.deadline_s"},
      {R"({"deadline_s":604801})", "autonomy.deadline_s"},
      {R"({"use_within_s":0})", "autonomy.use_within_s"},
      {R"({"agent_id":""})", "autonomy.agent_id"},
      {R"({"ceiling":"suggest","tier":"act_auto"})", "autonomy.tier"},
      {R"({"ceiling":"suggest","autonomy_tier":"act_with_approval"})", "autonomy.autonomy_tier"},
      {R"({"ceiling":"shadow","agent_tiers":{"bot":"suggest"}})", "autonomy.agent_tiers.bot"},
      {R"({"ceiling":"shadow","action_tiers":{"shell":"suggest"}})", "autonomy.action_tiers.shell"},
      {R"({"ceiling":"shadow","agent_action_tiers":{"bot":{"shell":"suggest"}}})",
       "autonomy.agent_action_tiers.bot.shell"},
  };
  for (const Case& one : cases) {
    const Result<AutonomyPolicy> policy = read(one.text);
    ASSERT_FALSE(policy) << one.text;
    EXPECT_EQ(policy.error().code, ErrorCode::InvalidInput);
    EXPECT_EQ(policy.error().where, one.place) << one.text;
    EXPECT_TRUE(policy.error().message.starts_with("`" + std::string(one.place) + "` "))
        << policy.error().message;
  }
}

// AT-32
TEST(AutonomyPolicyTest, LimitsThemselvesAreAllowed) {
  EXPECT_TRUE(read(R"({"quorum":2,"reviewers":["a","b"],"deadline_s":604800})"));
  EXPECT_TRUE(read(R"({"quorum":3})"));
  EXPECT_TRUE(read(R"({"ceiling":"suggest","tier":"suggest","agent_tiers":{"bot":"shadow"}})"));
  EXPECT_TRUE(read(R"({"tier":null,"budget":{"max_per_hour":0}})"));
}

// A server chooses the names of its tools.
// AT-3 AT-24
TEST(AutonomyPolicyTest, AToolThatIsNamedLikeAClassDoesNotGetTheTierOfTheClass) {
  const auto policy = read(R"({"tier":"act_with_approval","action_tiers":{"fs.write":"act_auto",
    "fs.delete":"shadow","my.tool":"act_auto"}})");
  ASSERT_TRUE(policy);
  const auto tier = [&](std::string tool, std::string effect_class) {
    return policy->tier_for({"bot", std::move(tool), std::move(effect_class)})->tier;
  };
  EXPECT_EQ(tier("fs.write", "unknown"), Autonomy::ActWithApproval);
  EXPECT_EQ(tier("fs.write", "fs.write"), Autonomy::ActAuto);
  EXPECT_EQ(tier("write_file", "fs.write"), Autonomy::ActAuto);
  EXPECT_EQ(tier("my.tool", "unknown"), Autonomy::ActAuto) << "no class has this name";
  EXPECT_EQ(tier("fs.delete", "unknown"), Autonomy::Shadow) << "a name may lower the tier";
  const auto bare = read(R"({"action_tiers":{"fs.write":"act_auto","fs.delete":"suggest"}})");
  EXPECT_FALSE(bare->tier_for({"bot", "fs.write", "unknown"})) << "the default applies";
  EXPECT_EQ(bare->tier_for({"bot", "fs.delete", "unknown"})->tier, Autonomy::Suggest);
}

// AT-2 (partly)
TEST(AutonomyPolicyTest, TheExampleOfTheDocumentLoads) {
  std::ifstream in(std::filesystem::path(__FILE__).parent_path() / "../../../docs/autonomy.md");
  std::stringstream whole;
  whole << in.rdbuf();
  const std::string text = whole.str();
  const std::size_t begin = text.find("```json\n");
  ASSERT_NE(begin, std::string::npos);
  const std::string example = text.substr(begin + 8, text.find("```", begin + 8) - begin - 8);
  const Result<AutonomyPolicy> policy = read(example);
  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_EQ(policy->tier_for({"deploy-bot", "git_push", "git.write"})->tier,
            Autonomy::ActWithApproval);
}

}  // namespace
}  // namespace sallyport::autonomy
