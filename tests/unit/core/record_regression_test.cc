// Former faults: missing, doubled or wrong records and events.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <stdexcept>

#include "support/pause.h"
#include "unit/core/governed_test.h"

namespace sallyport::core {
namespace {

using std::chrono::milliseconds;
using test::FakeUpstream;
using test::FunctionGuard;
using test::FunctionResultGuard;
using test::text_at;

std::shared_ptr<FunctionGuard> guard(std::string name, Verdict verdict) {
  return std::make_shared<FunctionGuard>(std::move(name),
                                         [verdict](const Call&) { return verdict; });
}

class RecordRegressionTest : public GovernedTest {};

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
TEST_F(RecordRegressionTest, AnAgentCannotApproveItsCall) {
  governed.plan.autonomy(Autonomy::ActWithApproval);
  const Answer waiting = call(Governed::read_file(), Caller{.holds = false});
  const Result<void> answered = test::run_now(
      governed.governor().approvals().answer(waiting.approval_id, Reply::approve("agent:a")));
  ASSERT_FALSE(answered);
  EXPECT_EQ(answered.error().where, "by");
  EXPECT_EQ(state_of(waiting.approval_id), "pending");
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
    co_await test::pause(milliseconds(5000));
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
    co_await test::pause(milliseconds(20));
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
  EXPECT_EQ(canonical_json(events.at(3).body.members()),
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

}  // namespace
}  // namespace sallyport::core
