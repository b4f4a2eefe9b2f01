// Former faults: each test begins with the specification lines that were broken.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <map>

#include "core/call/governor.h"
#include "core/handoff/hand_offs.h"
#include "core/plan/authorizer.h"
#include "core/plan/pre_hook.h"
#include "support/governed.h"
#include "support/test_clock.h"

namespace sallyport::core {
namespace {

using test::FakeUpstream;
using test::FunctionGuard;
using test::FunctionHook;
using test::FunctionResultGuard;
using test::Governed;
using Texts = std::vector<std::string>;

std::shared_ptr<FunctionResultGuard> says(std::string name, Verdict verdict) {
  return std::make_shared<FunctionResultGuard>(
      std::move(name), [verdict](const Envelope&, const ResultContext&) { return verdict; });
}

Call second_call() {
  Call call = Governed::read_file();
  call.tool_call_id = "toolu_2";
  return call;
}

// PI-80 PI-84
TEST(RegressionTest, AnItemWhoseRecordCouldNotBeWrittenIsOwedWithIt) {
  Governed governed;
  governed.plan.result_guard(says("pii", Verdict::escalate("seen")));
  governed.recorder.refuse_reports = Error{ErrorCode::Unavailable, "disk full"};
  EXPECT_FALSE(governed.call(Governed::read_file()));
  const auto items = std::ranges::count(governed.recorder.owed, Kind::Approval, &Draft::kind);
  EXPECT_EQ(items, 1);
}

// PI-81 PI-83
TEST(RegressionTest, AMessageAfterItsItemWasSettledOpensANewOne) {
  Governed governed;
  governed.plan.result_guard(says("pii", Verdict::escalate("seen")));
  ASSERT_TRUE(governed.call(Governed::read_file()));
  Escalations& escalations = governed.governor().escalations();
  ASSERT_TRUE(
      test::run_now(escalations.settle(escalations.waiting()->at(0).id, true, "user:ada", "")));
  ASSERT_TRUE(governed.call(second_call()));
  EXPECT_EQ(escalations.waiting()->size(), 1u);
}

// PI-80 PI-29
TEST(RegressionTest, AnEscalationOverAMessageOnTheWayOpensAnItem) {
  Governed governed;
  governed.plan.result_guard(std::make_shared<FunctionResultGuard>(
      "pii", [](const Envelope& envelope, const ResultContext&) {
        return envelope.value == json::value("10 %") ? Verdict::escalate("seen") : Verdict::allow();
      }));
  governed.upstream = std::make_shared<FakeUpstream>(
      [](Call, std::shared_ptr<Delivery> delivery, std::stop_token) -> Task<Envelope> {
        co_await delivery->progress("10 %");
        co_return Envelope::of("done");
      });
  ASSERT_TRUE(governed.call(Governed::read_file(), Caller{.progress = [](const json::value&) {}}));
  EXPECT_EQ(governed.governor().escalations().waiting()->size(), 1u);
}

// PI-80 PI-87
TEST(RegressionTest, AnEscalationBeforeTheCallIsNeverEmptyAndItsIdStandsInTheRecord) {
  Governed governed;
  governed.plan.guard(
      std::make_shared<FunctionGuard>("night", [](const Call&) { return Verdict::escalate(""); }));
  ASSERT_TRUE(governed.call(Governed::read_file()));
  const EscalationItem item = governed.governor().escalations().waiting()->at(0);
  EXPECT_EQ(item.message, "escalated by night");
  EXPECT_NE(canonical_json(governed.recorder.records().back().body.members()).find(item.id),
            std::string::npos);
}

// EV-87
TEST(RegressionTest, TheErrorOfAnAuthorizerIsTheReason) {
  Governed governed;
  governed.plan.guard(
      std::make_shared<AuthorizerGuard>("host", [](AuthorizationRequest) -> Task<Authorization> {
        co_return fail(ErrorCode::Unavailable, "backend down");
      }));
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_NE(answer->outcome.text.find("backend down"), std::string::npos) << answer->outcome.text;
}

// PI-28 PI-32
TEST(RegressionTest, WhatAToolSaysAboutAnotherRevisionPassesTheDoor) {
  Governed governed;
  governed.plan.result_guard(says("strict", Verdict::deny("closed")));
  governed.upstream = std::make_shared<FakeUpstream>([](Call, std::stop_token) -> Task<Envelope> {
    co_return PreparingUpstream::other_revision("the row now holds hunter2");
  });
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->result.output.find("hunter2"), std::string::npos);
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Invalidated);
}

