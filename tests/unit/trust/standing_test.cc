#include "trust/standing.h"

#include <gtest/gtest.h>

#include "trust/approver_book.h"
#include "vectors.h"

namespace sallyport::trust {
namespace {

const std::string kBot = "deploy-bot";

class ControlHistoryTest : public testing::Test {
 protected:
  // Signed by the key of that seed, in the lead's name.
  void add(std::string action, Autonomy from, Autonomy to, std::uint8_t seed = 0x20,
           std::string id = {}) {
    if (id.empty()) id = "01966f4c-3000-7000-8000-0000000000" + std::to_string(++last_);
    ControlStatement statement{.action = std::move(action),
                               .agent = kBot,
                               .control_id = std::move(id),
                               .from_tier = from,
                               .to_tier = to,
                               .ledger = vectors::kOrigin,
                               .reviewer = "user:ops-lead",
                               .signed_at = "2026-11-15T02:01:00Z"};
    std::string signature = sign(statement, vectors::key_from_seed(seed).secret);
    history_.add(std::move(statement), std::move(signature));
  }
  void promote(Autonomy to, std::uint8_t seed = 0x20) {
    add("trust.promote", Autonomy::Shadow, to, seed);
  }
  void demote(Autonomy to, std::uint8_t seed = 0x20) {
    add("trust.demote", Autonomy::ActAuto, to, seed);
  }
  // Converts it to text and back, as a fact stores it.
  Autonomy effective(Autonomy declared, const core::ReviewerBook* people,
                     const std::string& agent = kBot, std::string_view ledger = vectors::kOrigin) {
    const Result<ControlHistory> read = ControlHistory::parse(history_.text());
    EXPECT_TRUE(read);
    ignored_.clear();
    return read->proven(agent, ledger, people, &ignored_).effective(declared);
  }

  ControlHistory history_;
  ApproverBook people_{vectors::people()};
  std::vector<std::string> ignored_;

 private:
  int last_ = 10;
};

// TR-18
TEST_F(ControlHistoryTest, TheLatestControlDecidesAndADemotionHoldsUntilAPromotion) {
  EXPECT_EQ(effective(Autonomy::Suggest, &people_), Autonomy::Suggest);
  promote(Autonomy::ActAuto);
  EXPECT_EQ(effective(Autonomy::Suggest, &people_), Autonomy::ActAuto);
  demote(Autonomy::ActWithApproval);
  EXPECT_EQ(effective(Autonomy::Suggest, &people_), Autonomy::ActWithApproval);
  promote(Autonomy::ActAuto);
  EXPECT_EQ(effective(Autonomy::Shadow, &people_), Autonomy::ActAuto);
  EXPECT_TRUE(ignored_.empty());
}

// TR-15 TR-18: the gate once obeyed the stored tier, regardless of its signer.
TEST_F(ControlHistoryTest, AStatementThatNoRegisteredControllerSignedCountsForNothing) {
  promote(Autonomy::ActAuto, 0x40);
  EXPECT_EQ(effective(Autonomy::Suggest, &people_), Autonomy::Suggest);
  ASSERT_EQ(ignored_.size(), 1u);
  EXPECT_NE(ignored_[0].find("not that of `user:ops-lead`"), std::string::npos) << ignored_[0];
  promote(Autonomy::ActAuto);
  EXPECT_EQ(effective(Autonomy::Suggest, &people_), Autonomy::ActAuto);
  EXPECT_EQ(effective(Autonomy::Suggest, nullptr), Autonomy::Suggest);
  EXPECT_EQ(effective(Autonomy::Suggest, &people_, "other-bot"), Autonomy::Suggest);
  EXPECT_EQ(effective(Autonomy::Suggest, &people_, kBot, "another.example"), Autonomy::Suggest);
  Reviewers approvers = vectors::people();
  approvers.people[0].roles = {"approver"};
  const ApproverBook no_controller{approvers};
  EXPECT_EQ(effective(Autonomy::Suggest, &no_controller), Autonomy::Suggest);
}

// TR-18 AT-6
TEST_F(ControlHistoryTest, WhatIsIgnoredNeverRaisesATierAboveWhatAValidRecordSet) {
  demote(Autonomy::Suggest);
  promote(Autonomy::ActAuto, 0x40);
  EXPECT_EQ(effective(Autonomy::ActAuto, &people_), Autonomy::Suggest);
  demote(Autonomy::ActWithApproval, 0x40);
  EXPECT_EQ(effective(Autonomy::ActAuto, &people_), Autonomy::Suggest);
  demote(Autonomy::ActWithApproval);
  EXPECT_EQ(effective(Autonomy::ActAuto, &people_), Autonomy::Suggest);
}

// TR-16
TEST_F(ControlHistoryTest, AStatementCountsOnce) {
  const std::string id = "01966f4c-3000-7000-8000-0000000000c1";
  add("trust.promote", Autonomy::Shadow, Autonomy::ActAuto, 0x20, id);
  demote(Autonomy::Shadow);
  add("trust.promote", Autonomy::Shadow, Autonomy::ActAuto, 0x20, id);
  EXPECT_EQ(effective(Autonomy::ActAuto, &people_), Autonomy::Shadow);
}

// TR-18
TEST_F(ControlHistoryTest, AStandingOfTheFirstReleaseLowersAndNeverRaises) {
  const Result<ControlHistory> promoted = ControlHistory::parse("act_auto;");
  ASSERT_TRUE(promoted);
  std::vector<std::string> ignored;
  EXPECT_EQ(promoted->proven(kBot, vectors::kOrigin, &people_, &ignored), Standing{});
  EXPECT_EQ(ignored.size(), 1u);
  const Result<ControlHistory> demoted = ControlHistory::parse("act_auto;suggest");
  ASSERT_TRUE(demoted);
  EXPECT_EQ(demoted->proven(kBot, vectors::kOrigin, &people_).effective(Autonomy::ActAuto),
            Autonomy::Suggest);
  history_ = *demoted;
  EXPECT_EQ(effective(Autonomy::ActAuto, &people_), Autonomy::Suggest);
  promote(Autonomy::ActAuto);
  EXPECT_EQ(effective(Autonomy::ActWithApproval, &people_), Autonomy::ActAuto);
}

TEST_F(ControlHistoryTest, ItKeepsABoundedNumberOfStatements) {
  for (int i = 0; i < 40; ++i) promote(Autonomy::ActAuto, 0x40);
  promote(Autonomy::ActAuto);
  EXPECT_EQ(effective(Autonomy::Suggest, &people_), Autonomy::ActAuto);
  EXPECT_EQ(ignored_.size(), ControlHistory::kMost - 1);
}

// TR-18
TEST_F(ControlHistoryTest, WhatIsNoHistoryIsCorrupt) {
  for (const char* const stored : {"x", "king;", ";king", "{", "{}", R"({"controls":[{}]})",
                                   R"({"controls":[],"unproven_demotion":"king"})"}) {
    const Result<ControlHistory> history = ControlHistory::parse(stored);
    ASSERT_FALSE(history) << stored;
    EXPECT_EQ(history.error().code, ErrorCode::Corrupt);
  }
}

}  // namespace
}  // namespace sallyport::trust
