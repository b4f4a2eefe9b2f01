#include "core/approval/approval_state.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/governed.h"
#include "support/test_clock.h"

namespace sallyport::core {
namespace {

using std::chrono::seconds;

ApprovalState read_back(const ApprovalState& state) {
  return ApprovalState::parse(state.text() + "@7").value();
}

Vote yes(std::string by) {
  return {.by = std::move(by), .sequence = 3, .approved = true};
}

TEST(ApprovalStateTest, AStateIsReadBackAsItWasWritten) {
  const WallTime now = test::TestClock().wall();
  const ApprovalState state{
      .call_id = "c",
      .call_digest = "d",
      .expires_at = now,
      .use_within = seconds(30),
      .required = 2,
      .votes = {{.by = "user:ada", .at = "t", .door = "cli:key", .signature = "s", .sequence = 3}},
      .also = {"user:bo"},
      .later = {{.at = now + seconds(9), .rule = "r", .to = {"user:cy"}}},
      .reason_required = true,
      .needs_human = true};
  const ApprovalState read = read_back(state);
  EXPECT_EQ(read.text(), state.text());
  EXPECT_EQ(read.votes, state.votes);
  EXPECT_EQ(read.expires_at, now);
  EXPECT_EQ(read.use_within, seconds(30));
  EXPECT_EQ(read.required, 2u);
  EXPECT_EQ(read.also, state.also);
  ASSERT_EQ(read.later.size(), 1u);
  EXPECT_EQ(read.later[0].at, now + seconds(9));
  EXPECT_EQ(read.later[0].to, state.later[0].to);
  EXPECT_TRUE(read.reason_required);
  EXPECT_TRUE(read.needs_human);
  EXPECT_EQ(read.sequence, 7u);
  const ApprovalState bare = read_back({});
  EXPECT_TRUE(bare.votes.empty() && bare.also.empty() && bare.later.empty());
  EXPECT_FALSE(bare.reason_required);
  EXPECT_FALSE(bare.needs_human);
}

TEST(ApprovalStateTest, WhatIsNoStateIsRefused) {
  for (const char* const stored :
       {"", "{}", "[]@1", "{@1", R"({"state":"odd"}@1)", R"({"state":7}@1)"}) {
    EXPECT_FALSE(ApprovalState::parse(stored)) << stored;
  }
}

// AP-16: the proof of an answer without a signature is the place of its entry.
TEST(ApprovalStateTest, TheNewestVoteOfAnOpenQuestionIsAtThePlaceOfTheState) {
  ApprovalState state{.votes = {{.by = "a", .sequence = 3}, {.by = "b"}}};
  EXPECT_EQ(read_back(state).votes[0].proof(), "ledger:3");
  EXPECT_EQ(read_back(state).votes[1].proof(), "ledger:7");
  state.status = ApprovalStatus::Denied;
  EXPECT_EQ(read_back(state).votes[1].sequence, 0u);
  state.votes[1].signature = "ed25519:x";  // its decision is in the same commit
  EXPECT_EQ(read_back(state).votes[1].sequence, 7u);
  state = {.votes = {{.by = "b", .signature = "ed25519:x", .sequence = 5}}};
  EXPECT_EQ(read_back(state).votes[0].sequence, 5u);
  EXPECT_EQ(read_back(state).votes[0].proof(), "ed25519:x");
}

// AP-10 AP-11
TEST(ApprovalStateTest, EachPersonCountsOnceAndARefusalEndsIt) {
  ApprovalState state{.required = 2, .votes = {yes("a"), yes("a")}};
  EXPECT_EQ(state.folded(), std::nullopt);
  EXPECT_EQ(state.counted(), std::vector{yes("a")});
  state.votes.push_back(yes("b"));
  EXPECT_EQ(state.folded(), ApprovalStatus::Approved);
  EXPECT_EQ(state.counted(), (std::vector{yes("a"), yes("b")}));
  const Vote no{.by = "c"};
  state.votes.insert(state.votes.begin() + 1, no);
  EXPECT_EQ(state.folded(), ApprovalStatus::Denied);
  EXPECT_EQ(state.counted(), std::vector{no});
}

// RU-19
TEST(ApprovalStateTest, OnlyAnOpenQuestionPassesOnAndOnlyInItsTime) {
  const WallTime now = test::TestClock().wall();
  ApprovalState state{.later = {{.at = now, .rule = "r", .to = {"user:bo"}}}};
  EXPECT_FALSE(state.passes_on(now - seconds(1)));
  EXPECT_TRUE(state.passes_on(now));
  state.status = ApprovalStatus::Approved;
  EXPECT_FALSE(state.passes_on(now));
}

// The fact holds a name without a key as a digest; the name is read from the answer's entry.
TEST(ApprovalStateTest, ANameIsFoundAgainInItsEntryAndOnlyIfItIsTheSame) {
  test::FakeRecorder recorder;
  const auto stored = [&](const char* reviewer) {
    recorder.written = {Draft{}, {.kind = Kind::Approval, .body = {{"reviewer", reviewer}}}};
    const ApprovalState state{.votes = {{.by = "user:ada", .sequence = 1, .approved = true}}};
    EXPECT_EQ(state.text().find("user:ada"), std::string::npos);
    std::vector<Draft> drafts(1);
    drafts[0].facts.push_back(state.fact("apr"));
    EXPECT_TRUE(test::run_now(recorder.append(std::move(drafts), Urgency::Reports, {})));
    return approval_state(recorder, "apr").value()->votes.at(0).by;
  };
  EXPECT_EQ(stored("user:ada"), "user:ada");
  EXPECT_TRUE(stored("[REDACTED:name]").starts_with("digest:"));
}

}  // namespace
}  // namespace sallyport::core
