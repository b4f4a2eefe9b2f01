// Former faults of calls whose tools prepare first.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <stdexcept>

#include "support/pause.h"
#include "unit/core/governed_test.h"

namespace sallyport::core {
namespace {

using std::chrono::milliseconds;
using test::FakePreparer;
using test::FunctionGuard;
using test::text_at;

Verdict with_limit(const Call& call) {
  json::value input = call.input;
  input.as_object()["limit"] = 10;
  return Verdict::rewrite(std::move(input));
}

class PreparationRegressionTest : public GovernedTest {};

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
TEST_F(PreparationRegressionTest, AToolThatThrowsBeforeItRunsEndsItsCallInOneRecord) {
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
TEST_F(PreparationRegressionTest, AToolThatGivesNoPreparationIsInvalidated) {
  governed.tool = std::make_shared<WithoutPreparation>();
  EXPECT_EQ(call().outcome, Outcome::invalidated("preparation failed"));
  EXPECT_EQ(outcomes(), Names{"invalidated"});
}

// AU-68
TEST_F(PreparationRegressionTest, APreparationIsNotWaitedForBeyondTheTimeOfItsCall) {
  prepares()->next = [](unsigned) -> Task<std::optional<PrepareStep>> {
    co_await test::pause(milliseconds(5000));
    co_return std::optional<PrepareStep>{};
  };
  Call asked = Governed::read_file();
  asked.time_limit = milliseconds(50);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(call(asked).outcome.kind, Outcome::Kind::Invalidated);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(2500));
}

// AU-62 AU-63 AU-72
TEST_F(PreparationRegressionTest, ARewritingGuardDoesNotVoidTheApprovalOfWhatWasPrepared) {
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
TEST_F(PreparationRegressionTest, ADecidingGuardThatRewritesAndAPreparationSettle) {
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
TEST_F(PreparationRegressionTest, APreparationWhoseCallIsAnsweredFromTheRecordIsCancelled) {
  const auto tool = prepares();
  call();
  EXPECT_TRUE(tool->cancelled.empty());
  EXPECT_EQ(call().outcome.kind, Outcome::Kind::Cached);
  EXPECT_EQ(tool->preparations.size(), 2u);
  EXPECT_EQ(tool->cancelled, Names{"op-1"});
}

// AU-66 (partly) AU-76
TEST_F(PreparationRegressionTest, APreparationIsCancelledWhenItsIntentOrQuestionCannotBeWritten) {
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
TEST_F(PreparationRegressionTest, APreparationIsCancelledWhenItsCallerLeavesBeforeItIsExecuted) {
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

// AU-32 AU-66
TEST_F(PreparationRegressionTest, APreparedCallThatIsResumedAndRefusedLeavesNothingForRecovery) {
  const auto tool = prepares();
  Governor::Resumption refused = refused_by_a_person();
  EXPECT_EQ(open_calls(), 1u);
  refused.prepared = tool->prepared;
  ASSERT_TRUE(test::run_now(governed.governor().resume(refused, tool)));
  EXPECT_EQ(outcomes(), (Names{"requires_confirmation", "blocked"}));
  EXPECT_EQ(open_calls(), 0u);
  EXPECT_EQ(tool->cancelled, Names{"op-1"});
}

// EV-42 EV-10 (partly) AU-23 (partly)
TEST_F(PreparationRegressionTest, ARuleMetWhilePreparingIsToldBetweenStartAndEndOfTheDecision) {
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

// EV-42 EV-63 (partly)
TEST_F(PreparationRegressionTest, HooksHearOfARuleThatAToolMetWhilePreparing) {
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
