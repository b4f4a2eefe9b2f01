// Records and events that were missing, doubled or wrong once.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json.hpp>
#include <stdexcept>

#include "core/governor.h"
#include "support/governed.h"

namespace sallyport::core {
namespace {

using std::chrono::milliseconds;
using test::FakePreparer;
using test::FakeUpstream;
using test::FunctionApprover;
using test::FunctionGuard;
using test::FunctionHook;
using test::FunctionResultGuard;
using test::Governed;
using test::text_at;
using Names = std::vector<std::string>;

Async<void> pause(milliseconds time) {
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, time);
  boost::system::error_code ignored;
  co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
}

std::shared_ptr<FunctionGuard> guard(std::string name, Verdict verdict) {
  return std::make_shared<FunctionGuard>(std::move(name),
                                         [verdict](const Call&) { return verdict; });
}

Verdict with_limit(const Call& call) {
  json::value input = call.input;
  input.as_object()["limit"] = 10;
  return Verdict::rewrite(std::move(input));
}

class RecordRegressionTest : public testing::Test {
 protected:
  Answer call(Call asked = Governed::read_file(), Caller caller = {}) {
    const Result<Answer> answer = governed.call(std::move(asked), std::move(caller));
    EXPECT_TRUE(answer) << answer.error().message;
    return answer.value_or(Answer{});
  }

  std::shared_ptr<FakePreparer> prepares() {
    const auto preparer = std::make_shared<FakePreparer>();
    governed.tool = preparer;
    return preparer;
  }

  void asks(FunctionApprover::Decide decide) {
    governed.plan.autonomy(Autonomy::ActWithApproval);
    governed.approver = std::make_shared<FunctionApprover>(std::move(decide));
  }

  void hears(FunctionHook::Hear hear) {
    ASSERT_TRUE(governed.hooks.with_hook(std::make_shared<FunctionHook>("siem", std::move(hear))));
  }

  // Asks a person, lets the person refuse, and gives the call that may be resumed then.
  Governor::Resumption refused_by_a_person() {
    governed.plan.autonomy(Autonomy::ActWithApproval);
    const Answer waiting = call(Governed::read_file(), Caller{.holds = false});
    EXPECT_TRUE(test::run_now(governed.governor().approvals().answer(
        waiting.approval_id, Reply::deny("user:ada", "no"), {})));
    Call waited = Governed::read_file();
    waited.call_id = waiting.call_id;
    return {.call = std::move(waited), .approval_id = waiting.approval_id};
  }

  Draft last_record() const { return governed.recorder.records().back(); }

  Names outcomes() const {
    Names found;
    for (const Draft& record : governed.recorder.records()) found.push_back(record.outcome);
    return found;
  }

  std::size_t open_calls() { return governed.recorder.facts("open_call")->size(); }

  std::string state_of(const std::string& approval_id) {
    return (*governed.governor().approvals().state(approval_id))->word;
  }

