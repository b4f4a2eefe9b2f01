// Tools that describe their operation, wait for approval, and then do exactly that operation.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "core/call/preparing.h"
#include "core/handoff/interrupted_call.h"
#include "core/record/journal.h"
#include "support/governed.h"
#include "support/pause.h"

namespace sallyport::core {
namespace {

using test::FakePreparer;
using test::FunctionApprover;
using test::FunctionGuard;
using test::Governed;
using test::text_at;

using Step = PrepareStep;
using Steps = std::vector<std::string>;
using Next = FakePreparer::Next;

std::string in(std::chrono::milliseconds time) {
  return rfc3339(SystemClock().wall() + time);
}

class PreparationTest : public testing::Test {
 protected:
  PreparationTest() {
    governed.plan.autonomy(Autonomy::ActWithApproval);
    governed.tool = tool;
    approve();
  }

  void approve() {
    answer([](const Question&) { return Reply::approve("user:ada"); });
  }
  void answer(FunctionApprover::Decide decide) {
    governed.approver = std::make_shared<FunctionApprover>(std::move(decide));
  }

  Outcome outcome() {
    const Result<Answer> answer = governed.call(Governed::read_file());
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? answer->outcome : Outcome{};
  }

  // The object of AU-63 for the tool's preparation.
  json::value effective() const {
    return effective_input(Governed::read_file().input, tool->prepared);
  }

