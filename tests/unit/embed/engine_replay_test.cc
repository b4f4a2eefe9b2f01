// A dispatch that is made again from its record: no approval is requested, nothing runs.
#include "engine_setup.h"
#include "support/temp_folder.h"

namespace sallyport::test {
namespace {

using Strings = std::vector<std::string>;

constexpr const char* kEvent = "evt-7";

Call set_off(std::string tool, int n, std::string event = kEvent) {
  Call call = call_of(std::move(tool), {}, {{"n", n}});
  call.trigger_id = std::move(event);
  return call;
}

class EngineReplayTest : public testing::Test {
 protected:
  // An approver who says yes to even numbers.
  void open(const std::string& policy = {}) {
    engine_.reset();
    EngineBuilder builder(folder_ / "data");
    builder.tool(act_.tool())
        .tool(look_.tool())
        .approver([this](const Question& question) -> Result<Reply> {
          ++asked_;
          ids_.push_back(question.approval_id);
          if (question.input.at("n").as_int64() % 2 == 0) return Reply::approve(kPerson);
          return Reply::deny(kPerson, "odd");
        });
    if (!policy.empty()) builder.policy(policy);
    engine_ = opened(builder);
  }

  Answer call(Call call, CallOptions options = {}) {
    Result<Answer> answer = engine_->call(std::move(call), std::move(options));
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? *answer : Answer{};
  }
  Answer again(Replay& replay, Call call) {
    Result<Answer> answer = replay.call(std::move(call));
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? *answer : Answer{};
  }
  std::unique_ptr<Replay> replay(std::string event = kEvent) {
    return std::move(*engine_->replay(std::move(event)));
  }