  Governed governed;
};

// AU-5
TEST_F(RecordRegressionTest, AnEmptyProviderOrModelIsUnknown) {
  Call asked = Governed::read_file();
  asked.provenance = {"", ""};
  call(asked);
  EXPECT_EQ(text_at(last_record(), "/provenance"), R"({"model":"unknown","provider":"unknown"})");
}

// AU-13 AU-14
TEST_F(RecordRegressionTest, GuardsOfADecisionThatAListenerStoppedAreListedAsNotReached) {
  governed.plan.guard(guard("first", Verdict::allow()));
  hears([](const Event&, const Subject&) -> Result<void> {
    return fail(ErrorCode::Unavailable, "no");
  });
  call();
  EXPECT_EQ(text_at(last_record(), "/guards/0/guard"), "first");
  EXPECT_EQ(text_at(last_record(), "/guards/0/verdict"), "skipped");
  EXPECT_EQ(text_at(last_record(), "/guards/0/why"), "stage_not_reached");
}

// AU-13
TEST_F(RecordRegressionTest, ARewritingGuardIsListedInEachPassInTheOrderOfThePlan) {
  const auto rewriting = guard("once", Verdict::allow());
  rewriting->mutable_traits().rewrites = true;
  governed.plan.guard(rewriting).guard(guard("deciding", Verdict::rewrite({{"n", 1}})));
  call();
  const json::array runs = last_record().body.at("guards").as_array();
  Names listed;
  for (const json::value& run : runs) {
    listed.push_back(canonical_json(run.at("pass")) + " " +
                     std::string(run.at("guard").as_string()) + " " +
                     std::string(run.at("verdict").as_string()));
  }
  EXPECT_EQ(listed,
            (Names{"1 once allow", "1 deciding rewrite", "2 once skipped", "2 deciding allow"}));
}

// AU-40
TEST_F(RecordRegressionTest, AVerdictOfNoKnownKindBlocks) {
  governed.plan.guard(guard("odd", Verdict{.kind = static_cast<Verdict::Kind>(99)}));
  EXPECT_EQ(call().outcome.kind, Outcome::Kind::Blocked);
  EXPECT_EQ(outcomes(), Names{"blocked"});
  EXPECT_TRUE(governed.upstream->calls.empty());
}

// AP-13 (partly)
TEST_F(RecordRegressionTest, AnAgentCannotApproveItsCallWhateverSubjectItNames) {
  governed.plan.autonomy(Autonomy::ActWithApproval);
  const Answer waiting = call(Governed::read_file(), Caller{.holds = false});
  for (const Subject& subject : {Subject{}, Subject{.agent_id = "agent:b"}}) {
    const Result<void> answered = test::run_now(governed.governor().approvals().answer(
        waiting.approval_id, Reply::approve("agent:a"), subject));
    ASSERT_FALSE(answered);
    EXPECT_EQ(answered.error().where, "by");
  }
  EXPECT_EQ(state_of(waiting.approval_id), "pending");
}

class ThrowingTool final : public PreparingUpstream {
 public:
  enum class Where { Preview, Prepare, Cancel };
  explicit ThrowingTool(Where where) : where_(where) {}

  Result<json::value> structured_input(const Call& call) const override {
    throw_in(Where::Preview);
    return call.input;
  }
  std::shared_ptr<Preparation> prepare(Call, std::stop_token) override {
    throw_in(Where::Prepare);
    return std::make_shared<EndsEarly>();
  }
  void cancel(std::string) override { throw_in(Where::Cancel); }
  Task<Envelope> invoke(Call, std::shared_ptr<Delivery>, std::stop_token) override {
    co_return Envelope::of("ran");
  }

 private:
  class EndsEarly final : public Preparation {
   public:
    Task<std::optional<PrepareStep>> next() override { co_return std::optional<PrepareStep>{}; }
  };
  void throw_in(Where where) const {
    if (where == where_) throw std::runtime_error("secret detail");
  }
  Where where_;
};

// AU-32 AU-64 EV-86
TEST_F(RecordRegressionTest, AToolThatThrowsBeforeItRunsEndsItsCallInOneRecord) {
  using Where = ThrowingTool::Where;
  const std::pair<Where, std::string> cases[] = {
      {Where::Preview, "blocked"}, {Where::Prepare, "invalidated"}, {Where::Cancel, "invalidated"}};
  for (const auto& [where, outcome] : cases) {
    Governed own;
    own.tool = std::make_shared<ThrowingTool>(where);
    const Result<Answer> answer = own.call(Governed::read_file());
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->result.output.find("secret detail"), std::string::npos);
    ASSERT_EQ(own.recorder.records().size(), 1u);
    EXPECT_EQ(own.recorder.records()[0].outcome, outcome);
  }
}

class WithoutPreparation final : public PreparingUpstream {
 public:
  std::shared_ptr<Preparation> prepare(Call, std::stop_token) override { return nullptr; }
  void cancel(std::string) override {}
  Task<Envelope> invoke(Call, std::shared_ptr<Delivery>, std::stop_token) override {
    co_return Envelope::of("ran");
  }
};

// AU-64 (partly)
TEST_F(RecordRegressionTest, AToolThatGivesNoPreparationIsInvalidated) {
  governed.tool = std::make_shared<WithoutPreparation>();
  EXPECT_EQ(call().outcome, Outcome::invalidated("preparation failed"));
  EXPECT_EQ(outcomes(), Names{"invalidated"});
}