  Governed governed;
  std::shared_ptr<FakePreparer> tool = std::make_shared<FakePreparer>();
};

// The tool prepared again when the proposal ran. That was another operation, so a person was asked
// again, and no proposal of such a tool ever ran.
// AP-22 AU-63 (partly) AU-67 (partly)
TEST_F(PreparationTest, AnApprovedProposalExecutesWhatWasPreparedForIt) {
  governed.plan.autonomy(Autonomy::Suggest);
  tool->outlives = true;
  const Result<Answer> proposed = governed.call(Governed::read_file());
  ASSERT_TRUE(proposed);
  const std::string& id = proposed->approval_id;
  ASSERT_TRUE(
      test::run_now(governed.governor().approvals().answer(id, Reply::approve("user:ada"))));
  tool->prepared.operation_id = "op-2";
  const auto ran =
      test::run_now(governed.governor().run_answered([&](const Call&) { return tool; }));
  ASSERT_TRUE(ran && ran->size() == 1u);
  EXPECT_TRUE(ran->front().result.success) << ran->front().result.output;
  EXPECT_EQ(tool->preparations.size(), 1u);
  ASSERT_EQ(tool->calls.size(), 1u);
  EXPECT_EQ(tool->calls.front().input.at("operation_id"), "op-1");
}

// AU-6 AU-61 (partly) AU-63 AU-67
TEST_F(PreparationTest, WhatWasPreparedIsWhatIsAskedConfirmedAndExecuted) {
  tool->prepared.expires_at = in(std::chrono::minutes(5));
  std::optional<Question> asked;
  answer([&](const Question& question) {
    asked = question;
    return Reply::approve("user:ada");
  });
  EXPECT_EQ(outcome().kind, Outcome::Kind::Completed);
  const json::value expected{{"requested_input", {{"path", "/tmp/x"}}},
                             {"prepared_snapshot", {{"amount", 40}}},
                             {"operation_id", "op-1"},
                             {"revision", 3},
                             {"expires_at", *tool->prepared.expires_at}};
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->input, expected);
  EXPECT_EQ(asked->prepared, tool->prepared);
  ASSERT_EQ(tool->calls.size(), 1u);
  EXPECT_EQ(canonical_json(tool->calls[0].input), canonical_json(expected));
  EXPECT_EQ(tool->preparations.at(0).input, Governed::read_file().input);
  const auto records = governed.recorder.records();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(text_at(records[0], "/outcome/listen_context"),
            canonical_json(to_json(tool->prepared)));
  for (const Draft& record : records) {
    EXPECT_EQ(text_at(record, "/requested_input"), R"({"path":"/tmp/x"})");
    EXPECT_EQ(text_at(record, "/effective_input"), canonical_json(expected));
    EXPECT_EQ(text_at(record, "/call_digest"), asked->call_digest);
  }
  EXPECT_TRUE(tool->cancelled.empty());
}

// AU-62
TEST_F(PreparationTest, GuardsSeeTheRequestedInputAndThenWhatWasPrepared) {
  governed.plan.autonomy(Autonomy::ActAuto);
  Steps seen;
  governed.plan.guard(std::make_shared<FunctionGuard>("g", [&](const Call& call) {
    seen.push_back(canonical_json(call.input));
    return Verdict::allow();
  }));
  EXPECT_EQ(outcome().kind, Outcome::Kind::Completed);
  EXPECT_EQ(seen, (Steps{R"({"path":"/tmp/x"})", canonical_json(effective())}));
  const Draft record = governed.recorder.records().back();
  EXPECT_EQ(text_at(record, "/guards/0/pass"), "1");
  EXPECT_EQ(text_at(record, "/guards/1/pass"), "2");
}

// AU-62 AU-66
TEST_F(PreparationTest, AGuardMayRefuseWhatWasPrepared) {
  governed.plan.guard(std::make_shared<FunctionGuard>("limit", [](const Call& call) {
    const json::object* const input = call.input.if_object();
    if (!input->contains("prepared_snapshot")) return Verdict::allow();
    return Verdict::deny("40 is too much");
  }));
  EXPECT_EQ(outcome(), Outcome::blocked("40 is too much"));
  EXPECT_EQ(tool->cancelled, Steps{"op-1"});
  EXPECT_TRUE(tool->calls.empty());
}

// AU-62
TEST_F(PreparationTest, NothingIsPreparedForACallThatGuardsRefuse) {
  governed.plan.guard(
      std::make_shared<FunctionGuard>("g", [](const Call&) { return Verdict::deny("no"); }));
  EXPECT_EQ(outcome(), Outcome::blocked("no"));
  EXPECT_TRUE(tool->preparations.empty());
  EXPECT_TRUE(tool->cancelled.empty());
}

// AU-23 AU-27 AU-64 (partly)
TEST_F(PreparationTest, APreparationThatComesToNothingIsInvalidatedAndCalledOffOnce) {
  struct Case {
    Next next;
    Outcome outcome;
  };
  const Case cases[] = {
      {[](unsigned) -> Task<std::optional<Step>> {
         co_return Step{.kind = Step::Kind::Invalid, .text = "no such account"};
       },
       Outcome::invalidated("no such account")},
      {[](unsigned) -> Task<std::optional<Step>> { co_return std::optional<Step>{}; },
       Outcome::invalidated("preparation ended early")},
      {[](unsigned step) -> Task<std::optional<Step>> {
         if (step < 3) co_return Step{};
         co_return fail(ErrorCode::Unavailable, "line dropped");
       },
       Outcome::invalidated("preparation failed: line dropped")},
      {[](unsigned) -> Task<std::optional<Step>> { throw std::bad_alloc(); },
       Outcome::invalidated("preparation failed")},
      {[](unsigned) -> Task<std::optional<Step>> { co_return Step{}; },
       Outcome::invalidated("preparation sent too many updates")},
      {[](unsigned) -> Task<std::optional<Step>> {
         co_return Step{.kind = Step::Kind::Refused, .text = "account is frozen"};
       },
       Outcome::blocked("account is frozen")}};
  for (const Case& each : cases) {
    Governed fresh;
    const auto failing = std::make_shared<FakePreparer>();
    failing->next = each.next;
    fresh.tool = failing;
    const Result<Answer> answer = fresh.call(Governed::read_file());
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->outcome, each.outcome);
    EXPECT_EQ(answer->effect, EffectState::None);
    EXPECT_EQ(failing->cancelled.size(), 1u) << each.outcome.text;
    EXPECT_TRUE(failing->calls.empty());
    EXPECT_EQ(fresh.recorder.records().size(), 1u);
  }
}

