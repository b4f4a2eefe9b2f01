#include "records/agent_trust.h"

#include <gtest/gtest.h>

namespace sallyport::app {
namespace {

trust::TrustRecord record(std::size_t number) {
  return {.agent = "bot",
          .action = "fs.write",
          .outcome = trust::Outcome::Success,
          .timestamp = std::to_string(number)};
}

// CO-57 (partly)
TEST(ScoreHistoryTest, ALongHistoryHasFewPointsInOrderAndTheLastRecord) {
  for (const std::size_t many : {0u, 1u, 199u, 200u, 201u, 1000u, 4097u}) {
    ScoreHistory history;
    trust::ScoreKeeper keeper("bot");
    for (std::size_t i = 1; i <= many; ++i) {
      keeper.take(record(i));
      history.take(record(i), keeper.score(Autonomy::ActAuto));
    }
    const std::vector<ScorePoint> points = history.points();
    EXPECT_LE(points.size(), ScoreHistory::kMost + 1) << many;
    EXPECT_EQ(points.empty(), many == 0);
    for (std::size_t i = 1; i < points.size(); ++i) {
      EXPECT_LT(points[i - 1].total, points[i].total) << many;
    }
    if (!points.empty()) {
      EXPECT_EQ(points.front().total, 1u);
      EXPECT_EQ(points.back().total, many);
    }
  }
}

TEST(AgentTierTest, APromotionReplacesAndADemotionOnlyLowers) {
  const AgentTier declared{Autonomy::ActWithApproval, "tier"};
  EXPECT_EQ(tier_of({}, declared).source, "tier");
  EXPECT_EQ(tier_of({.promoted_to = Autonomy::ActAuto}, declared).tier, Autonomy::ActAuto);
  EXPECT_EQ(tier_of({.promoted_to = Autonomy::ActAuto}, declared).source, "promotion");
  EXPECT_EQ(tier_of({.demoted_to = Autonomy::Shadow}, declared).source, "demotion");
  EXPECT_EQ(tier_of({.demoted_to = Autonomy::ActAuto}, declared).source, "tier");
}

AgentTrust with(std::uint64_t successes, std::uint64_t failures, Autonomy tier) {
  AgentTrust agent{.tier = {tier, "tier"}};
  agent.score.successes = successes;
  agent.score.failures = failures;
  agent.score.latest_outcome = trust::Outcome::Success;
  agent.score.success_rate =
      static_cast<double>(successes) / static_cast<double>(successes + failures);
  return agent;
}

// CO-58 (partly)
TEST(TierProposalTest, OnlyALongAndGoodRecordSuggestsAPromotion) {
  EXPECT_FALSE(with(19, 0, Autonomy::ActWithApproval).proposal());
  EXPECT_FALSE(with(20, 2, Autonomy::ActWithApproval).proposal());
  EXPECT_FALSE(with(100, 0, Autonomy::ActAuto).proposal());
  const auto proposal = with(20, 1, Autonomy::Suggest).proposal();
  ASSERT_TRUE(proposal);
  EXPECT_EQ(proposal->action, "trust.promote");
  EXPECT_EQ(proposal->to, Autonomy::ActWithApproval);
  AgentTrust failed_last = with(40, 1, Autonomy::Suggest);
  failed_last.score.latest_outcome = trust::Outcome::Failure;
  EXPECT_FALSE(failed_last.proposal());
}

TEST(TierProposalTest, ABadRecordSuggestsADemotion) {
  const auto proposal = with(1, 3, Autonomy::ActAuto).proposal();
  ASSERT_TRUE(proposal);
  EXPECT_EQ(proposal->action, "trust.demote");
  EXPECT_EQ(proposal->to, Autonomy::ActWithApproval);
  EXPECT_FALSE(with(1, 1, Autonomy::ActAuto).proposal());
}

}  // namespace
}  // namespace sallyport::app