// AU-24 AU-32
TEST_F(RecordRegressionTest, AnApproverThatThrowsLeavesTheQuestionAndOneEnd) {
  asks([](const Question&) -> Result<Reply> { throw std::runtime_error("secret detail"); });
  EXPECT_EQ(call().outcome.kind, Outcome::Kind::Blocked);
  EXPECT_EQ(outcomes(), (Names{"requires_confirmation", "blocked"}));
}

class SlowApprover final : public Approver {
 public:
  Task<Reply> answer(Question) const override {
    co_await pause(milliseconds(5000));
    co_return Reply::approve("user:ada");
  }
};

// EV-89
TEST_F(RecordRegressionTest, AnApproverThatIsStillThinkingAtTheDeadlineIsNotWaitedFor) {
  governed.plan.autonomy(Autonomy::ActWithApproval);
  governed.approver = std::make_shared<SlowApprover>();
  Call asked = Governed::read_file();
  asked.time_limit = milliseconds(50);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(call(asked).outcome, Outcome::blocked("approval_expired"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(2500));
}

// AU-68
TEST_F(RecordRegressionTest, APreparationIsNotWaitedForBeyondTheTimeOfItsCall) {
  prepares()->next = [](unsigned) -> Task<std::optional<PrepareStep>> {
    co_await pause(milliseconds(5000));
    co_return std::optional<PrepareStep>{};
  };
  Call asked = Governed::read_file();
  asked.time_limit = milliseconds(50);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(call(asked).outcome.kind, Outcome::Kind::Invalidated);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(2500));
}

// AU-62 AU-63 AU-72
TEST_F(RecordRegressionTest, ARewritingGuardDoesNotVoidTheApprovalOfWhatWasPrepared) {
  const auto rewriting = std::make_shared<FunctionGuard>("limit", with_limit);
  rewriting->mutable_traits().rewrites = true;
  governed.plan.guard(rewriting);
  const auto tool = prepares();
  unsigned questions = 0;
  asks([&](const Question&) {
    ++questions;
    return Reply::approve("user:ada");
  });
  EXPECT_EQ(call().outcome.kind, Outcome::Kind::Completed);
  EXPECT_EQ(questions, 1u);
  ASSERT_EQ(tool->calls.size(), 1u);
  EXPECT_EQ(tool->calls[0].input.at("operation_id"), "op-1");
}

// AU-6 AU-62 AU-63
TEST_F(RecordRegressionTest, ADecidingGuardThatRewritesAndAPreparationSettle) {
  governed.plan.guard(std::make_shared<FunctionGuard>("limit", [](const Call& asked) {
    return asked.input.as_object().contains("operation_id") ? Verdict::allow() : with_limit(asked);
  }));
  const auto tool = prepares();
  EXPECT_EQ(call().outcome.kind, Outcome::Kind::Completed);
  ASSERT_EQ(tool->preparations.size(), 1u);
  EXPECT_EQ(tool->preparations[0].input.at("limit"), 10);
  EXPECT_EQ(text_at(last_record(), "/requested_input"), R"({"path":"/tmp/x"})");
  EXPECT_EQ(text_at(last_record(), "/effective_input/operation_id"), "op-1");
}

// AU-25 AU-66 (partly)
TEST_F(RecordRegressionTest, APreparationWhoseCallIsAnsweredFromTheRecordIsCancelled) {
  const auto tool = prepares();
  call();
  EXPECT_TRUE(tool->cancelled.empty());
  EXPECT_EQ(call().outcome.kind, Outcome::Kind::Cached);
  EXPECT_EQ(tool->preparations.size(), 2u);
  EXPECT_EQ(tool->cancelled, Names{"op-1"});
}

// AU-66 (partly) AU-76
TEST_F(RecordRegressionTest, APreparationIsCancelledWhenItsIntentOrQuestionCannotBeWritten) {
  for (const Autonomy autonomy : {Autonomy::ActAuto, Autonomy::ActWithApproval}) {
    Governed own;
    own.plan.autonomy(autonomy);
    const auto tool = std::make_shared<FakePreparer>();
    own.tool = tool;
    own.recorder.refuse_announcements = Error{ErrorCode::Unavailable, "disk full"};
    EXPECT_FALSE(own.call(Governed::read_file()));
    EXPECT_TRUE(tool->calls.empty());
    EXPECT_EQ(tool->cancelled, Names{"op-1"}) << to_string(autonomy);
  }
}

