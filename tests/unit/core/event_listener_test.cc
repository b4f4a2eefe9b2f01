// The steps that listeners and the ledger can stop, and the steps that they cannot.
#include "event_sequence.h"

namespace sallyport::core {
namespace {

class EventListenerTest : public EventSequence {};

// EV-54
TEST_F(EventListenerTest, NoGuardIsAskedBetweenTheDecisionAndTheExecution) {
  bool decided = false;
  bool asked_later = false;
  for (const Stage stage : {Stage::ToolUse, Stage::PreHook}) {
    guard(
        std::string(to_string(stage)),
        [&](const Call&) {
          asked_later = asked_later || decided;
          return decided ? Verdict::deny("too late") : Verdict::allow();
        },
        stage);
  }
  ASSERT_TRUE(governed.hooks.with_hook(std::make_shared<FunctionHook>(
      "watch", [&](const Event& event, const Subject&) -> Result<void> {
        decided = decided || event_type(event) == "tool_authorization_finished";
        return {};
      })));
  EXPECT_EQ(events_of_call(), kAllowed);
  EXPECT_TRUE(decided);
  EXPECT_FALSE(asked_later);
}

// EV-60 EV-58
TEST_F(EventListenerTest, AListenerThatRefusesTheStartOfADecisionDeniesTheCall) {
  listener("siem", "tool_authorization_started");
  EXPECT_EQ(events_of_call(), kDenied);
  EXPECT_EQ(reasons(), std::set<std::string>{"event sink failed: siem"});
  EXPECT_TRUE(governed.upstream->calls.empty());
}

// EV-60
TEST_F(EventListenerTest, AListenerThatRefusesTheStartOfAnExecutionKeepsTheToolFromRunning) {
  listener("siem", "tool_execution_started");
  EXPECT_EQ(events_of_call(), kAllowed);
  EXPECT_TRUE(governed.upstream->calls.empty());
  EXPECT_EQ(last.outcome, Outcome::blocked("event sink failed: siem"));
  const json::object finished = payloads("tool_execution_finished").at(0);
  EXPECT_EQ(finished.at("is_error"), true);
  EXPECT_EQ(finished.at("error"), "Blocked: event sink failed: siem");
  EXPECT_EQ(governed.recorder.records().back().outcome, "blocked");
}

// EV-60 EV-62 (partly)
TEST_F(EventListenerTest, WhileAnEventIsOwedNoDecisionBegins) {
  governed.recorder.not_ready = Error{ErrorCode::Unavailable, "3 entries are owed"};
  bool heard = false;
  ASSERT_TRUE(governed.hooks.with_hook(
      std::make_shared<FunctionHook>("watch", [&](const Event&, const Subject&) -> Result<void> {
        heard = true;
        return {};
      })));
  EXPECT_EQ(events_of_call(), Names{});
  EXPECT_EQ(last.outcome.text, "event sink failed: audit: 3 entries are owed");
  EXPECT_FALSE(heard);
  EXPECT_TRUE(governed.upstream->calls.empty());
}

// EV-59 EV-60
TEST_F(EventListenerTest, AStartThatCannotBeWrittenIsToldToNobody) {
  governed.recorder.refuse_announcements = Error{ErrorCode::Unavailable, "disk full"};
  Names heard;
  ASSERT_TRUE(governed.hooks.with_hook(std::make_shared<FunctionHook>(
      "watch", [&](const Event& event, const Subject&) -> Result<void> {
        heard.emplace_back(event_type(event));
        return {};
      })));
  EXPECT_FALSE(governed.call(Governed::read_file()));
  EXPECT_EQ(heard, (Names{"tool_authorization_started", "tool_authorization_finished"}));
  EXPECT_TRUE(governed.upstream->calls.empty());
  ASSERT_FALSE(governed.recorder.owed.empty());
  EXPECT_EQ(governed.recorder.owed.back().outcome, "persistence_failed");
}

}  // namespace
}  // namespace sallyport::core
