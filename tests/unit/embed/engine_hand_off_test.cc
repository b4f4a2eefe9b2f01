// Calls that are decided here and executed by another program.
#include <algorithm>

#include "engine_setup.h"
#include "support/temp_folder.h"

namespace sallyport::test {
namespace {

using Strings = std::vector<std::string>;

CallResult result_of(std::string id, std::string output, bool success = true) {
  return {std::move(id), {.success = success, .output = std::move(output)}};
}

class EngineHandOffTest : public testing::Test {
 protected:
  EngineHandOffTest() { restart(); }

  void restart() {
    engine_.reset();
    EngineBuilder builder(folder_ / "data");
    builder.tool(act_.tool()).autonomy(Autonomy::ActAuto);
    builder.guard("ceiling", [](const Call& call, const GuardView&) -> Result<Verdict> {
      if (call.input.as_object().contains("large")) return Verdict::deny("too large");
      return Verdict::allow();
    });
    builder.output_sanitizer();
    engine_ = opened(builder);
  }

  HandedOut handed_out(std::vector<Call> calls,
                       std::chrono::seconds within = std::chrono::hours(24)) {
    Result<HandedOut> given = engine_->hand_out({.session_id = kSession}, std::move(calls), within);
    if (given) return std::move(*given);
    ADD_FAILURE() << given.error().message;
    std::abort();
  }
  HandedOut two() { return handed_out({call_of("act", "t-1"), call_of("act", "t-2")}); }

  Error refusal_of(const Submission& submission) {
    const auto answers = engine_->submit(submission, kSession);
    if (!answers) return answers.error();
    ADD_FAILURE() << "it was taken";
    return {};
  }

