// The events of a call, their order and their reasons, on every path through the
// Governor.
#include "event_sequence.h"

#include "core/plan/authorizer.h"
#include "core/plan/pre_hook.h"
#include "support/pause.h"

namespace sallyport::core {
namespace {

class EventSequenceTest : public EventSequence {};

// EV-33 EV-11 EV-12 EV-18 EV-19
TEST_F(EventSequenceTest, AnAllowedCallHasFourEventsOnceEach) {
  EXPECT_EQ(events_of_call(), kAllowed);
  EXPECT_TRUE(payloads("tool_authorization_finished").at(0).at("reason").is_null());
  const json::object finished = payloads("tool_execution_finished").at(0);
  EXPECT_EQ(canonical_json(finished),
            R"({"agent_id":"agent:a","details":null,"error":null,"is_error":false,)"
            R"("kind":"tool_execution_finished","output_preview":"{\"answer\":42}",)"
            R"("tool_call_id":"toolu_1","tool_name":"read_file"})");
}

// EV-18
TEST_F(EventSequenceTest, TheStartOfAnExecutionIsWrittenInOneCommitWithTheIntentAndBeforeTheCall) {
  std::size_t commits_before_call = 0;
  std::size_t written_before_call = 0;
  governed.upstream = std::make_shared<FakeUpstream>([&](Call, std::stop_token) -> Task<Envelope> {
    commits_before_call = governed.recorder.commits;
    written_before_call = governed.recorder.written.size();
    co_return Envelope::of("x");
  });
  events_of_call();
  EXPECT_EQ(commits_before_call, 1u);
  ASSERT_EQ(written_before_call, 4u);
  EXPECT_EQ(governed.recorder.written[2].kind, Kind::Intent);
  EXPECT_EQ(governed.recorder.written[3].body.at("kind"), "tool_execution_started");
}

// EV-33 EV-19
TEST_F(EventSequenceTest, AToolThatFailsIsStillAnAllowedCall) {
  governed.upstream = std::make_shared<FakeUpstream>(
      [](Call, std::stop_token) -> Task<Envelope> { co_return Envelope::error("no such file"); });
  EXPECT_EQ(events_of_call(), kAllowed);
  const json::object finished = payloads("tool_execution_finished").at(0);
  EXPECT_EQ(finished.at("is_error"), true);
  EXPECT_EQ(finished.at("error"), "no such file");
  EXPECT_EQ(finished.at("output_preview"), "no such file");
}

// EV-34 EV-13 EV-20
TEST_F(EventSequenceTest, ADenialByThePlanGivesOneReasonInAllThree) {
  for (const Stage stage : {Stage::Grant, Stage::ToolUse, Stage::External}) {
    governed.restart(PlanBuilder().autonomy(Autonomy::ActAuto));
    forget_events();
    guard("paths", [](const Call&) { return Verdict::deny("outside the workspace"); }, stage);
    EXPECT_EQ(events_of_call(), kDeniedByPlan);
    EXPECT_EQ(reasons(), std::set<std::string>{"outside the workspace"});
    EXPECT_EQ(canonical_json(payloads("policy_denied").at(0)),
              R"({"agent_id":"agent:a","kind":"policy_denied",)"
              R"("reason":"outside the workspace","tool_name":"read_file"})");
  }
  EXPECT_TRUE(governed.upstream->calls.empty());
}

// EV-34 EV-20
TEST_F(EventSequenceTest, AToolThatDoesNotExistIsDeniedByThePlan) {
  bool asked = false;
  guard("look", [&](const Call&) {
    asked = true;
    return Verdict::allow();
  });
  governed.tool = std::make_shared<UnknownTool>();
  EXPECT_EQ(events_of_call(), kDeniedByPlan);
  EXPECT_EQ(reasons(), std::set<std::string>{"unknown tool `read_file`"});
  EXPECT_FALSE(asked);
}

// EV-34 (partly)
TEST_F(EventSequenceTest, AGuardThatFailsIsADenialByThePlan) {
  guard("remote", [](const Call&) -> Result<Verdict> {
    return fail(ErrorCode::Unavailable, "connection refused");
  });
  EXPECT_EQ(events_of_call(), kDeniedByPlan);
  EXPECT_EQ(reasons(), std::set<std::string>{"guard remote failed: error"});
}

// EV-34 EV-20
TEST_F(EventSequenceTest, AHostAuthorizerDeniesAsThePlan) {
  governed.plan.guard(
      std::make_shared<AuthorizerGuard>("host", [](AuthorizationRequest) -> Task<Authorization> {
        co_return Authorization{Authorization::Kind::Deny, "not on sundays"};
      }));
  EXPECT_EQ(events_of_call(), kDeniedByPlan);
  EXPECT_EQ(reasons(), std::set<std::string>{"not on sundays"});
}

// EV-35 EV-31
TEST_F(EventSequenceTest, ADenialByAPreExecutionHookBlocksTheExecutionWithOneReason) {
  governed.plan.guard(std::make_shared<PreHookGuard>(
      "mass",
      [](PreHookContext) -> Task<PreHookDecision> {
        co_return PreHookDecision::deny("no mass deletion");
      },
      PreHookGuard::Options{}));
  EXPECT_EQ(events_of_call(), kDeniedByHook);
  EXPECT_EQ(reasons(), std::set<std::string>{"no mass deletion"});
  EXPECT_EQ(canonical_json(payloads("tool_execution_blocked").at(0)),
            R"({"agent_id":"agent:a","kind":"tool_execution_blocked",)"
            R"("reason":"no mass deletion","tool_call_id":"toolu_1","tool_name":"read_file"})");
}

// EV-31 EV-35
TEST_F(EventSequenceTest, ARewriteThatIsInvalidOrDoesNotSettleBlocksTheExecution) {
  int n = 0;
  for (const bool invalid : {true, false}) {
    governed.restart(PlanBuilder().autonomy(Autonomy::ActAuto));
    forget_events();
    governed.plan.guard(std::make_shared<PreHookGuard>(
        "restless",
        [&n, invalid](PreHookContext) -> Task<PreHookDecision> {
          co_return PreHookDecision::modify(invalid ? "{" : std::to_string(++n));
        },
        PreHookGuard::Options{}));
    EXPECT_EQ(events_of_call(), kDeniedByHook);
    EXPECT_EQ(reasons().size(), 1u);
  }
  EXPECT_EQ(reasons(), std::set<std::string>{"rewrite did not settle"});
  EXPECT_TRUE(governed.upstream->calls.empty());
}

// EV-40
TEST_F(EventSequenceTest, ACachedAnswerIsAllowedAndNothingExecutes) {
  events_of_call();
  begin_to_count();
  events_of_call();
  EXPECT_EQ(last.outcome.kind, Outcome::Kind::Cached);
  EXPECT_EQ(later_events(),
            (Names{"tool_authorization_started", "tool_authorization_finished(allow)"}));
}

// EV-41 EV-31
TEST_F(EventSequenceTest, TheSameIdForSomethingElseIsAllowedAndThenBlocked) {
  events_of_call();
  begin_to_count();
  Call other = Governed::read_file();
  other.input = {{"path", "/etc/shadow"}};
  ASSERT_TRUE(governed.call(other));
  EXPECT_EQ(later_events(), kIdempotencyRefused);
  EXPECT_EQ(payloads("tool_execution_blocked").at(0).at("reason"),
            "idempotency conflict: `toolu_1` was another call");
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
}

// EV-41
TEST_F(EventSequenceTest, ACallThatIsStillRunningIsAllowedAndThenBlocked) {
  Names while_running;
  governed.upstream = std::make_shared<FakeUpstream>([&](Call, std::stop_token) -> Task<Envelope> {
    begin_to_count();
    const auto inner = std::make_shared<FakeUpstream>();
    const Result<Answer> second =
        co_await governed.governor().run(Governed::read_file(), inner, {});
    EXPECT_TRUE(second);
    EXPECT_TRUE(inner->calls.empty());
    while_running = later_events();
    co_return Envelope::of("x");
  });
  events_of_call();
  EXPECT_EQ(while_running, kIdempotencyRefused);
  EXPECT_EQ(payloads("tool_execution_blocked").at(0).at("reason"),
            "in flight: call `toolu_1` is running");
}

// EV-41
TEST_F(EventSequenceTest, ACallOfUnknownOutcomeIsAllowedAndThenBlocked) {
  governed.upstream = std::make_shared<FakeUpstream>([](Call, std::stop_token) -> Task<Envelope> {
    co_return fail(ErrorCode::Unavailable, "connection lost");
  });
  EXPECT_EQ(events_of_call(), kAllowed);
  EXPECT_EQ(last.effect, EffectState::Unknown);
  begin_to_count();
  events_of_call();
  EXPECT_EQ(later_events(), kIdempotencyRefused);
  EXPECT_TRUE(payloads("tool_execution_blocked")
                  .at(0)
                  .at("reason")
                  .as_string()
                  .starts_with("unknown outcome:"));
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
}

// EV-12 EV-13
TEST_F(EventSequenceTest, ACancelWhileGuardsDecideIsADenialThatNoPolicyMade) {
  std::stop_source cancel;
  bool asked = false;
  guard("first", [&](const Call&) {
    cancel.request_stop();
    return Verdict::allow();
  });
  guard("second", [&](const Call&) {
    asked = true;
    return Verdict::allow();
  });
  ASSERT_TRUE(governed.call(Governed::read_file(), cancel.get_token()));
  EXPECT_EQ(governed.recorder.events(), kDenied);
  EXPECT_EQ(reasons(), std::set<std::string>{"cancelled"});
  EXPECT_FALSE(asked);
}

// EV-19 EV-52 (partly)
TEST_F(EventSequenceTest, ACallThatIsCancelledWhileItRunsStillFinishes) {
  std::stop_source cancel;
  governed.upstream = std::make_shared<FakeUpstream>([&](Call, std::stop_token) -> Task<Envelope> {
    cancel.request_stop();
    co_await test::pause(std::chrono::hours(1));
    co_return Envelope::of("late");
  });
  ASSERT_TRUE(governed.call(Governed::read_file(), cancel.get_token()));
  EXPECT_EQ(governed.recorder.events(), kAllowed);
  EXPECT_EQ(payloads("tool_execution_finished").at(0).at("error"), "cancelled");
}

// EV-53 (partly)
TEST_F(EventSequenceTest, CallsAtTheSameTimeStartInTheirOrderAndFinishInTheOrderOfTheirEnds) {
  boost::asio::io_context loop;
  boost::asio::steady_timer second_ended(loop, std::chrono::minutes(1));
  Names heard;
  ASSERT_TRUE(governed.hooks.with_hook(std::make_shared<FunctionHook>(
      "ears", [&](const Event& event, const Subject&) -> Result<void> {
        if (const auto* const started = std::get_if<event::ToolExecutionStarted>(&event)) {
          heard.push_back("start " + started->tool_call_id);
        }
        if (const auto* const finished = std::get_if<event::ToolExecutionFinished>(&event)) {
          heard.push_back("finish " + finished->tool_call_id);
          second_ended.cancel();
        }
        return {};
      })));
  governed.upstream =
      std::make_shared<FakeUpstream>([&](Call call, std::stop_token) -> Task<Envelope> {
        boost::system::error_code ignored;
        if (call.tool_call_id == "first") {
          co_await second_ended.async_wait(
              boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
        }
        co_return Envelope::of("ran");
      });
  ASSERT_TRUE(governed.build());
  for (const char* const id : {"first", "second"}) {
    Call call = Governed::read_file();
    call.tool_call_id = id;
    boost::asio::co_spawn(
        loop, governed.governor().run(std::move(call), governed.upstream, {}),
        [](const std::exception_ptr&, const Result<Answer>& answer) { EXPECT_TRUE(answer); });
  }
  loop.run();
  EXPECT_EQ(heard, (Names{"start first", "start second", "finish second", "finish first"}));
}

// EV-43 EV-20
TEST_F(EventSequenceTest, AWithheldResultIsDeniedBetweenStartAndFinish) {
  result_guard(Verdict::deny("holds a key"));
  EXPECT_EQ(events_of_call(),
            (Names{"tool_authorization_started", "tool_authorization_finished(allow)",
                   "tool_execution_started", "policy_denied", "tool_execution_finished"}));
  EXPECT_EQ(payloads("policy_denied").at(0).at("reason"), "holds a key");
  const json::object finished = payloads("tool_execution_finished").at(0);
  EXPECT_EQ(finished.at("is_error"), true);
  EXPECT_EQ(finished.at("output_preview"), "Result withheld by second: holds a key");
}

}  // namespace
}  // namespace sallyport::core