// AU-66 (partly) AU-68
TEST_F(RecordRegressionTest, APreparationIsCancelledWhenItsCallerLeavesBeforeItIsExecuted) {
  const auto tool = prepares();
  std::stop_source stop;
  hears([&](const Event& event, const Subject&) -> Result<void> {
    if (event_type(event) == "tool_execution_started") stop.request_stop();
    return {};
  });
  const Answer answer = call(Governed::read_file(), Caller{.cancel = stop.get_token()});
  EXPECT_EQ(answer.result.output, "cancelled");
  EXPECT_EQ(answer.effect, EffectState::None);
  EXPECT_TRUE(tool->calls.empty());
  EXPECT_EQ(tool->cancelled, Names{"op-1"});
}

// AU-50 AU-78
TEST_F(RecordRegressionTest, AnUnknownAttemptStaysUnknownWhenTheNextOneIsCancelledBeforeItBegins) {
  const auto tool = prepares();
  tool->outlives = true;
  tool->execute = [](Call, std::stop_token) -> Task<Envelope> { throw std::runtime_error("lost"); };
  EXPECT_EQ(call().effect, EffectState::Unknown);
  tool->execute = {};
  std::stop_source stop;
  stop.request_stop();
  call(Governed::read_file(), Caller{.cancel = stop.get_token()});
  EXPECT_EQ(tool->calls.size(), 1u);
  call();
  EXPECT_EQ(tool->preparations.size(), 1u) << "prepared again although it may have happened";
  ASSERT_EQ(tool->calls.size(), 2u);
  EXPECT_EQ(tool->calls[1].input.at("operation_id"), "op-1");
  EXPECT_EQ(tool->calls[1].input.at("revision"), 3);
}

// EV-19 EV-62 PI-39 (partly)
TEST_F(RecordRegressionTest, AnOutcomeThatIsOwedHasItsFinishAndItsFailOpenStretchBeforeIt) {
  governed.plan
      .result_guard(std::make_shared<FunctionResultGuard>(
          "remote",
          [](const Envelope&, const ResultContext&) -> Result<Verdict> {
            return fail(ErrorCode::Unavailable, "down");
          }))
      .fail_open("remote");
  governed.recorder.refuse_reports = Error{ErrorCode::Unavailable, "disk full"};
  EXPECT_FALSE(governed.call(Governed::read_file()));
  Names owed;
  for (const Draft& draft : governed.recorder.owed) {
    const std::string event = text_at(draft, "/kind");
    owed.push_back(draft.kind == Kind::Event ? event : std::string(to_string(draft.kind)));
  }
  EXPECT_EQ(owed, (Names{"control", "tool_execution_finished", "tool_audit"}));
}

// EV-33
TEST_F(RecordRegressionTest, AnIntentThatIsWrittenAtTheSecondTryTellsEachEventOnce) {
  governed.plan
      .guard(std::make_shared<FunctionGuard>(
          "remote",
          [](const Call&) -> Result<Verdict> { return fail(ErrorCode::Unavailable, "down"); }))
      .fail_open("remote");
  bool refused = false;
  governed.recorder.refuse = [&](const std::vector<Draft>&) -> std::optional<Error> {
    if (std::exchange(refused, true)) return std::nullopt;
    return Error{ErrorCode::Conflict, "changed meanwhile"};
  };
  EXPECT_EQ(call().outcome.kind, Outcome::Kind::Completed);
  EXPECT_EQ(governed.recorder.events(),
            (Names{"tool_authorization_started", "tool_authorization_finished(allow)",
                   "tool_execution_started", "tool_execution_finished"}));
  EXPECT_EQ(governed.recorder.of(Kind::Control).size(), 1u);
}

// AU-18 AU-25
TEST_F(RecordRegressionTest, ACachedResultTookAsLongAsTheFirst) {
  governed.upstream = std::make_shared<FakeUpstream>([](Call, std::stop_token) -> Task<Envelope> {
    co_await pause(milliseconds(20));
    co_return Envelope::of("hello");
  });
  const Answer first = call();
  EXPECT_GE(first.result.duration_ms.value_or(0), 20u);
  const Answer again = call();
  EXPECT_EQ(again.outcome.kind, Outcome::Kind::Cached);
  EXPECT_EQ(again.result.duration_ms, first.result.duration_ms);
}

