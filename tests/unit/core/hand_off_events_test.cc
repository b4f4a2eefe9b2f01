// Events of calls that are decided here and executed by another program.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "core/handoff/hand_offs.h"
#include "support/governed.h"
#include "support/test_clock.h"

namespace sallyport::core {
namespace {

using test::FunctionGuard;
using test::FunctionResultGuard;
using test::Governed;
using Names = std::vector<std::string>;

const Names kOpen = {"tool_authorization_started", "tool_authorization_finished(allow)",
                     "tool_execution_started"};
const Names kAllowed = {"tool_authorization_started", "tool_authorization_finished(allow)",
                        "tool_execution_started", "tool_execution_finished"};

class HandOffEventsTest : public testing::Test {
 protected:
  HandOffEventsTest() { governed.clock = &clock; }

  HandOffs& hand_offs() {
    if (!hand_offs_) {
      continuations_.emplace(governed.recorder, governed.recorder, KeyedDigest("k"), clock,
                             entropy_);
      hand_offs_.emplace(governed.governor(), *continuations_);
    }
    return *hand_offs_;
  }
  void hand_out() {
    Result<HandOffs::HandedOut> given = test::run_now(hand_offs().hand_out(
        {.session_id = "s-1"}, {Governed::read_file()}, {}, std::chrono::seconds(60)));
    ASSERT_TRUE(given) << given.error().message;
    continuation = given->hand_off.continuation;
    handed_out = given->hand_off.tool_calls.size();
  }
  Result<std::vector<Answer>> submit(std::string output) {
    return test::run_now(hand_offs().submit(
        {continuation, {{"toolu_1", {.success = true, .output = std::move(output)}}}}, "s-1"));
  }

  test::TestClock clock;
  Governed governed;
  Continuation continuation;
  std::size_t handed_out = 0;

 private:
  SystemEntropy entropy_;
  std::optional<Continuations> continuations_;
  std::optional<HandOffs> hand_offs_;
};

// EV-61 (partly)
TEST_F(HandOffEventsTest, AHookThatFailsOnAFinishIsRecordedWithTheSequenceOfThatEvent) {
  ASSERT_TRUE(governed.hooks.with_hook(std::make_shared<test::FunctionHook>(
      "siem", [](const Event& event, const Subject&) -> Result<void> {
        if (event_type(event) != "tool_execution_finished") return {};
        return fail(ErrorCode::Unavailable, "connection refused");
      })));
  hand_out();
  ASSERT_TRUE(submit("found"));
  const auto failed = governed.recorder.of(Kind::HookFailed);
  ASSERT_EQ(failed.size(), 1u);
  const std::uint64_t sequence = std::stoull(test::text_at(failed[0], "/event_sequence"));
  EXPECT_EQ(test::text_at(governed.recorder.written.at(sequence), "/kind"),
            "tool_execution_finished");
}

// EV-44 EV-18
TEST_F(HandOffEventsTest, TheExecutionFinishesWhenTheFirstResultIsAccepted) {
  hand_out();
  EXPECT_EQ(handed_out, 1u);
  EXPECT_EQ(governed.recorder.events(), kOpen);
  ASSERT_TRUE(submit("done"));
  EXPECT_EQ(governed.recorder.events(), kAllowed);
  const json::object finished = governed.recorder.of(Kind::Event).back().body;
  EXPECT_EQ(finished.at("output_preview"), "done");
  EXPECT_EQ(finished.at("is_error"), false);
}

// EV-44
TEST_F(HandOffEventsTest, ASecondSubmissionHasARecordAndNoEvent) {
  hand_out();
  ASSERT_TRUE(submit("done"));
  const std::size_t records = governed.recorder.records().size();
  const Result<std::vector<Answer>> again = submit("something else");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->at(0).result.output, "done");
  EXPECT_EQ(governed.recorder.events(), kAllowed);
  ASSERT_EQ(governed.recorder.records().size(), records + 1);
  EXPECT_EQ(governed.recorder.records().back().outcome, "replayed");
}

// EV-44 EV-19
TEST_F(HandOffEventsTest, AHandOffThatExpiresFinishesAsAnErrorAndOnce) {
  hand_out();
  clock.advance(std::chrono::seconds(59));
  ASSERT_TRUE(test::run_now(hand_offs().expire()));
  EXPECT_EQ(governed.recorder.events(), kOpen);
  clock.advance(std::chrono::seconds(1));
  ASSERT_TRUE(test::run_now(hand_offs().expire()));
  ASSERT_TRUE(test::run_now(hand_offs().expire()));
  EXPECT_EQ(governed.recorder.events(), kAllowed);
  EXPECT_EQ(governed.recorder.of(Kind::Event).back().body.at("is_error"), true);
  EXPECT_FALSE(submit("too late"));
  EXPECT_EQ(governed.recorder.events(), kAllowed);
}

// EV-43 EV-44
TEST_F(HandOffEventsTest, AResultThatIsWithheldIsDeniedBeforeTheFinish) {
  governed.plan.result_guard(std::make_shared<FunctionResultGuard>(
      "strict", [](const Envelope&, const ResultContext&) { return Verdict::deny("no"); }));
  hand_out();
  const Result<std::vector<Answer>> answers = submit("hunter2");
  ASSERT_TRUE(answers);
  EXPECT_EQ(answers->at(0).result.output, "Result withheld by strict: no");
  Names wanted = kOpen;
  wanted.insert(wanted.end(), {"policy_denied", "tool_execution_finished"});
  EXPECT_EQ(governed.recorder.events(), wanted);
  EXPECT_EQ(governed.recorder.of(Kind::Event).back().body.at("output_preview"),
            "Result withheld by strict: no");
}

// EV-34
TEST_F(HandOffEventsTest, ACallThatIsDeniedIsNeverHandedOut) {
  governed.plan.guard(std::make_shared<FunctionGuard>(
      "paths", [](const Call&) { return Verdict::deny("outside"); }));
  hand_out();
  EXPECT_EQ(handed_out, 0u);
  EXPECT_EQ(governed.recorder.events(),
            (Names{"tool_authorization_started", "policy_denied",
                   "tool_authorization_finished(deny)", "tool_authorization_blocked(deny)"}));
}

}  // namespace
}  // namespace sallyport::core