// AU-64 (partly)
TEST_F(PreparationTest, UpTo240UpdatesMayComeBeforeItIsReady) {
  for (const unsigned updates : {240u, 241u}) {
    Governed fresh;
    const auto slow = std::make_shared<FakePreparer>();
    slow->next = [updates](unsigned step) -> Task<std::optional<Step>> {
      if (step <= updates) co_return Step{};
      co_return Step{.kind = Step::Kind::Ready, .prepared = {.operation_id = "op-1"}};
    };
    fresh.tool = slow;
    EXPECT_EQ(fresh.call(Governed::read_file())->outcome.kind,
              updates == 240 ? Outcome::Kind::Completed : Outcome::Kind::Invalidated);
  }
}

// AU-64
TEST(PrepareTest, SilenceAndLengthHaveLimits) {
  const PreparationLimits defaults;
  EXPECT_EQ(defaults.silence, std::chrono::seconds(30));
  EXPECT_EQ(defaults.whole, std::chrono::minutes(5));
  EXPECT_EQ(defaults.steps, 240u);
  using std::chrono::milliseconds;
  struct Case {
    PreparationLimits limits;
    milliseconds each_step;
  };
  const Case cases[] = {
      {{.silence = milliseconds(20), .whole = milliseconds(10'000)}, milliseconds(10'000)},
      {{.silence = milliseconds(10'000), .whole = milliseconds(40)}, milliseconds(5)},
      {{.silence = milliseconds(10'000), .whole = milliseconds(40)}, milliseconds(10'000)}};
  for (const Case& each : cases) {
    const auto tool = std::make_shared<FakePreparer>();
    tool->next = [&](unsigned) -> Task<std::optional<Step>> {
      co_await test::pause(each.each_step);
      co_return Step{};
    };
    const KeyedDigest digest("k");
    FailOpenLog fail_open("instance-1");
    Trail trail(Governed::read_file(), *PlanBuilder().build(), digest, fail_open);
    const SystemClock clock;
    const SteadyTime begin = clock.steady();
    test::run_now([&]() -> Async<bool> {
      co_await prepare(trail, tool, clock, {}, each.limits);
      co_return true;
    }());
    EXPECT_LT(clock.steady() - begin, std::chrono::seconds(5));
    ASSERT_FALSE(trail.open());
    EXPECT_EQ(trail.refusal()->by, Refusal::By::Preparation);
    EXPECT_EQ(tool->cancelled.size(), 1u);
  }
}

// AU-27 AU-65
TEST_F(PreparationTest, SilenceUntilThePreparationExpiresInvalidatesIt) {
  governed.approver = nullptr;
  tool->prepared.expires_at = in(std::chrono::milliseconds(60));
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome,
            Outcome::invalidated("the preparation expired at " + *tool->prepared.expires_at));
  EXPECT_EQ(tool->cancelled, Steps{"op-1"});
  EXPECT_TRUE(tool->calls.empty());
  const Result<void> late = test::run_now(
      governed.governor().approvals().answer(answer->approval_id, Reply::approve("user:ada")));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().cause, "expired");
}

// AU-65
TEST_F(PreparationTest, AYesThatComesWhenThePreparationIsOverExecutesNothing) {
  tool->prepared.expires_at = in(std::chrono::milliseconds(40));
  answer([&](const Question& question) {
    EXPECT_EQ(question.expires_at, *tool->prepared.expires_at) << "that is how long one may answer";
    while (SystemClock().wall() < *from_rfc3339(*tool->prepared.expires_at)) {
    }
    return Reply::approve("user:ada");
  });
  EXPECT_EQ(outcome(),
            Outcome::invalidated("the preparation expired at " + *tool->prepared.expires_at));
  EXPECT_EQ(tool->cancelled, Steps{"op-1"});
  EXPECT_TRUE(tool->calls.empty());
}

// AU-66
TEST_F(PreparationTest, ARejectionCallsThePreparationOffOnce) {
  answer([](const Question&) { return Reply::deny("user:ada", "too dear"); });
  EXPECT_EQ(outcome(), Outcome::blocked("too dear"));
  EXPECT_EQ(tool->cancelled, Steps{"op-1"});
  EXPECT_TRUE(tool->calls.empty());
}

// AU-66
TEST_F(PreparationTest, ADenialAtUseCallsThePreparationOffOnce) {
  answer([&](const Question&) {
    governed.change_plan(PlanBuilder()
                             .autonomy(Autonomy::ActWithApproval)
                             .guard(std::make_shared<FunctionGuard>(
                                 "g", [](const Call&) { return Verdict::deny("closed"); })));
    return Reply::approve("user:ada");
  });
  EXPECT_EQ(outcome(), Outcome::blocked("closed"));
  EXPECT_EQ(tool->cancelled, Steps{"op-1"});
  EXPECT_EQ(tool->preparations.size(), 1u) << "it is not prepared a second time";
  EXPECT_TRUE(tool->calls.empty());
}

// AU-17 AU-67
TEST_F(PreparationTest, AnotherRevisionIsInvalidatedAndNothingWasDone) {
  tool->execute = [](Call, std::stop_token) -> Task<Envelope> {
    co_return PreparingUpstream::other_revision("it is at revision 4 now");
  };
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome, Outcome::invalidated("it is at revision 4 now"));
  EXPECT_EQ(answer->effect, EffectState::None);
  EXPECT_EQ(text_at(governed.recorder.records().back(), "/post_invocation"), "null");
  tool->execute = {};
  EXPECT_EQ(outcome().kind, Outcome::Kind::Completed) << "it may be presented again";
}

// AU-68 (partly)
TEST_F(PreparationTest, PreparingHonoursACancel) {
  std::stop_source stop;
  tool->next = [&](unsigned) -> Task<std::optional<Step>> {
    stop.request_stop();
    co_await test::pause(std::chrono::seconds(20));
    co_return Step{};
  };
  const Result<Answer> answer = governed.call(Governed::read_file(), stop.get_token());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome, Outcome::blocked("cancelled"));
  EXPECT_EQ(tool->cancelled.size(), 1u);
}

// AU-96
TEST_F(PreparationTest, AnEndThatIsNoTimeOrAlreadyPastInvalidates) {
  for (const std::string& end : {std::string("tomorrow"), std::string("2026-13-01T00:00:00Z"),
                                 std::string(""), in(std::chrono::milliseconds(-1))}) {
    Governed fresh;
    const auto late = std::make_shared<FakePreparer>();
    late->prepared.expires_at = end;
    fresh.tool = late;
    const Result<Answer> answer = fresh.call(Governed::read_file());
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Invalidated);
    EXPECT_NE(answer->outcome.text.find(end), std::string::npos) << answer->outcome.text;
    EXPECT_EQ(late->cancelled, Steps{"op-1"});
    EXPECT_TRUE(late->calls.empty());
  }
}