// AU-32 AU-71 (partly)
TEST_F(RecordRegressionTest, ACallThatIsResumedTwiceEndsOnce) {
  const Governor::Resumption refused = refused_by_a_person();
  EXPECT_TRUE(test::run_now(governed.governor().resume(refused, governed.upstream)));
  const Result<Answer> again =
      test::run_now(governed.governor().resume(refused, governed.upstream));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().cause, "already_resumed");
  EXPECT_EQ(outcomes(), (Names{"requires_confirmation", "blocked"}));
}

// AU-32 AU-66
TEST_F(RecordRegressionTest, APreparedCallThatIsResumedAndRefusedLeavesNothingForRecovery) {
  const auto tool = prepares();
  Governor::Resumption refused = refused_by_a_person();
  EXPECT_EQ(open_calls(), 1u);
  refused.prepared = tool->prepared;
  ASSERT_TRUE(test::run_now(governed.governor().resume(refused, tool)));
  EXPECT_EQ(outcomes(), (Names{"requires_confirmation", "blocked"}));
  EXPECT_EQ(open_calls(), 0u);
  EXPECT_EQ(tool->cancelled, Names{"op-1"});
}

// EV-42 EV-10 (partly)
TEST_F(RecordRegressionTest, ARuleOfARunningToolIsToldBetweenItsStartAndItsFinish) {
  governed.upstream = std::make_shared<FakeUpstream>(
      [](Call, std::shared_ptr<Delivery> delivery, std::stop_token) -> Task<Envelope> {
        delivery->deny(event::DeniedAction::ReadFile, "`/etc/shadow` is outside the workspace");
        co_return Envelope::error("not readable");
      });
  call();
  EXPECT_EQ(governed.recorder.events(),
            (Names{"tool_authorization_started", "tool_authorization_finished(allow)",
                   "tool_execution_started", "authorization_denied", "tool_execution_finished"}));
  const std::vector<Draft> events = governed.recorder.of(Kind::Event);
  EXPECT_EQ(canonical_json(events.at(3).body),
            R"({"action":"read_file","agent_id":"agent:a",)"
            R"("detail":"`/etc/shadow` is outside the workspace","kind":"authorization_denied"})");
  EXPECT_EQ(text_at(events.at(4), "/is_error"), "true");
}

// EV-42
TEST_F(RecordRegressionTest, NothingIsToldOfARuleThatAToolMeetsAfterItsCallWasGivenUp) {
  std::shared_ptr<Delivery> kept;
  governed.upstream = std::make_shared<FakeUpstream>(
      [&](Call, std::shared_ptr<Delivery> delivery, std::stop_token) -> Task<Envelope> {
        kept = std::move(delivery);
        co_return Envelope::of("hello");
      });
  call();
  kept->deny(event::DeniedAction::Shell, "too late");
  EXPECT_TRUE(kept->take_denials().empty());
}

// EV-42 EV-10 (partly) AU-23 (partly)
TEST_F(RecordRegressionTest, ARuleMetWhilePreparingIsToldBetweenStartAndEndOfTheDecision) {
  const auto tool = prepares();
  tool->next = [](unsigned) -> Task<std::optional<PrepareStep>> {
    co_return PrepareStep{.kind = PrepareStep::Kind::Refused,
                          .text = "outside the workspace",
                          .action = event::DeniedAction::WriteFile};
  };
  EXPECT_EQ(call().outcome, Outcome::blocked("outside the workspace"));
  EXPECT_EQ(governed.recorder.events(),
            (Names{"tool_authorization_started", "authorization_denied",
                   "tool_authorization_finished(deny)", "tool_authorization_blocked(deny)"}));
  const Draft denied = governed.recorder.of(Kind::Event).at(1);
  EXPECT_EQ(text_at(denied, "/action"), "write_file");
  EXPECT_EQ(text_at(denied, "/detail"), "outside the workspace");
  EXPECT_TRUE(tool->calls.empty());
}