  TempFolder folder_;
  CountedTool act_{"act", kActs};
  CountedTool look_{"look", kLooks};
  int asked_ = 0;
  Strings ids_;
  std::unique_ptr<Engine> engine_;
};

// AP-23
TEST_F(EngineReplayTest, WhatIsAskedIsNamedAfterTheEventAndCounted) {
  open();
  EXPECT_EQ(call(set_off("act", 2)).approval_id, "hitl_approval_evt-7_1");
  EXPECT_EQ(call(set_off("act", 4)).approval_id, "hitl_approval_evt-7_2");
  EXPECT_EQ(call(set_off("act", 6, "other:event.1")).approval_id, "hitl_approval_other:event.1_1");
  open();
  EXPECT_EQ(call(set_off("act", 8)).approval_id, "hitl_approval_evt-7_3");
  EXPECT_TRUE(call(call_of("act", {}, {{"n", 2}})).approval_id.starts_with("apr_"));
  open("version: 1\napprovals: {dual_control: [act]}\n");
  EXPECT_EQ(call(set_off("act", 2), {.hold = false}).approval_id, "hitl_dual_control_evt-7_1");
  EXPECT_EQ(ids_.front(), "hitl_approval_evt-7_1");
}

// AP-23
TEST_F(EngineReplayTest, AnEventWhoseIdDoesNotFitAnIdSetsNothingOff) {
  open();
  for (const std::string bad : {"a b", "a/b", "é", "../x"}) {
    const Result<Answer> answer = engine_->call(set_off("act", 2, bad));
    ASSERT_FALSE(answer) << bad;
    EXPECT_EQ(answer.error().where, "trigger_id");
    EXPECT_FALSE(engine_->replay(bad));
  }
  // Ids of questions, facts and notices would have shown it.
  const Result<Answer> secret =
      engine_->call(set_off("act", 2, "ghp_" + std::string(35, 'a') + "1"));
  ASSERT_FALSE(secret);
  EXPECT_EQ(secret.error().code, ErrorCode::InvalidInput);
  EXPECT_EQ(secret.error().where, "trigger_id");
  EXPECT_EQ(secret.error().message.find("ghp_"), std::string::npos);
  EXPECT_FALSE(engine_->call(set_off("act", 2, std::string(129, 'a'))));
  EXPECT_FALSE(engine_->replay(""));
  EXPECT_EQ(act_.runs(), 0);
}

// AP-24
TEST_F(EngineReplayTest, EachCallGetsWhatItGotThenAndNobodyIsAskedAndNothingRuns) {
  open();
  EXPECT_EQ(call(set_off("act", 2)).result.output, "act ran");
  EXPECT_EQ(call(set_off("act", 3)).outcome, Outcome::blocked("odd"));
  EXPECT_EQ(call(set_off("look", 1)).result.output, "look ran");
  open();  // also after a restart
  asked_ = 0;
  const auto replayed = replay();
  const Answer yes = again(*replayed, set_off("act", 2));
  EXPECT_EQ(yes.outcome.kind, Outcome::Kind::Replayed);
  EXPECT_EQ(yes.result.output, "act ran");
  EXPECT_EQ(yes.approval_id, "hitl_approval_evt-7_1");
  EXPECT_EQ(again(*replayed, set_off("act", 3)).outcome, Outcome::blocked("odd"));
  EXPECT_EQ(again(*replayed, set_off("look", 1)).result.output, "look ran");
  EXPECT_EQ(asked_, 0);
  EXPECT_EQ(act_.runs(), 1);
  EXPECT_EQ(look_.runs(), 1);
  EXPECT_EQ(outcomes_of(*engine_, {.call_id = yes.call_id}), Strings{"replayed"});
}

// AP-24: identical calls are distinguished by their number, and a replay is none of them.
TEST_F(EngineReplayTest, AReplayCanBeMadeAgainAndCountsEqualCallsOnce) {
  open();
  call(set_off("act", 2));
  call(set_off("act", 2));
  for (int i = 0; i < 2; ++i) {
    const auto replayed = replay();
    EXPECT_EQ(again(*replayed, set_off("act", 2)).approval_id, "hitl_approval_evt-7_1");
    EXPECT_EQ(again(*replayed, set_off("act", 2)).approval_id, "hitl_approval_evt-7_2");
    EXPECT_TRUE(
        again(*replayed, set_off("act", 2)).outcome.text.starts_with("replay_missing_answer"));
  }
  EXPECT_EQ(act_.runs(), 2);
}

// AP-24
TEST_F(EngineReplayTest, WhatWasNotAnsweredOrNotMadeIsMissing) {
  open("version: 1\napprovals: {deadline_s: 100}\n");
  call(set_off("act", 4), {.hold = false});
  call(set_off("act", 2));
  const auto replayed = replay();
  const std::string missing = again(*replayed, set_off("act", 4)).outcome.text;
  EXPECT_TRUE(missing.starts_with("replay_missing_answer: ")) << missing;
  EXPECT_TRUE(
      again(*replayed, set_off("act", 6)).outcome.text.starts_with("replay_missing_answer"));
  const std::string unmade = again(*replayed, set_off("look", 1)).outcome.text;
  EXPECT_TRUE(unmade.starts_with("replay_missing_result: ")) << unmade;
  EXPECT_TRUE(
      again(*replay("evt-8"), set_off("act", 2)).outcome.text.starts_with("replay_missing_answer"));
  EXPECT_EQ(act_.runs(), 1);
  EXPECT_EQ(look_.runs(), 0);
}

// AP-24: content that may no longer be seen is not shown because it was visible once.
TEST_F(EngineReplayTest, ThePolicyOfNowDecidesAboutAReplayToo) {
  open();
  call(set_off("act", 2));
  call(set_off("look", 2));
  open(
      "version: 1\nguardrails: {checks: [{type: blocklist, stage: tool_use, id: no, words: "
      "[\"2\"]}]}\nautonomy: {tier: shadow}\n");
  const auto replayed = replay();
  const Answer shadow = again(*replayed, set_off("act", 2));
  EXPECT_EQ(shadow.outcome.kind, Outcome::Kind::Blocked);
  EXPECT_EQ(shadow.released.kind,
            shadow.result.success ? Envelope::Kind::Value : Envelope::Kind::Error);
  EXPECT_NE(shadow.result.output, "act ran");
  EXPECT_EQ(act_.runs(), 1);
}

// AP-24: a turn that paused, and calls that another program executed.
TEST_F(EngineReplayTest, CallsThatWaitedOrWereHandedOutAreFoundToo) {
  open();
  Call waits = set_off("act", 2);
  waits.tool_call_id = "t-2";
  const Result<TurnEnd> paused = engine_->run_turn({.session_id = kSession}, {waits});
  ASSERT_TRUE(paused && paused->paused);
  EXPECT_EQ(paused->approval_id, "hitl_approval_evt-7_1");
  ASSERT_TRUE(engine_->answer(paused->approval_id, Reply::approve(kPerson)));
  ASSERT_TRUE(engine_->resume_turn(*paused->paused, kSession));
  Call elsewhere = set_off("look", 5);
  elsewhere.tool_call_id = "t-5";
  const Result<HandedOut> given = engine_->hand_out({.session_id = kSession}, {elsewhere});
  ASSERT_TRUE(given);
  ASSERT_TRUE(engine_->submit({.continuation = given->hand_off.continuation,
                               .results = {{"t-5", {.success = true, .output = "seen there"}}}},
                              kSession));
  const auto replayed = replay();
  EXPECT_EQ(again(*replayed, set_off("act", 2)).result.output, "act ran");
  EXPECT_EQ(again(*replayed, set_off("look", 5)).result.output, "seen there");
  EXPECT_EQ(act_.runs(), 1);
  EXPECT_EQ(look_.runs(), 0);
}

}  // namespace
}  // namespace sallyport::test
