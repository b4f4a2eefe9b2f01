#include "trust/score.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "trust/tally.h"
#include "trust/trust_query.h"

namespace sallyport::trust {
namespace {

TrustRecord record(Outcome outcome, std::string enforcement = "auto",
                   std::string time = "2026-11-15T02:00:00Z") {
  return {.record_id = "r",
          .agent = "bot",
          .action = "fs.write",
          .outcome = outcome,
          .trace_id = "t",
          .timestamp = std::move(time),
          .metadata = {{"autonomy.enforcement", std::move(enforcement)}}};
}

TrustRecord promotion() {
  TrustRecord change = record(Outcome::Success);
  change.action = "trust.promote";
  change.metadata = {{"control", true}};
  return change;
}

TrustScore score_of(const std::vector<TrustRecord>& records, Autonomy tier = Autonomy::ActAuto) {
  ScoreKeeper keeper("bot");
  for (const TrustRecord& one : records) keeper.take(one);
  return keeper.score(tier);
}

// TR-9
TEST(ScoreTest, AScoreHasTheseMembers) {
  EXPECT_EQ(canonical_json(to_json(
                score_of({record(Outcome::Success), record(Outcome::Timeout, "approval_timeout")},
                         Autonomy::ActWithApproval))),
            R"({"action":null,"agent":"bot","denied":0,"effective_tier":"act_with_approval",)"
            R"("failures":0,"latest_outcome":"timeout","latest_timestamp":"2026-11-15T02:00:00Z",)"
            R"("policy":{"side_effect_level":"read_only"},"success_rate":0.5,"successes":1,)"
            R"("timeouts":1,"total":2,"withheld":0})");
}

// The sums of an agent once shrank when old records were pruned, while its live calls were weighed
// by all of them.
// TR-9, TR-12
TEST(ScoreTest, RecordsThatWerePrunedStillCount) {
  const Tally whole{
      .successes = 3, .failures = 4, .denied = 1, .timeouts = 0, .latest = Outcome::Success};
  ScoreKeeper keeper("bot");
  keeper.take(record(Outcome::Success));
  keeper.take(promotion());
  keeper.take_whole(whole);
  const TrustScore score = keeper.score(Autonomy::ActAuto);
  EXPECT_EQ(score.total, 9u);
  EXPECT_EQ(score.successes, 3u);
  EXPECT_EQ(score.failures, 4u);
  EXPECT_EQ(score.success_rate, 3.0 / 8);
  EXPECT_EQ(score.level, whole.level(Autonomy::ActAuto));
  keeper.take_whole(Tally{.successes = 1, .latest = Outcome::Success});
  EXPECT_EQ(keeper.score(Autonomy::ActAuto).total, 9u) << "fewer counts change nothing";
  ScoreKeeper of_action("bot", "fs.write");
  of_action.take(record(Outcome::Success));
  of_action.take_whole(whole);
  EXPECT_EQ(of_action.score(Autonomy::ActAuto).total, 1u) << "the counts are of all actions";
}

// TR-10
TEST(ScoreTest, ControlAndWithheldRecordsDoNotCount) {
  const TrustScore score =
      score_of({record(Outcome::Success), record(Outcome::Denied, "shadow_noop"),
                record(Outcome::Denied, "suggest_approval_request"), promotion()});
  EXPECT_EQ(score.total, 4u);
  EXPECT_EQ(score.withheld, 2u);
  EXPECT_EQ(score.denied, 0u);
  EXPECT_EQ(score.success_rate, 1.0);
  EXPECT_EQ(score.latest_outcome, Outcome::Success);
  const TrustScore none = score_of({record(Outcome::Denied, "shadow_noop"), promotion()});
  EXPECT_EQ(none.success_rate, std::nullopt);
  EXPECT_EQ(none.latest_outcome, std::nullopt);
  EXPECT_TRUE(to_json(none).at("success_rate").is_null());
}

// TR-10 (partly)
TEST(ScoreTest, OtherAgentsAndActionsArePassedOver) {
  TrustRecord other = record(Outcome::Failure);
  other.agent = "other";
  TrustRecord elsewhere = record(Outcome::Failure);
  elsewhere.action = "fs.delete";
  ScoreKeeper keeper("bot", "fs.write");
  for (const TrustRecord& one : {other, elsewhere, record(Outcome::Success)}) keeper.take(one);
  EXPECT_EQ(keeper.score(Autonomy::ActAuto).total, 1u);
  EXPECT_EQ(keeper.score(Autonomy::ActAuto).successes, 1u);
}

// TR-11
TEST(ScoreTest, LevelsAreFiveWordsInOrder) {
  using enum SideEffectLevel;
  const std::pair<SideEffectLevel, const char*> levels[] = {{None, "none"},
                                                            {ReadOnly, "read_only"},
                                                            {WorkspaceWrite, "workspace_write"},
                                                            {ProcessExec, "process_exec"},
                                                            {Network, "network"}};
  SideEffectLevel last = None;
  for (const auto& [level, word] : levels) {
    EXPECT_EQ(to_string(level), word);
    EXPECT_GE(level, last);
    last = level;
  }
}

// TR-12 TR-14
TEST(ScoreTest, TheLevelFollowsTheTierAndIsOnlyLoweredByCounting) {
  const std::vector<TrustRecord> good(50, record(Outcome::Success));
  EXPECT_EQ(score_of(good, Autonomy::Shadow).level, SideEffectLevel::None);
  EXPECT_EQ(score_of(good, Autonomy::Suggest).level, SideEffectLevel::ReadOnly);
  EXPECT_EQ(score_of(good, Autonomy::ActWithApproval).level, SideEffectLevel::ReadOnly);
  EXPECT_EQ(score_of(good, Autonomy::ActAuto).level, SideEffectLevel::Network);
  EXPECT_EQ(score_of({}, Autonomy::ActAuto).level, SideEffectLevel::Network);
  EXPECT_EQ(score_of({record(Outcome::Success), record(Outcome::Failure)}).level,
            SideEffectLevel::ReadOnly);
  EXPECT_EQ(score_of({record(Outcome::Failure)}, Autonomy::Shadow).level, SideEffectLevel::None);
  // Two of five are below one half, though the last one succeeded; one of two is too few to decide.
  const auto s = record(Outcome::Success);
  const auto f = record(Outcome::Failure);
  EXPECT_EQ(score_of({f, f, f, s, s}).level, SideEffectLevel::ReadOnly);
  EXPECT_EQ(score_of({f, f, s, s}).level, SideEffectLevel::Network);
  EXPECT_EQ(score_of({f, s}).level, SideEffectLevel::Network);
}

// TR-13 (partly)
TEST(ScoreTest, AnEnforcedLevelCapsSideEffects) {
  EXPECT_EQ(tier_cap(SideEffectLevel::None), Autonomy::Shadow);
  EXPECT_EQ(tier_cap(SideEffectLevel::ReadOnly), Autonomy::ActWithApproval);
  EXPECT_EQ(tier_cap(SideEffectLevel::Network), std::nullopt);
}

// TR-12 TR-13 (partly)
TEST(TallyTest, CountsGiveTheLevelOfTheScore) {
  Tally tally;
  EXPECT_EQ(tally.level(Autonomy::ActAuto), SideEffectLevel::Network);
  EXPECT_EQ(Tally::parse(tally.text()), tally);
  for (const Outcome outcome : {Outcome::Failure, Outcome::Denied, Outcome::Success}) {
    tally.take(outcome);
  }
  EXPECT_EQ(tally.level(Autonomy::ActAuto), SideEffectLevel::ReadOnly);
  EXPECT_EQ(Tally::parse(tally.text()), tally);
  tally.take(Outcome::Success);
  EXPECT_EQ(tally.level(Autonomy::ActAuto), SideEffectLevel::Network);
  tally.take(Outcome::Timeout);
  EXPECT_EQ(tally.level(Autonomy::ActAuto), SideEffectLevel::ReadOnly);
  for (const char* text : {"x", "1 2 3 4", "1 2 3 4 king", "1 2 3 success", "-1 0 0 0 denied"}) {
    EXPECT_EQ(Tally::parse(text).error().code, ErrorCode::Corrupt) << text;
  }
}

// TR-10 (partly)
TEST(TallyTest, WhatDoesNotCountChangesNoCounts) {
  EXPECT_EQ(count_in(promotion()), nullptr);
  EXPECT_EQ(count_in(record(Outcome::Denied, "shadow_noop")), nullptr);
  EXPECT_NE(count_in(record(Outcome::Denied, "approval_denied")), nullptr);
}

// TR-19
TEST(TrustQueryTest, FiltersJoinAndTheNewestAreKeptOldestFirst) {
  std::vector<TrustRecord> all;
  for (int i = 0; i < 6; ++i) {
    TrustRecord one = record(i % 2 == 0 ? Outcome::Success : Outcome::Denied, "auto",
                             "2026-11-15T02:00:0" + std::to_string(i) + "Z");
    one.trace_id = i < 3 ? "t1" : "t2";
    one.agent = i == 5 ? "other" : "bot";
    one.autonomy_tier = i < 4 ? Autonomy::Suggest : Autonomy::ActAuto;
    all.push_back(one);
  }
  const auto times = [&](TrustQuery query) {
    TrustSelection selection(std::move(query));
    for (const TrustRecord& one : all) selection.take(one);
    std::string seconds;
    for (const TrustRecord& one : std::move(selection).records()) seconds += one.timestamp[18];
    return seconds;
  };
  EXPECT_EQ(times({}), "012345");
  EXPECT_EQ(times({.agent = "bot", .limit = 2}), "34");
  EXPECT_EQ(times({.outcome = Outcome::Denied}), "135");
  EXPECT_EQ(times({.tier = Autonomy::ActAuto}), "45");
  EXPECT_EQ(times({.action = "fs.delete"}), "");
  EXPECT_EQ(times({.since = from_rfc3339("2026-11-15T02:00:02Z"),
                   .until = from_rfc3339("2026-11-15T02:00:04Z")}),
            "23");
  EXPECT_EQ(times({.since = from_rfc3339("2026-11-15T02:00:04Z")}), "45");
  EXPECT_EQ(times({.until = from_rfc3339("2026-11-15T02:00:02Z")}), "01");
  EXPECT_EQ(times({.action = "fs.write", .limit = 1}), "5");
  all[5].timestamp = "some day in the past";
  EXPECT_EQ(times({.since = from_rfc3339("2026-11-15T02:00:04Z")}), "4");
  EXPECT_EQ(times({.limit = 0}), "");
  const std::vector<TrustTrace> traces = by_trace(all);
  ASSERT_EQ(traces.size(), 2u);
  EXPECT_EQ(traces[0].trace_id, "t1");
  EXPECT_EQ(traces[1].records.size(), 3u);
}

}  // namespace
}  // namespace sallyport::trust
