#include "policy/approval_keys.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <map>

namespace sallyport::policy {
namespace {

std::string with(const std::string& lines) {
  return "version: 1\napprovals:\n" + lines;
}

const std::string kTwo =
    "  reviewers:\n"
    "    - {name: \"user:ada\", key: "
    "\"ed25519:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\", roles: [approver]}\n"
    "    - {name: \"user:bo\", token: "
    "\"sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\", roles: "
    "[approver]}\n"
    "    - {name: \"user:cy\", roles: [controller]}\n";

// AP-17 (partly) AP-19 (partly)
TEST(ApprovalKeysTest, TheSectionEndsInThePlan) {
  const Result<Policy> policy = read_policy(
      with(kTwo + "  quorum: 2\n  deadline_s: 90\n  use_within_s: 30\n  dual_control: [deploy]\n"),
      "p.yaml");
  ASSERT_TRUE(policy) << policy.error().where << ": " << policy.error().message;
  core::PlanBuilder builder;
  const SystemClock clock;
  SystemEntropy entropy;
  ASSERT_TRUE(add_to_plan(builder, *policy, nullptr, {clock, entropy, "k"}));
  const auto plan = builder.build();
  ASSERT_TRUE(plan);
  EXPECT_EQ((*plan)->approval_time(), std::chrono::seconds(90));
  const core::ApprovalRules& rules = (*plan)->approvals();
  EXPECT_EQ(rules.reviewers, (std::vector<std::string>{"user:ada", "user:bo"}));
  EXPECT_EQ(rules.quorum, 2u);
  EXPECT_EQ(rules.use_within, std::chrono::seconds(30));
  EXPECT_TRUE(rules.needs_two("deploy", {}));
  EXPECT_FALSE(rules.needs_two("other", {}));
  ASSERT_TRUE(rules.people);
  EXPECT_TRUE(rules.people->check("user:bo", "x", ""));
  EXPECT_FALSE(rules.people->check("user:ada", "x", ""));
}

// AP-31 (partly) AP-34 (partly)
TEST(ApprovalKeysTest, AReviewerMayBeKnownByHisClientAndByNothingElse) {
  const std::string person =
      "    - {name: \"user:dana\", client: \"uid:dana\", roles: [approver]}\n";
  const Result<Policy> policy = read_policy(with(kTwo + person + "  hold_s: 0\n"), "p.yaml");
  ASSERT_TRUE(policy) << policy.error().message;
  const core::ApprovalRules& rules = *policy->approvals;
  EXPECT_EQ(rules.people->of_client("uid:dana"), "user:dana");
  EXPECT_EQ(rules.people->of_client("uid:ada"), "");
  EXPECT_EQ(rules.hold, std::chrono::seconds(0));
  EXPECT_TRUE(rules.people->check("user:dana", "x", ""));
  EXPECT_EQ(read_policy(with(kTwo), "p.yaml")->approvals->hold, std::chrono::seconds(50));
  for (const std::string bad :
       {"    - {name: \"uid:dana\", client: \"uid:dana\", roles: [approver]}\n",
        "    - {name: \"uid:dana/sub\", client: \"uid:dana\", roles: [approver]}\n",
        "    - {name: \"user:eve\", client: \"uid:dana\", token: \"sha256:"
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\", roles: [approver]}\n",
        "    - {name: \"user:eve\", client: \"\", roles: [approver]}\n"}) {
    EXPECT_FALSE(read_policy(with(kTwo + bad), "p.yaml")) << bad;
  }
  const std::string second =
      "    - {name: \"user:eve\", client: \"uid:dana\", roles: [approver]}\n";
  EXPECT_FALSE(read_policy(with(kTwo + person + second), "p.yaml"));
  EXPECT_FALSE(read_policy(with(kTwo + "  hold_s: 3601\n"), "p.yaml"));
}

// AT-32 (partly)
TEST(ApprovalKeysTest, APatternThatWouldNeedNobodysYesIsRefused) {
  for (const std::string pattern : {"*", "fs.*", "process.?", "a b"}) {
    const auto policy =
        read_policy(with(kTwo + "  dual_control: [\"" + pattern + "\"]\n"), "p.yaml");
    ASSERT_FALSE(policy) << pattern;
    EXPECT_TRUE(policy.error().message.contains("is a pattern")) << policy.error().message;
  }
}

// AP-6 (partly)
TEST(ApprovalKeysTest, WhoMayApproveIsPartOfThePlansHash) {
  const auto hash = [](const std::string& text) {
    core::PlanBuilder builder;
    const SystemClock clock;
    SystemEntropy entropy;
    EXPECT_TRUE(add_to_plan(builder, *read_policy(text, "p.yaml"), nullptr, {clock, entropy, "k"}));
    return (*builder.build())->hash();
  };
  EXPECT_NE(hash(with(kTwo)), hash(with(kTwo + "  quorum: 2\n")));
  EXPECT_NE(hash("version: 1\n"), hash(with(kTwo)));
}

// AT-14 (partly) AT-15 (partly)
TEST(ApprovalKeysTest, WhatAutonomySaysOfAskingOnlyNarrows) {
  const auto rules = [](const std::string& autonomy) {
    const auto policy =
        read_policy(with(kTwo + "  quorum: 1\n  deadline_s: 90\n  use_within_s: 30\nautonomy: {" +
                         autonomy + "}\n"),
                    "p.yaml");
    EXPECT_TRUE(policy) << policy.error().message;
    return *policy;
  };
  const Policy wider = rules("deadline_s: 900, use_within_s: 900, quorum: 1");
  EXPECT_EQ(wider.approval_time, std::chrono::seconds(90));
  EXPECT_EQ(wider.approvals->use_within, std::chrono::seconds(30));
  const Policy narrower = rules("deadline_s: 9, use_within_s: 3, quorum: 2");
  EXPECT_EQ(narrower.approval_time, std::chrono::seconds(9));
  EXPECT_EQ(narrower.approvals->use_within, std::chrono::seconds(3));
  EXPECT_EQ(narrower.approvals->quorum, 2u);
  const Policy fewer = rules("reviewers: [\"user:bo\", \"user:eve\"]");
  EXPECT_EQ(fewer.approvals->reviewers, (std::vector<std::string>{"user:bo"}));
  const auto nobody = read_policy(with(kTwo + "autonomy: {reviewers: [\"user:eve\"]}\n"), "p.yaml");
  ASSERT_FALSE(nobody);
  EXPECT_TRUE(nobody.error().where.starts_with("p.yaml:7:")) << nobody.error().where;
  const auto alone =
      read_policy("version: 1\nautonomy: {deadline_s: 7, use_within_s: 5}\n", "p.yaml");
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->approval_time, std::chrono::seconds(7));
  EXPECT_EQ(alone->approvals->use_within, std::chrono::seconds(5));
}

// AP-43
TEST(ApprovalKeysTest, HowManyRequestsOfAnAgentMayWaitIsSaidOr64) {
  const auto plain = read_policy(with(kTwo), "p.yaml");
  const auto few = read_policy(with(kTwo + "  pending_per_agent: 3\n"), "p.yaml");
  ASSERT_TRUE(plain && few);
  EXPECT_EQ(plain->approvals->most_open, 64u);
  EXPECT_EQ(few->approvals->most_open, 3u);
  EXPECT_NE(plain->approvals->dump(), few->approvals->dump());
  EXPECT_FALSE(read_policy(with(kTwo + "  pending_per_agent: 0\n"), "p.yaml"));
}

// AT-32 (partly)
TEST(ApprovalKeysTest, MorePeopleThanThereAreCannotBeAskedFor) {
  for (const std::string& bad :
       {kTwo + "  quorum: 3\n", kTwo + "  quorum: 0\n", kTwo + "  deadline_s: 604801\n",
        kTwo + "  use_within_s: 0\n", kTwo + "  quorun: 1\n",
        std::string("  reviewers:\n    - {name: \"user:cy\", roles: [controller]}\n"),
        std::string("  reviewers:\n    - {name: \"user:bo\", roles: [approver]}\n"
                    "  dual_control: [deploy]\n"),
        std::string("  reviewers:\n    - {name: \"user:bo\", token: \"clear\", roles: "
                    "[approver]}\n")}) {
    const Result<Policy> policy = read_policy(with(bad), "p.yaml");
    ASSERT_FALSE(policy) << bad;
    EXPECT_EQ(policy.error().code, ErrorCode::InvalidInput);
    EXPECT_TRUE(policy.error().where.starts_with("p.yaml:")) << policy.error().where;
  }
}

}  // namespace
}  // namespace sallyport::policy
