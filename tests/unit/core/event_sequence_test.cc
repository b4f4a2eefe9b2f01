// Which events a call leaves behind, in which order and with which reasons, on every way through
// the Governor.
#include <gtest/gtest.h>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json.hpp>
#include <set>

#include "core/authorizer.h"
#include "core/governor.h"
#include "core/pre_hook.h"
#include "support/governed.h"
#include "support/test_clock.h"

namespace sallyport::core {
namespace {

using test::FakeUpstream;
using test::FunctionGuard;
using test::FunctionHook;
using test::FunctionResultGuard;
using test::Governed;
using Names = std::vector<std::string>;

const Names kAllowed = {"tool_authorization_started", "tool_authorization_finished(allow)",
                        "tool_execution_started", "tool_execution_finished"};
const Names kDenied = {"tool_authorization_started", "tool_authorization_finished(deny)",
                       "tool_authorization_blocked(deny)"};
const Names kPrompted = {"tool_authorization_started", "tool_authorization_finished(prompt)",
                         "tool_authorization_blocked(prompt)"};
const Names kDeniedByPlan = {"tool_authorization_started", "policy_denied",
                             "tool_authorization_finished(deny)",
                             "tool_authorization_blocked(deny)"};
const Names kDeniedByHook = {"tool_authorization_started", "tool_execution_blocked",
                             "tool_authorization_finished(deny)",
                             "tool_authorization_blocked(deny)"};
const Names kIdempotencyRefused = {"tool_authorization_started",
                                   "tool_authorization_finished(allow)", "tool_execution_blocked"};

Names operator+(Names first, const Names& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

class AnsweringApprover final : public Approver {
 public:
  explicit AnsweringApprover(Reply reply) : reply_(std::move(reply)) {}
  Task<Reply> answer(Question) const override { co_return reply_; }

 private:
  Reply reply_;
};

class UnreadableUpstream final : public Upstream {
 public:
  Task<Envelope> invoke(Call, std::shared_ptr<Delivery>, std::stop_token) override {
    invoked = true;
    co_return Envelope::of("ran");
  }
  Result<json::value> structured_input(const Call&) const override {
    return fail(ErrorCode::InvalidInput, "`path` is missing");
  }
  bool invoked = false;
};

class EventSequenceTest : public testing::Test {
 protected:
  Names events_of_call() {
    const Result<Answer> answer = governed.call(Governed::read_file());
    EXPECT_TRUE(answer);
    if (answer) last = *answer;
    return governed.recorder.events();
  }

  std::vector<json::object> payloads(std::string_view kind) const {
    std::vector<json::object> found;
    for (const Draft& draft : governed.recorder.of(Kind::Event)) {
      if (draft.body.at("kind").as_string() == kind) found.push_back(draft.body);
    }
    return found;
  }

  // Of every event that has one and gives one.
  std::set<std::string> reasons() const {
    std::set<std::string> found;
    for (const Draft& draft : governed.recorder.of(Kind::Event)) {
      const json::value* const reason = draft.body.if_contains("reason");
      if (reason && reason->is_string()) found.emplace(reason->get_string());
    }
    return found;
  }

  void guard(std::string name, FunctionGuard::Judge judge, Stage stage = Stage::ToolUse) {
    governed.plan.guard(std::make_shared<FunctionGuard>(std::move(name), std::move(judge), stage));
  }

  void result_guard(Verdict verdict) {
    governed.plan.result_guard(std::make_shared<FunctionResultGuard>(
        "second", [verdict](const Envelope&, const ResultContext&) { return verdict; }));
  }

  // Refuses the event of one kind.
  void listener(std::string name, std::string_view kind) {
    ASSERT_TRUE(governed.hooks.with_hook(std::make_shared<FunctionHook>(
        std::move(name), [kind](const Event& event, const Subject&) -> Result<void> {
          if (event_type(event) == kind) return fail(ErrorCode::Internal, "not this");
          return {};
        })));
  }

  void forget_events() { governed.recorder.written.clear(); }
  // Rows keep their places, because facts refer to them.
  void begin_to_count() { seen_ = governed.recorder.events().size(); }
  Names later_events() const {
    Names names = governed.recorder.events();
    names.erase(names.begin(), names.begin() + static_cast<long>(seen_));
    return names;
  }

  Governed governed;
  Answer last;

 private:
  std::size_t seen_ = 0;
};

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

// EV-36 EV-11 EV-12
TEST_F(EventSequenceTest, APromptThatIsApprovedIsFollowedByASecondDecision) {
  governed.plan.autonomy(Autonomy::ActWithApproval);
  governed.approver = std::make_shared<AnsweringApprover>(Reply::approve("user:ada"));
  EXPECT_EQ(events_of_call(), kPrompted + kAllowed);
  EXPECT_EQ(reasons(), std::set<std::string>{"Confirm read_file?"});
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
}

// EV-36 EV-87
TEST_F(EventSequenceTest, AnAuthorizerThatPromptsAsksThePersonInItsOwnWords) {
  governed.plan.guard(
      std::make_shared<AuthorizerGuard>("host", [](AuthorizationRequest) -> Task<Authorization> {
        co_return Authorization{Authorization::Kind::Prompt, "touches the world"};
      }));
  governed.approver = std::make_shared<AnsweringApprover>(Reply::approve("user:ada"));
  EXPECT_EQ(events_of_call(), kPrompted + kAllowed);
  EXPECT_EQ(reasons(), std::set<std::string>{"touches the world"});
}

// EV-37
TEST_F(EventSequenceTest, APromptThatIsRefusedIsFollowedByADenialThatNoPolicyMade) {
  governed.plan.autonomy(Autonomy::ActWithApproval);
  governed.approver = std::make_shared<AnsweringApprover>(Reply::deny("user:ada", "too risky"));
  EXPECT_EQ(events_of_call(), kPrompted + kDenied);
  EXPECT_EQ(reasons(), (std::set<std::string>{"Confirm read_file?", "too risky"}));
  EXPECT_EQ(last.result.output, "Blocked: too risky");
  EXPECT_TRUE(governed.upstream->calls.empty());
}

// EV-37
TEST_F(EventSequenceTest, APromptThatExpiresIsFollowedByADenial) {
  governed.plan.autonomy(Autonomy::ActWithApproval).approval_time(std::chrono::seconds(0));
  EXPECT_EQ(events_of_call(), kPrompted + kDenied);
  EXPECT_EQ(reasons(), (std::set<std::string>{"Confirm read_file?", "approval_expired"}));
}

// EV-37
TEST_F(EventSequenceTest, APromptThatIsCancelledIsFollowedByADenial) {
  governed.plan.autonomy(Autonomy::ActWithApproval);
  std::stop_source cancel;
  ASSERT_TRUE(governed.hooks.with_hook(std::make_shared<FunctionHook>(
      "impatient", [&](const Event& event, const Subject&) -> Result<void> {
        if (event_type(event) == "tool_authorization_blocked") cancel.request_stop();
        return {};
      })));
  ASSERT_TRUE(governed.call(Governed::read_file(), cancel.get_token()));
  EXPECT_EQ(governed.recorder.events(), kPrompted + kDenied);
  EXPECT_EQ(reasons(), (std::set<std::string>{"Confirm read_file?", "cancelled"}));
}

// EV-38
TEST_F(EventSequenceTest, ASuggestionIsAnsweredAtOnceAndAnApprovalLaterRunsItExactlyOnce) {
  governed.plan.autonomy(Autonomy::Suggest);
  EXPECT_EQ(events_of_call(), kPrompted);
  EXPECT_EQ(last.outcome.kind, Outcome::Kind::RequiresConfirmation);
  EXPECT_TRUE(governed.upstream->calls.empty());
  begin_to_count();
  Governor& governor = governed.governor();
  ASSERT_TRUE(test::run_now(governor.approvals().answer(
      last.approval_id, Reply::approve("user:ada"), Subject{.agent_id = "agent:a"})));
  Call call = Governed::read_file();
  call.call_id = last.call_id;
  const auto resume = [&] {
    return test::run_now(
        governor.resume({.call = call, .approval_id = last.approval_id}, governed.upstream));
  };
  ASSERT_TRUE(resume());
  EXPECT_EQ(later_events(), kAllowed);
  const Result<Answer> again = resume();
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().cause, "already_resumed");
  EXPECT_EQ(later_events(), kAllowed);
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
}

// EV-39
TEST_F(EventSequenceTest, ShadowDeniesInItsOwnNameAndNoPolicyDoes) {
  governed.plan.autonomy(Autonomy::Shadow);
  EXPECT_EQ(events_of_call(), kDenied);
  EXPECT_EQ(reasons(), std::set<std::string>{"shadow: read_file was not run"});
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
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor,
                                    std::chrono::hours(1));
    boost::system::error_code ignored;
    co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
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

// EV-54
TEST_F(EventSequenceTest, NoGuardIsAskedBetweenTheDecisionAndTheExecution) {
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
TEST_F(EventSequenceTest, AListenerThatRefusesTheStartOfADecisionDeniesTheCall) {
  listener("siem", "tool_authorization_started");
  EXPECT_EQ(events_of_call(), kDenied);
  EXPECT_EQ(reasons(), std::set<std::string>{"event sink failed: siem"});
  EXPECT_TRUE(governed.upstream->calls.empty());
}

// EV-60
TEST_F(EventSequenceTest, AListenerThatRefusesTheStartOfAnExecutionKeepsTheToolFromRunning) {
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
TEST_F(EventSequenceTest, WhileAnEventIsOwedNoDecisionBegins) {
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
TEST_F(EventSequenceTest, AStartThatCannotBeWrittenIsToldToNobody) {
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

// EV-86
TEST_F(EventSequenceTest, ACallThatCannotBePreviewedIsDeniedWithTheCause) {
  const auto unreadable = std::make_shared<UnreadableUpstream>();
  governed.tool = unreadable;
  EXPECT_EQ(events_of_call(), kDenied);
  const json::object preview =
      payloads("tool_authorization_started").at(0).at("preview").as_object();
  EXPECT_TRUE(preview.at("structured_input").is_null());
  EXPECT_EQ(canonical_json(preview.at("raw_input")), R"({"path":"/tmp/x"})");
  EXPECT_EQ(reasons(), std::set<std::string>{"the call cannot be previewed: `path` is missing"});
  EXPECT_FALSE(unreadable->invoked);
}

// EV-6
TEST_F(EventSequenceTest, TheActorIsThePrincipalWhateverInputAndToolSay) {
  governed.upstream = std::make_shared<FakeUpstream>([](Call, std::stop_token) -> Task<Envelope> {
    co_return Envelope::of({{"agent_id", "agent:tool"}});
  });
  Call call = Governed::read_file();
  call.input = {{"agent_id", "agent:boss"}};
  ASSERT_TRUE(governed.call(call));
  ASSERT_EQ(governed.recorder.events(), kAllowed);
  for (const Draft& draft : governed.recorder.of(Kind::Event)) {
    EXPECT_EQ(draft.body.at("agent_id"), "agent:a");
  }
}

// EV-7 (partly)
TEST_F(EventSequenceTest, AnOutputPreviewIsCutAtACodePointBoundary) {
  governed.upstream = std::make_shared<FakeUpstream>([](Call, std::stop_token) -> Task<Envelope> {
    std::string text(4095, 'a');
    for (int i = 0; i < 100; ++i) text += "\xe2\x82\xac";
    co_return Envelope::of(json::value(text));
  });
  events_of_call();
  EXPECT_EQ(payloads("tool_execution_finished").at(0).at("output_preview"),
            json::value(std::string(4095, 'a')));
}

// EV-9
TEST_F(EventSequenceTest, WhatJoinsRowsStandsAroundThePayloadAndNotInIt) {
  events_of_call();
  for (const Draft& draft : governed.recorder.of(Kind::Event)) {
    EXPECT_EQ(draft.subject.session_id, "s-1");
    EXPECT_EQ(draft.subject.call_id, last.call_id);
    EXPECT_FALSE(draft.subject.policy_hash.empty());
    for (const char* const name : {"session_id", "call_id", "run_id", "policy_hash", "sequence"}) {
      EXPECT_FALSE(draft.body.contains(name)) << name;
    }
  }
}

}  // namespace
}  // namespace sallyport::core