// AU-79
TEST_F(PreparationTest, TheRecoveryClassFollowsTierEffectAndTheTool) {
  struct Case {
    Classification classification;
    bool prepares;
    bool outlives;
    std::string recovery;
  };
  const Case cases[] = {
      {{Tier::Observe, "none"}, false, false, "replay_safe"},
      {{Tier::Observe, "external_write"}, false, false, "side_effecting"},
      {{Tier::Confirm, "none"}, false, false, "side_effecting"},
      {{Tier::Confirm, "external_write"}, true, false, "side_effecting"},
      {{Tier::Confirm, "external_write"}, true, true, "resumable"},
  };
  for (const Case& each : cases) {
    Governed fresh;
    fresh.plan.tool("", "read_file", each.classification);
    const auto preparer = std::make_shared<FakePreparer>();
    preparer->outlives = each.outlives;
    if (each.prepares) fresh.tool = preparer;
    ASSERT_TRUE(fresh.call(Governed::read_file()));
    EXPECT_EQ(text_at(fresh.recorder.records().back(), "/recovery_class"), each.recovery);
  }
}

// Leaves the state of a process that died while its tool ran.
void die_in_the_middle(Governed& governed) {
  governed.recorder.refuse_reports = Error{ErrorCode::Unavailable, "the disk is gone"};
  EXPECT_FALSE(governed.call(Governed::read_file()));
  governed.recorder.refuse_reports.reset();
  governed.recorder.owed.clear();
  governed.recorder.dead.insert(governed.recorder.instance);
  governed.recorder.instance = "instance-2";
  governed.restart();
  for (std::size_t i = 0; i < governed.recorder.written.size(); ++i) {
    if (governed.recorder.written[i].kind != Kind::Intent) continue;
    EXPECT_TRUE(test::run_now(governed.recorder.append(
        close_interrupted(*governed.recorder.entry(i)), Urgency::Reports)));
    break;
  }
}

