// Turns that pause for approval and continue, in the same process or in the next one.
#include "engine_setup.h"
#include "support/temp_folder.h"

namespace sallyport::test {
namespace {

using Strings = std::vector<std::string>;

Strings outputs_of(const TurnEnd& end) {
  Strings outputs;
  for (const CallResult& one : end.results) {
    outputs.push_back(one.tool_call_id + ": " + one.result.output);
  }
  return outputs;
}

// One folder whose engine can be closed and opened again.
class EngineTurnTest : public testing::Test {
 protected:
  EngineTurnTest() { restart(); }

  void restart() {
    engine_.reset();
    EngineBuilder builder(folder_ / "data");
    builder.tool(look_.tool()).tool(act_.tool()).approval_time(approval_time_);
    builder.guard("closing", [this](const Call& call, const GuardView&) -> Result<Verdict> {
      if (call.tool == "act" && closed_) return Verdict::deny("closed now");
      return Verdict::allow();
    });
    engine_ = opened(builder);
  }

  static Continuation::Payload frame() { return {.session_id = kSession, .turn = 3}; }

  // A read, an action that needs approval, and another read.
  TurnEnd paused() {
    Result<TurnEnd> end = engine_->run_turn(
        frame(), {call_of("look", "t-1"), call_of("act", "t-2"), call_of("look", "t-3")});
    if (end && end->paused) return std::move(*end);
    ADD_FAILURE() << (end ? "not paused" : end.error().message);
    std::abort();
  }

  std::string cause_of(const Continuation& continuation, const std::string& session = kSession) {
    const Result<TurnEnd> end = engine_->resume_turn(continuation, session);
    return end ? "none" : end.error().cause;
  }