// PI-35
TEST(RegressionTest, AHookThatSetsNoLimitHasOneSecond) {
  Governed governed;
  test::TestClock clock;
  governed.clock = &clock;
  governed.plan.result_guard(
      std::make_shared<FunctionResultGuard>("slow", [&](const Envelope&, const ResultContext&) {
        clock.advance(std::chrono::milliseconds(1001));
        return Verdict::allow();
      }));
  EXPECT_EQ(governed.call(Governed::read_file())->result.output,
            "Result withheld by slow: guard slow failed: timeout");
}

// PI-85
TEST(RegressionTest, BadTextInAStreamThatBreaksOffAndInAFaultIsMalformedOutput) {
  for (const bool chunk : {true, false}) {
    Governed governed;
    governed.upstream = std::make_shared<FakeUpstream>(
        [chunk](Call, std::shared_ptr<Delivery> delivery, std::stop_token) -> Task<Envelope> {
          if (chunk) delivery->add("\xff");
          co_return fail(ErrorCode::Unavailable, chunk ? "reset" : "reset \xff");
        });
    const Result<Answer> answer = governed.call(Governed::read_file());
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->result.output, "upstream sent malformed output");
  }
}

// PI-36
TEST(RegressionTest, ARedactionThatNoJsonTextCouldHoldIsMalformed) {
  Governed governed;
  governed.plan.result_guard(says("mask", Verdict::rewrite(Envelope::of("\xff").to_json())));
  EXPECT_EQ(governed.call(Governed::read_file())->result.output,
            "Result withheld by mask: guard mask failed: malformed redaction");
}

// EV-110 PI-38
TEST(RegressionTest, WhateverTextAGuardGivesTheRecordCanHoldIt) {
  Verdict evidence = Verdict::allow();
  evidence.evidence = json::value("\xff");
  for (const Verdict& verdict :
       {Verdict::deny("\xff"), Verdict::escalate("\xff"), Verdict::ask("\xff"), evidence}) {
    for (const bool before : {true, false}) {
      Governed governed;
      if (before) {
        governed.plan.guard(
            std::make_shared<FunctionGuard>("g", [verdict](const Call&) { return verdict; }));
      } else {
        governed.plan.result_guard(says("g", verdict));
      }
      ASSERT_TRUE(governed.call(Governed::read_file(), Caller{.holds = false}));
      for (const Draft& draft : governed.recorder.written) {
        EXPECT_TRUE(check_json(json::value(draft.body.members())));
      }
    }
  }
}

// PI-88
TEST(RegressionTest, ControlCharactersOfTheSecondKindAreStrippedToo) {
  Governed governed;
  governed.plan.result_guard(says("strict", Verdict::deny("a\xc2\x9b"
                                                          "31mb")));
  EXPECT_EQ(governed.call(Governed::read_file())->result.output,
            "Result withheld by strict: a31mb");
}

// PI-88
TEST(RegressionTest, MessagesAndQuestionsAreStrippedBeforeAnybodySeesThem) {
  Governed governed;
  governed.plan.result_guard(says("pii", Verdict::escalate("a\x1b[31mb")));
  ASSERT_TRUE(governed.call(Governed::read_file()));
  EXPECT_EQ(governed.governor().escalations().waiting()->at(0).message, "a[31mb");
  Governed asking;
  asking.plan.guard(std::make_shared<FunctionGuard>(
      "ask", [](const Call&) { return Verdict::ask("a\x1b[31mb"); }));
  EXPECT_EQ(asking.call(Governed::read_file(), Caller{.holds = false})->outcome.text, "a[31mb");
}

class ThrowingPreview final : public Upstream {
 public:
  explicit ThrowingPreview(bool throws) : throws_(throws) {}
  Task<Envelope> invoke(Call, std::shared_ptr<Delivery>, std::stop_token) override {
    co_return Envelope::of("ran");
  }
  Result<json::value> structured_input(const Call&) const override {
    if (throws_) throw std::runtime_error("secret detail");
    return json::value("\xff");
  }

 private:
  bool throws_;
};

// EV-86 EV-110
TEST(RegressionTest, APreviewThatThrowsOrIsNoJsonDenies) {
  for (const bool throws : {true, false}) {
    Governed governed;
    governed.tool = std::make_shared<ThrowingPreview>(throws);
    const Result<Answer> answer = governed.call(Governed::read_file());
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Blocked);
    EXPECT_EQ(governed.recorder.events().size(), 3u);
  }
}

class ThrowingApprover final : public Approver {
 public:
  Task<Reply> answer(Question) const override {
    throw std::runtime_error("secret detail");
    co_return Reply{};
  }
};