  TempFolder folder_;
  CountedTool act_{"act", kActs};
  std::unique_ptr<Engine> engine_;
};

// AU-52 (partly) AU-53 (partly)
TEST_F(EngineHandOffTest, WhatIsRefusedIsAnsweredAndOnlyTheRestIsHandedOut) {
  const HandedOut given =
      handed_out({call_of("act", "t-1", {{"large", true}}), call_of("act", "t-2", {{"n", 2}})});
  ASSERT_EQ(given.answered.size(), 1u);
  EXPECT_EQ(given.answered[0].result.output, "Blocked: too large");
  ASSERT_EQ(given.hand_off.tool_calls.size(), 1u);
  const PendingCall& call = given.hand_off.tool_calls[0];
  EXPECT_EQ(call.id, "t-2");
  EXPECT_EQ(call.name, "act");
  EXPECT_EQ(call.tier, Tier::Confirm);
  EXPECT_EQ(call.effective_input, json::value({{"n", 2}}));
  EXPECT_EQ(given.hand_off.continuation.payload.pending_tool_calls, given.hand_off.tool_calls);
  EXPECT_EQ(outcomes_of(*engine_), (Strings{"blocked"})) << "the other has not ended";
  EXPECT_EQ(act_.runs(), 0);
}

// AU-54 (partly) AU-56 (partly) AU-57 (partly)
TEST_F(EngineHandOffTest, ResultsPassTheSecondDoorAndAreCompletedOnceAlsoAfterARestart) {
  const HandedOut given = two();
  restart();
  const auto answers = engine_->submit(
      {given.hand_off.continuation,
       {result_of("t-2", "key AKIAIOSFODNN7EXAMPLE"), result_of("t-1", "no such account", false)}},
      kSession);
  ASSERT_TRUE(answers) << answers.error().message;
  ASSERT_EQ(answers->size(), 2u);
  EXPECT_EQ((*answers)[0].result.output, "no such account");
  EXPECT_FALSE((*answers)[0].result.success);
  EXPECT_EQ((*answers)[1].result.output.find("AKIA"), std::string::npos);
  const auto records = engine_->records();
  ASSERT_EQ(records->size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ((*records)[i].outcome.kind, Outcome::Kind::Completed);
    EXPECT_EQ((*records)[i].effect_state, EffectState::Done);
    EXPECT_EQ((*records)[i].call_id, (*answers)[i].call_id);
    EXPECT_EQ((*records)[i].sequence, (*answers)[i].sequence);
  }
  EXPECT_EQ(act_.runs(), 0);
}

// Documents of a submitted result were once lost. AU-54 (partly) AU-56 (partly) AU-59
// (partly)
TEST_F(EngineHandOffTest, DocumentsPassTheSecondDoorWithTheRestAndComeBackAlsoAfterARestart) {
  const HandedOut given = two();
  CallResult good = result_of("t-1", "a picture");
  good.result.data = {{"width", 3}};
  good.result.documents = {{"image/png", "iVBORw0KGgo=", "a.png"},
                           {"text/plain", "key AKIAIOSFODNN7EXAMPLE", std::nullopt}};
  CallResult bad = result_of("t-2", "no such page", false);
  bad.result.documents = {{"text/uri-list", "https://example.org/", std::nullopt}};
  const Submission submission{given.hand_off.continuation, {good, bad}};
  const auto first = engine_->submit(submission, kSession);
  ASSERT_TRUE(first) << first.error().message;
  restart();
  const auto again = engine_->submit(submission, kSession);
  ASSERT_TRUE(again) << again.error().message;
  for (const auto& answers : {*first, *again}) {
    const ToolResult& picture = answers[0].result;
    EXPECT_EQ(picture.output, "a picture");
    EXPECT_EQ(picture.data, json::value({{"width", 3}}));
    ASSERT_EQ(picture.documents.size(), 2u);
    EXPECT_EQ(picture.documents[0], good.result.documents[0]);
    EXPECT_EQ(picture.documents[1].data.find("AKIA"), std::string::npos);
    EXPECT_FALSE(answers[1].result.success);
    EXPECT_EQ(answers[1].result.output, "no such page");
    EXPECT_TRUE(answers[1].result.data.is_null());
    EXPECT_EQ(answers[1].result.documents, bad.result.documents);
  }
  for (const AuditRecord& record : *engine_->records()) {
    for (const GuardRun& run : record.guards) EXPECT_NE(run.guard, "external.payload_differs");
  }
}

// AU-55
TEST_F(EngineHandOffTest, AMissingUnknownOrRepeatedResultIsRefusedAndNothingIsMarked) {
  const HandedOut given = two();
  using Case = std::tuple<std::vector<CallResult>, std::string, std::string>;
  const CallResult one = result_of("t-1", "a");
  const CallResult two = result_of("t-2", "b");
  for (const auto& [results, cause, id] :
       {Case({one}, "missing_result", "t-2"), Case({}, "missing_result", "t-1"),
        Case({one, two, result_of("t-3", "c")}, "unknown_result", "t-3"),
        Case({one, one, two}, "duplicate_result", "t-1")}) {
    const Error error = refusal_of({given.hand_off.continuation, results});
    EXPECT_EQ(error.cause, cause);
    EXPECT_NE(error.message.find(id), std::string::npos) << error.message;
  }
  EXPECT_TRUE(outcomes_of(*engine_).empty());
  EXPECT_TRUE(engine_->submit({given.hand_off.continuation, {one, two}}, kSession));
}

TEST_F(EngineHandOffTest, AnotherSessionOrAnAlteredContinuationIsRefused) {
  const HandedOut given = two();
  const std::vector<CallResult> results{result_of("t-1", "a"), result_of("t-2", "b")};
  const auto elsewhere = engine_->submit({given.hand_off.continuation, results}, "s-other");
  ASSERT_FALSE(elsewhere);
  EXPECT_EQ(elsewhere.error().cause, "session_mismatch");
  Continuation altered = given.hand_off.continuation;
  altered.payload.pending_tool_calls.pop_back();
  EXPECT_EQ(refusal_of({altered, {results[0]}}).cause, "continuation_altered");
  EXPECT_TRUE(outcomes_of(*engine_).empty());
}

// AU-59 (partly) AU-26 (partly)
TEST_F(EngineHandOffTest, ALaterSubmissionIsReplayedWithTheFirstResultAlsoAfterARestart) {
  const HandedOut given = handed_out({call_of("act", "t-1")});
  const Continuation& continuation = given.hand_off.continuation;
  const auto first = engine_->submit({continuation, {result_of("t-1", "first")}}, kSession);
  ASSERT_TRUE(first);
  const auto same = engine_->submit({continuation, {result_of("t-1", "first")}}, kSession);
  ASSERT_TRUE(same);
  restart();
  const auto other = engine_->submit({continuation, {result_of("t-1", "other")}}, kSession);
  ASSERT_TRUE(other);
  for (const auto& answers : {*same, *other}) {
    EXPECT_EQ(answers[0].outcome.kind, Outcome::Kind::Replayed);
    EXPECT_EQ(answers[0].result.output, "first");
    EXPECT_NE(answers[0].call_id, (*first)[0].call_id);
  }
  const auto records = engine_->records();
  EXPECT_EQ(outcomes_of(*engine_), (Strings{"completed", "replayed", "replayed"}));
  const auto differs = [](const AuditRecord& record) {
    return std::ranges::any_of(
        record.guards, [](const GuardRun& run) { return run.guard == "external.payload_differs"; });
  };
  EXPECT_FALSE(differs((*records)[1]));
  EXPECT_TRUE(differs((*records)[2]));
}

// AU-60 (partly)
TEST_F(EngineHandOffTest, AHandOffThatNobodyAnswersInTimeIsInvalidatedByTheNextThatComes) {
  const HandedOut given = handed_out({call_of("act", "t-1")}, std::chrono::seconds(0));
  const Error late = refusal_of({given.hand_off.continuation, {result_of("t-1", "too late")}});
  EXPECT_FALSE(late.message.empty());
  const auto records = engine_->records();
  ASSERT_EQ(records->size(), 1u);
  EXPECT_EQ((*records)[0].outcome.kind, Outcome::Kind::Invalidated);
  EXPECT_EQ((*records)[0].effect_state, EffectState::Unknown);
}

// AU-60 (partly)
TEST_F(EngineHandOffTest, AHandOffThatExpiredWhileNobodyRanIsInvalidatedAtTheStart) {
  const HandedOut given = handed_out({call_of("act", "t-1")}, std::chrono::seconds(0));
  EXPECT_TRUE(outcomes_of(*engine_).empty());
  restart();
  EXPECT_EQ(outcomes_of(*engine_), (Strings{"invalidated"}));
  const Result<Answer> again = engine_->call(call_of("act", "t-1"));
  EXPECT_TRUE(again->outcome.text.starts_with("unknown outcome:")) << again->outcome.text;
}

// AU-77 (partly)
TEST_F(EngineHandOffTest, ACallThatWasHandedOutStaysOpenOverARestart) {
  const HandedOut given = handed_out({call_of("act", "t-1")});
  restart();
  EXPECT_TRUE(outcomes_of(*engine_).empty());
  const Result<Answer> again = engine_->call(call_of("act", "t-1"));
  EXPECT_TRUE(again->outcome.text.starts_with("in flight:")) << again->outcome.text;
}

// AU-46 (partly)
TEST_F(EngineHandOffTest, ACallThatHasItsAnswerIsNotHandedOutAgain) {
  const HandedOut given = handed_out({call_of("act", "t-1")});
  ASSERT_TRUE(engine_->submit({given.hand_off.continuation, {result_of("t-1", "done")}}, kSession));
  const HandedOut again = handed_out({call_of("act", "t-1")});
  EXPECT_TRUE(again.hand_off.tool_calls.empty());
  ASSERT_EQ(again.answered.size(), 1u);
  EXPECT_EQ(again.answered[0].outcome.kind, Outcome::Kind::Cached);
  EXPECT_EQ(again.answered[0].result.output, "done");
}

// A bug: a redacted result that was sent again unchanged was recorded as a different one.
// AU-59 (partly)
TEST_F(EngineHandOffTest, TheSameResultAgainDiffersInNothingAlsoWhereAGuardChangedIt) {
  const HandedOut given = handed_out({call_of("act", "t-1")});
  const auto noted = [&](const std::string& output) {
    const auto answers =
        engine_->submit({given.hand_off.continuation, {result_of("t-1", output)}}, kSession);
    if (!answers) ADD_FAILURE() << answers.error().message;
    const std::vector<GuardRun> guards = engine_->records()->back().guards;
    return std::ranges::find(guards, "external.payload_differs", &GuardRun::guard) != guards.end();
  };
  EXPECT_FALSE(noted("key AKIAIOSFODNN7EXAMPLE"));
  EXPECT_FALSE(noted("key AKIAIOSFODNN7EXAMPLE"));
  EXPECT_TRUE(noted("another key"));
  EXPECT_EQ(outcomes_of(*engine_), (Strings{"completed", "replayed", "replayed"}));
}

// A bug: its record was owed and could never be written, and the next call was refused for it.
// EV-110 (partly) AU-94 (partly)
TEST_F(EngineHandOffTest, AResultThatNoRecordCanHoldIsRefusedAndNothingIsMarked) {
  const HandedOut given = two();
  const Error refused = refusal_of(
      {given.hand_off.continuation, {result_of("t-1", "\xff"), result_of("t-2", "done")}});
  EXPECT_EQ(refused.code, ErrorCode::InvalidInput);
  EXPECT_EQ(refused.message, "result of `t-1`: a string is not valid UTF-8");
  EXPECT_TRUE(outcomes_of(*engine_).empty());
  const auto answers = engine_->submit(
      {given.hand_off.continuation, {result_of("t-1", "x"), result_of("t-2", "done")}}, kSession);
  EXPECT_TRUE(answers);
}

}  // namespace
}  // namespace sallyport::test