// AU-50 AU-78
TEST_F(PreparationTest, AResumableCallThatWasCutShortExecutesItsOperationAndIsNotPreparedAgain) {
  governed.plan.autonomy(Autonomy::ActAuto);
  tool->outlives = true;
  die_in_the_middle(governed);
  tool->preparations.clear();
  tool->calls.clear();
  EXPECT_EQ(outcome().kind, Outcome::Kind::Completed);
  EXPECT_TRUE(tool->preparations.empty());
  ASSERT_EQ(tool->calls.size(), 1u);
  EXPECT_EQ(canonical_json(tool->calls[0].input), canonical_json(effective()));
  EXPECT_EQ(outcome().kind, Outcome::Kind::Cached);
  EXPECT_EQ(tool->calls.size(), 1u) << "once";
}

// AU-50 AU-78
TEST_F(PreparationTest, AnotherCallUnderTheSameIdDoesNotExecuteTheKeptOperation) {
  governed.plan.autonomy(Autonomy::ActAuto);
  tool->outlives = true;
  die_in_the_middle(governed);
  tool->calls.clear();
  Call other = Governed::read_file();
  other.input = {{"path", "/etc/shadow"}};
  const Result<Answer> answer = governed.call(other);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Blocked);
  EXPECT_TRUE(tool->calls.empty());
  EXPECT_EQ(tool->preparations.size(), 2u) << "it was prepared by itself";
}

// AU-50 AU-78
TEST_F(PreparationTest, APreparedCallThatIsNotResumableIsNotRepeated) {
  governed.plan.autonomy(Autonomy::ActAuto);
  die_in_the_middle(governed);
  tool->calls.clear();
  const Outcome again = outcome();
  EXPECT_EQ(again.kind, Outcome::Kind::Blocked);
  EXPECT_TRUE(again.text.starts_with("unknown outcome:")) << again.text;
  EXPECT_TRUE(tool->calls.empty());
  EXPECT_EQ(tool->cancelled, Steps{"op-1"}) << "the second preparation is called off";
}

// AU-80
TEST_F(PreparationTest, OnlyAQuestionAboutWhatDiesWithItsProcessIsClosedByRecovery) {
  governed.approver = nullptr;
  for (const bool outlives : {true, false}) {
    for (const bool prepares : {true, false}) {
      Governed fresh;
      fresh.plan.autonomy(Autonomy::ActWithApproval);
      const auto preparer = std::make_shared<FakePreparer>();
      preparer->outlives = outlives;
      if (prepares) fresh.tool = preparer;
      const Result<Answer> asked = fresh.call(Governed::read_file(), Caller{.holds = false});
      ASSERT_TRUE(asked);
      const auto open = *fresh.recorder.facts("open_call");
      ASSERT_EQ(open.size(), prepares && !outlives ? 1u : 0u);
      if (open.empty()) continue;
      const auto placed = *split_place(*open[0].value);
      EXPECT_EQ(placed.value, fresh.recorder.instance);
      const auto closing = close_interrupted(*fresh.recorder.entry(placed.sequence));
      ASSERT_EQ(closing.size(), 1u);
      EXPECT_EQ(closing[0].outcome, "invalidated");
      EXPECT_EQ(closing[0].subject->call_id, asked->call_id);
      EXPECT_EQ(text_at(closing[0], "/terminal"), "true");
      EXPECT_EQ(text_at(closing[0], "/effect_state"), "none");
      EXPECT_TRUE(text_at(closing[0], "/outcome/reason").starts_with("interrupted:"));
    }
  }
}

}  // namespace
}  // namespace sallyport::core