// EV-37
TEST(RegressionTest, AnApproverThatThrowsRefuses) {
  Governed governed;
  governed.plan.autonomy(Autonomy::ActWithApproval);
  governed.approver = std::make_shared<ThrowingApprover>();
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Blocked);
}

// EV-71
TEST(RegressionTest, AModifyWithANumberThatNoDoubleHoldsRunsAsItWasGiven) {
  Governed governed;
  std::string given = R"({"n":9007199254740993})";
  governed.plan.guard(std::make_shared<PreHookGuard>(
      "h",
      [&](PreHookContext context) -> Task<PreHookDecision> {
        if (context.pass > 1) co_return PreHookDecision::allow();
        co_return PreHookDecision::modify(given);
      },
      PreHookGuard::Options{}));
  ASSERT_TRUE(governed.call(Governed::read_file()));
  EXPECT_EQ(governed.upstream->calls.at(0).raw_input.value_or("(none)"), given);
  Call call = second_call();
  call.raw_input = given;
  call.input = parse_json(given)->value;
  given = R"({"n":9007199254740992})";
  ASSERT_TRUE(governed.call(call));
  EXPECT_NE(governed.upstream->calls.at(1).raw_input.value_or("(none)"), *call.raw_input);
}

class HandOffRegressionTest : public testing::Test {
 protected:
  HandOffs& hand_offs() {
    if (!hand_offs_) {
      continuations_.emplace(governed.recorder, governed.recorder, KeyedDigest("k"), clock,
                             entropy_);
      hand_offs_.emplace(governed.governor(), *continuations_);
    }
    return *hand_offs_;
  }
  HandOffs::HandedOut hand_out(std::vector<Call> calls) {
    governed.clock = &clock;
    return *test::run_now(hand_offs().hand_out({.session_id = "s-1"}, std::move(calls), {},
                                               std::chrono::seconds(60)));
  }
  test::TestClock clock;
  Governed governed;

 private:
  SystemEntropy entropy_;
  std::optional<Continuations> continuations_;
  std::optional<HandOffs> hand_offs_;
};

// EV-60 EV-19
TEST_F(HandOffRegressionTest, AStartThatAListenerRefusedIsNotHandedOutAndFinishesOnce) {
  ASSERT_TRUE(governed.hooks.with_hook(std::make_shared<FunctionHook>(
      "siem", [](const Event& event, const Subject&) -> Result<void> {
        if (event_type(event) == "tool_execution_started") return fail(ErrorCode::Internal, "no");
        return {};
      })));
  EXPECT_TRUE(hand_out({Governed::read_file()}).hand_off.tool_calls.empty());
  clock.advance(std::chrono::seconds(61));
  ASSERT_TRUE(test::run_now(hand_offs().expire()));
  EXPECT_EQ(governed.recorder.events().size(), 4u);
  EXPECT_EQ(governed.recorder.records().size(), 1u);
}

// EV-63
TEST_F(HandOffRegressionTest, HooksHearWhichCallFinished) {
  std::map<std::string, int> heard;
  ASSERT_TRUE(governed.hooks.with_hook(std::make_shared<FunctionHook>(
      "siem", [&](const Event&, const Subject& subject) -> Result<void> {
        ++heard[subject.call_id];
        return {};
      })));
  const HandOffs::HandedOut given = hand_out({Governed::read_file(), second_call()});
  ASSERT_TRUE(test::run_now(hand_offs().submit({given.hand_off.continuation,
                                                {{"toolu_1", {.success = true, .output = "1"}},
                                                 {"toolu_2", {.success = true, .output = "2"}}}},
                                               "s-1")));
  EXPECT_EQ(heard.size(), 2u);
  for (const auto& [call_id, count] : heard) EXPECT_EQ(count, 4) << call_id;
}

// PI-39
TEST_F(HandOffRegressionTest, AHookThatFailsOpenOverAHandedOutResultOpensAStretch) {
  governed.plan
      .result_guard(std::make_shared<FunctionResultGuard>(
          "remote",
          [](const Envelope&, const ResultContext&) -> Result<Verdict> {
            return fail(ErrorCode::Unavailable, "down");
          }))
      .fail_open("remote");
  const HandOffs::HandedOut given = hand_out({Governed::read_file()});
  ASSERT_TRUE(test::run_now(hand_offs().submit(
      {given.hand_off.continuation, {{"toolu_1", {.success = true, .output = "1"}}}}, "s-1")));
  EXPECT_EQ(governed.recorder.of(Kind::Control).size(), 1u);
}

}  // namespace
}  // namespace sallyport::core