  TempFolder folder_;
  CountedTool look_{"look", kLooks};
  CountedTool act_{"act", kActs};
  std::chrono::seconds approval_time_{600};
  bool closed_ = false;
  std::unique_ptr<Engine> engine_;
};

// AU-69 (partly) AU-43 (partly)
TEST_F(EngineTurnTest, ATurnWithoutQuestionsEndsWithTheResultsInTheOrderOfItsCalls) {
  const Result<TurnEnd> end =
      engine_->run_turn(frame(), {call_of("look", "t-1"), call_of("unknown", "t-2")});
  ASSERT_TRUE(end);
  EXPECT_FALSE(end->paused);
  EXPECT_EQ(outputs_of(*end), (Strings{"t-1: look ran", "t-2: Blocked: unknown tool `unknown`"}));
  EXPECT_EQ(engine_->records()->front().turn, 3u);
}

// AU-69 (partly) AU-70 (partly) AU-72 (partly) AU-74 (partly)
TEST_F(EngineTurnTest, APausedTurnGoesOnAfterAYesAndRunsEachCallOnce) {
  const TurnEnd waits = paused();
  EXPECT_EQ(outputs_of(waits), (Strings{"t-1: look ran"}));
  EXPECT_EQ(waits.paused->payload.awaiting_index, 1u);
  EXPECT_EQ(ids_of(waits.paused->payload.pending_tool_calls), (Strings{"t-1", "t-2", "t-3"}));
  ASSERT_TRUE(engine_->answer(waits.approval_id, Reply::approve(kPerson)));
  const Result<TurnEnd> end = engine_->resume_turn(*waits.paused, kSession);
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(outputs_of(*end), (Strings{"t-1: look ran", "t-2: act ran", "t-3: look ran"}));
  EXPECT_EQ(act_.runs(), 1);
  EXPECT_EQ(look_.runs(), 2);
  EXPECT_EQ(outcomes_of(*engine_, {.tool = "act"}),
            (Strings{"requires_confirmation", "completed"}));
}

// AU-69 (partly) AU-75
TEST_F(EngineTurnTest, AWaitingTurnSurvivesARestartBeforeAndAfterTheAnswer) {
  const TurnEnd waits = paused();
  restart();
  EXPECT_EQ(cause_of(*waits.paused), "approval_pending");
  ASSERT_TRUE(engine_->answer(waits.approval_id, Reply::approve(kPerson)));
  restart();
  const Result<TurnEnd> end = engine_->resume_turn(*waits.paused, kSession);
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(outputs_of(*end), (Strings{"t-1: look ran", "t-2: act ran", "t-3: look ran"}));
  EXPECT_EQ(act_.runs(), 1);
  restart();
  EXPECT_EQ(cause_of(*waits.paused), "already_resumed");
  EXPECT_EQ(act_.runs(), 1);
}

// AU-69 (partly)
TEST_F(EngineTurnTest, AContinuationThatTravelledAsTextIsStillTheSame) {
  const TurnEnd waits = paused();
  const std::string text = canonical_json(to_json(*waits.paused));
  const Result<Continuation> back = continuation_from_text(text);
  ASSERT_TRUE(back) << back.error().message;
  ASSERT_TRUE(engine_->answer(waits.approval_id, Reply::approve(kPerson)));
  EXPECT_TRUE(engine_->resume_turn(*back, kSession));
}

// AU-71 (partly)
TEST_F(EngineTurnTest, TheFirstThingThatIsWrongIsTheErrorAndNothingRuns) {
  const TurnEnd waits = paused();
  Continuation given = *waits.paused;
  given.version = 2;
  given.id = "con-none";
  given.payload.turn = 4;
  EXPECT_EQ(cause_of(given, "s-other"), "continuation_version");
  given.version = Continuation::kVersion;
  EXPECT_EQ(cause_of(given, "s-other"), "continuation_unknown");
  given.id = waits.paused->id;
  EXPECT_EQ(cause_of(given, "s-other"), "continuation_altered");
  given.payload = waits.paused->payload;
  EXPECT_EQ(cause_of(given, "s-other"), "session_mismatch");
  EXPECT_EQ(cause_of(given), "approval_pending");
  ASSERT_TRUE(engine_->answer(waits.approval_id, Reply::approve(kPerson)));
  EXPECT_EQ(act_.runs(), 0);
  EXPECT_EQ(cause_of(given), "none");
  EXPECT_EQ(cause_of(given), "already_resumed");
  EXPECT_EQ(act_.runs(), 1);
}

// AU-71 (partly)
TEST_F(EngineTurnTest, AHandOffIsNoTurnThatCouldBeResumed) {
  Continuation::Payload beyond = frame();
  beyond.awaiting_index = 1;
  const auto out_of_range = engine_->hand_out(beyond, {call_of("look", "t-8")});
  EXPECT_EQ(cause_of(out_of_range->hand_off.continuation), "index_out_of_range");
  const auto other = engine_->hand_out(frame(), {call_of("look", "t-9")});
  EXPECT_EQ(cause_of(other->hand_off.continuation), "tool_call_mismatch");
  EXPECT_EQ(look_.runs(), 0);
}

// AU-73 (partly) AU-74 (partly)
TEST_F(EngineTurnTest, ARejectionIsTheResultOfItsCallAndTheTurnGoesOn) {
  for (const auto& [reason, output] : {std::pair("too risky", "t-2: Blocked: too risky"),
                                       std::pair("", "t-2: Blocked: rejected")}) {
    restart();
    const TurnEnd waits = paused();
    ASSERT_TRUE(engine_->answer(waits.approval_id, Reply::deny(kPerson, reason)));
    const Result<TurnEnd> end = engine_->resume_turn(*waits.paused, kSession);
    ASSERT_TRUE(end);
    EXPECT_EQ(outputs_of(*end)[1], output);
    EXPECT_EQ(end->results.size(), 3u);
  }
  EXPECT_EQ(act_.runs(), 0);
}

// AU-72 (partly)
TEST_F(EngineTurnTest, AnApprovedCallIsDecidedAgainAndMayBeDeniedNow) {
  const TurnEnd waits = paused();
  ASSERT_TRUE(engine_->answer(waits.approval_id, Reply::approve(kPerson)));
  closed_ = true;
  const Result<TurnEnd> end = engine_->resume_turn(*waits.paused, kSession);
  ASSERT_TRUE(end);
  EXPECT_EQ(outputs_of(*end)[1], "t-2: Blocked: closed now");
  EXPECT_EQ(outcomes_of(*engine_, {.tool = "act"}), (Strings{"requires_confirmation", "blocked"}));
  EXPECT_EQ(act_.runs(), 0);
}

// AU-74 (partly)
TEST_F(EngineTurnTest, AnotherSiblingMayPauseTheSameTurn) {
  const Result<TurnEnd> first =
      engine_->run_turn(frame(), {call_of("act", "t-1"), call_of("act", "t-2", {{"n", 2}})});
  ASSERT_TRUE(first && first->paused);
  ASSERT_TRUE(engine_->answer(first->approval_id, Reply::approve(kPerson)));
  const Result<TurnEnd> second = engine_->resume_turn(*first->paused, kSession);
  ASSERT_TRUE(second && second->paused);
  EXPECT_EQ(outputs_of(*second), (Strings{"t-1: act ran"}));
  ASSERT_TRUE(engine_->answer(second->approval_id, Reply::approve(kPerson)));
  const Result<TurnEnd> end = engine_->resume_turn(*second->paused, kSession);
  ASSERT_TRUE(end);
  EXPECT_EQ(outputs_of(*end), (Strings{"t-1: act ran", "t-2: act ran"}));
  EXPECT_EQ(act_.runs(), 2);
}

// AU-80 (partly) AU-79 (partly) AU-75 (partly)
TEST(EnginePreparedTurnTest, AfterARestartOnlyAPreparedOperationThatIsStillThereCanBeExecuted) {
  for (const bool outlives : {false, true}) {
    const TempFolder folder;
    const CountedTool counted("transfer", kActs);
    Tool transfer = counted.tool();
    transfer.prepare = [](const Call&) -> Result<Prepared> {
      return Prepared{"op-7", 1, {{"fee", 2}}, {}};
    };
    transfer.outlives_process = outlives;
    Result<TurnEnd> waits = fail(ErrorCode::Internal, "");
    {
      const auto engine = opened(EngineBuilder(folder / "data").tool(transfer));
      waits = engine->run_turn({.session_id = kSession}, {call_of("transfer", "t-1")});
      ASSERT_TRUE(waits && waits->paused);
    }
    const auto engine = opened(EngineBuilder(folder / "data").tool(transfer));
    EXPECT_EQ(bool(engine->answer(waits->approval_id, Reply::approve(kPerson))), outlives);
    EXPECT_EQ(bool(engine->resume_turn(*waits->paused, kSession)), outlives);
    EXPECT_EQ(counted.runs(), outlives ? 1 : 0);
    EXPECT_EQ(outcomes_of(*engine).back(), outlives ? "completed" : "invalidated");
  }
}

// AU-53 (partly) AU-69 (partly) AU-4 (partly)
TEST_F(EngineTurnTest, CallsOfAPausedTurnHaveTheTierOfTheirTools) {
  const Continuation continuation = *paused().paused;
  std::vector<Tier> tiers;
  for (const PendingCall& call : continuation.payload.pending_tool_calls) {
    tiers.push_back(call.tier);
  }
  EXPECT_EQ(tiers, (std::vector{Tier::Observe, Tier::Confirm, Tier::Observe}));
}

// A bug: such a turn could not be resumed.
// AU-8 (partly)
TEST_F(EngineTurnTest, ACallWithoutAnIdOfItsOwnGoesByItsCallIdAndCanBeResumed) {
  const Result<TurnEnd> waits = engine_->run_turn(frame(), {call_of("look"), call_of("act")});
  ASSERT_TRUE(waits && waits->paused);
  ASSERT_TRUE(engine_->answer(waits->approval_id, Reply::approve(kPerson)));
  restart();
  const Result<TurnEnd> end = engine_->resume_turn(*waits->paused, kSession);
  ASSERT_TRUE(end) << end.error().message;
  const auto records = engine_->records({.terminal = true});
  ASSERT_EQ(records->size(), 2u);
  EXPECT_EQ(outputs_of(*end),
            (Strings{(*records)[0].call_id + ": look ran", (*records)[1].call_id + ": act ran"}));
}

TEST_F(EngineTurnTest, ATurnWithSomethingThatIsNoCallDoesNotBegin) {
  const Result<TurnEnd> end = engine_->run_turn(
      frame(), {call_of("look", "t-1"), call_of("look", "t-2", json::value("\xff"))});
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().where, "input");
  EXPECT_EQ(look_.runs(), 0);
}

}  // namespace
}  // namespace sallyport::test