// EV-42
TEST_F(RecordRegressionTest, HooksHearOfARuleOfARunningToolBeforeItsFinish) {
  governed.upstream = std::make_shared<FakeUpstream>(
      [](Call, std::shared_ptr<Delivery> delivery, std::stop_token) -> Task<Envelope> {
        delivery->deny(event::DeniedAction::ReadFile, "outside");
        co_return Envelope::error("outside");
      });
  Names heard;
  hears([&](const Event& event, const Subject&) -> Result<void> {
    heard.emplace_back(event_type(event));
    return {};
  });
  call();
  EXPECT_EQ(heard,
            (Names{"tool_authorization_started", "tool_authorization_finished",
                   "tool_execution_started", "authorization_denied", "tool_execution_finished"}));
}

// EV-75
TEST_F(RecordRegressionTest, AnApprovalThatAModifyVoidedIsInvalidatedAndCannotBeUsed) {
  Names questions;
  asks([&](const Question& question) {
    questions.push_back(question.approval_id);
    return Reply::approve("user:ada");
  });
  governed.plan.guard(std::make_shared<FunctionGuard>("late", [&](const Call&) {
    return questions.empty() ? Verdict::allow() : Verdict::rewrite({{"path", "/b"}});
  }));
  const Answer answer = call();
  EXPECT_EQ(answer.outcome.kind, Outcome::Kind::Completed);
  ASSERT_EQ(questions.size(), 2u);
  EXPECT_EQ(state_of(questions[0]), "invalidated");
  EXPECT_EQ(state_of(questions[1]), "used");
  Call waited = Governed::read_file();
  waited.call_id = answer.call_id;
  EXPECT_FALSE(test::run_now(governed.governor().resume(
      {.call = waited, .approval_id = questions[0]}, governed.upstream)));
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
}

// PI-48
TEST_F(RecordRegressionTest, TheNoticeOfARedactionIsAddedOnlyWhereThePolicyAsksForIt) {
  struct Case {
    std::string what;
    json::value redacted;
    std::string with_notice;
  };
  const Case cases[] = {{"text", "key ****", R"("key ****\n[redacted by policy]")"},
                        {"content of MCP",
                         {{"content", json::array{{{"type", "text"}, {"text", "****"}}}}},
                         R"({"content":[{"text":"****","type":"text"},)"
                         R"({"text":"[redacted by policy]","type":"text"}]})"},
                        {"data without a place for it", {{"key", "****"}}, R"({"key":"****"})"}};
  for (const Case& one : cases) {
    for (const bool shown : {false, true}) {
      Governed own;
      if (shown) own.plan.redaction_notice(true);
      const Verdict masked = Verdict::rewrite(Envelope::of(one.redacted).to_json());
      own.plan.result_guard(std::make_shared<FunctionResultGuard>(
          "mask", [&](const Envelope&, const ResultContext&) { return Verdict(masked); }));
      const Result<Answer> answer = own.call(Governed::read_file());
      ASSERT_TRUE(answer) << answer.error().message;
      EXPECT_TRUE(answer->result.success);
      EXPECT_EQ(canonical_json(answer->released.value),
                shown ? one.with_notice : canonical_json(one.redacted))
          << one.what;
    }
  }
}

// PI-48
TEST_F(RecordRegressionTest, AResultThatNothingWasTakenFromHasNoNotice) {
  governed.plan.redaction_notice(true);
  governed.upstream = std::make_shared<FakeUpstream>(
      [](Call, std::stop_token) -> Task<Envelope> { co_return Envelope::of("hello"); });
  EXPECT_EQ(call().result.output, "hello");
}

// EV-42 EV-63 (partly)
TEST_F(RecordRegressionTest, HooksHearOfARuleThatAToolMetWhilePreparing) {
  prepares()->next = [](unsigned) -> Task<std::optional<PrepareStep>> {
    co_return PrepareStep{.kind = PrepareStep::Kind::Refused,
                          .text = "outside",
                          .action = event::DeniedAction::WriteFile};
  };
  Names heard;
  hears([&](const Event& event, const Subject&) -> Result<void> {
    heard.emplace_back(event_type(event));
    return {};
  });
  call();
  EXPECT_EQ(heard, (Names{"tool_authorization_started", "authorization_denied",
                          "tool_authorization_finished", "tool_authorization_blocked"}));
}

}  // namespace
}  // namespace sallyport::core
