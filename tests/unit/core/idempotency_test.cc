// The same call presented again: answered once, run once, never mixed up with another.
#include "core/call/idempotency.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>

#include "support/governed.h"
#include "support/pause.h"

namespace sallyport::core {
namespace {

using test::FakeUpstream;
using test::FunctionApprover;
using test::FunctionGuard;
using test::FunctionResultGuard;
using test::Governed;
using test::text_at;

using Simple = FakeUpstream::Simple;

// Counts its answers, so that a test can identify them.
std::shared_ptr<FakeUpstream> counting() {
  const auto count = std::make_shared<int>(0);
  return std::make_shared<FakeUpstream>(Simple([count](Call, std::stop_token) -> Task<Envelope> {
    co_return Envelope::of(json::value("answer " + std::to_string(++*count)));
  }));
}

std::string said(const Result<Answer>& answer) {
  if (!answer) return "error: " + answer.error().message;
  return std::string(to_string(answer->outcome.kind)) + ": " +
         (answer->outcome.result ? answer->outcome.result->output : answer->outcome.text);
}

// Another Governor on the same records, as in a second process.
class OtherProcess {
 public:
  explicit OtherProcess(Recorder& recorder)
      : governor_({plans_, recorder, redactor_, clock_, entropy_, KeyedDigest("k")}) {}

  Result<Answer> call(Call call) { return test::run_now(governor_.run(std::move(call), upstream)); }

  std::shared_ptr<FakeUpstream> upstream = std::make_shared<FakeUpstream>();

 private:
  FixedPlan plans_{*PlanBuilder().autonomy(Autonomy::ActAuto).build()};
  NoRedactor redactor_;
  SystemClock clock_;
  SystemEntropy entropy_;
  Governor governor_;
};

// AU-44
TEST(IdempotencyTest, TheRowOfACallSaysWhereItStands) {
  Governed governed;
  std::optional<IdempotencyRow> meanwhile;
  governed.upstream =
      std::make_shared<FakeUpstream>(Simple([&](Call, std::stop_token) -> Task<Envelope> {
        meanwhile = *governed.governor().idempotency().read("s-1", "toolu_1");
        co_return Envelope::of("hello");
      }));
  EXPECT_FALSE(*governed.governor().idempotency().read("s-1", "toolu_1"));
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_TRUE(answer);
  ASSERT_TRUE(meanwhile);
  EXPECT_EQ(meanwhile->status, IdempotencyRow::Status::InFlight);
  EXPECT_FALSE(meanwhile->result);
  EXPECT_FALSE(meanwhile->completed_at);
  const auto row = *governed.governor().idempotency().read("s-1", "toolu_1");
  ASSERT_TRUE(row);
  EXPECT_EQ(row->status, IdempotencyRow::Status::Completed);
  EXPECT_EQ(row->session_id, "s-1");
  EXPECT_EQ(row->tool_call_id, "toolu_1");
  EXPECT_EQ(row->call_id, answer->call_id);
  EXPECT_EQ(row->request_digest, text_at(governed.recorder.records().back(), "/request_digest"));
  EXPECT_EQ(row->tool_name, "read_file");
  EXPECT_EQ(row->display_name, "read_file");
  EXPECT_EQ(row->input, (json::value{{"path", "/tmp/x"}}));
  ASSERT_TRUE(row->result);
  EXPECT_EQ(row->result->output, "hello");
  EXPECT_EQ(row->started_at, meanwhile->started_at);
  EXPECT_TRUE(row->completed_at);
}

// AU-45
TEST(IdempotencyTest, TheRowChangesInTheCommitsOfIntentAndOutcome) {
  Governed governed;
  ASSERT_TRUE(governed.call(Governed::read_file()));
  std::vector<std::string> changes;
  for (const Draft& draft : governed.recorder.written) {
    for (const Fact& fact : draft.facts) {
      if (fact.space != "idempotency") continue;
      changes.push_back(std::string(to_string(draft.kind)) + " " +
                        std::string(json::parse(*fact.value).at("status").as_string()));
    }
  }
  EXPECT_EQ(changes, (std::vector<std::string>{"intent InFlight", "tool_audit Completed"}));
}

// AU-25 AU-32 AU-34 AU-46
TEST(IdempotencyTest, AnAnsweredCallIsAnsweredAgainWithoutTheTool) {
  Governed governed;
  governed.upstream = counting();
  int judged = 0;
  governed.plan.guard(std::make_shared<FunctionGuard>("g", [&](const Call&) {
    ++judged;
    return Verdict::allow();
  }));
  EXPECT_EQ(said(governed.call(Governed::read_file())), "completed: answer 1");
  const Result<Answer> again = governed.call(Governed::read_file());
  EXPECT_EQ(said(again), "cached: answer 1");
  EXPECT_TRUE(again->result.success);
  EXPECT_EQ(again->result.output, "answer 1");
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
  EXPECT_EQ(judged, 2) << "what is allowed is decided now";
  const Draft record = governed.recorder.records().back();
  EXPECT_EQ(record.outcome, "cached");
  EXPECT_EQ(record.subject->call_id, again->call_id);
  EXPECT_EQ(text_at(record, "/terminal"), "true");
  EXPECT_EQ(text_at(record, "/effect_state"), "none");
  EXPECT_EQ(text_at(record, "/guards/0/verdict"), "allow");
  EXPECT_EQ(governed.recorder.of(Kind::Intent).size(), 1u);
  EXPECT_EQ(governed.recorder.records().size(), 2u);
  EXPECT_EQ(said(governed.call(Governed::read_file())), "cached: answer 1");
}

// AU-46
TEST(IdempotencyTest, GuardsAndAutonomyOfTodayDecideAboutAStoredAnswer) {
  Governed governed;
  governed.upstream = counting();
  int asked = 0;
  governed.approver = std::make_shared<FunctionApprover>([&](const Question&) {
    ++asked;
    return Reply::deny("user:ada", "not again");
  });
  ASSERT_TRUE(governed.call(Governed::read_file()));
  governed.change_plan(PlanBuilder()
                           .autonomy(Autonomy::ActAuto)
                           .guard(std::make_shared<FunctionGuard>(
                               "g", [](const Call&) { return Verdict::deny("closed"); })));
  EXPECT_EQ(said(governed.call(Governed::read_file())), "blocked: closed");
  governed.change_plan(PlanBuilder().autonomy(Autonomy::ActWithApproval));
  EXPECT_EQ(said(governed.call(Governed::read_file())), "blocked: not again");
  EXPECT_EQ(asked, 1);
  governed.change_plan(PlanBuilder().autonomy(Autonomy::ActAuto));
  EXPECT_EQ(said(governed.call(Governed::read_file())), "cached: answer 1");
}

// AU-47
TEST(IdempotencyTest, AStoredAnswerPassesTheSecondDoorOfToday) {
  Governed governed;
  governed.upstream = counting();
  ASSERT_TRUE(governed.call(Governed::read_file()));
  const auto with = [](FunctionResultGuard::Judge judge) {
    return PlanBuilder()
        .autonomy(Autonomy::ActAuto)
        .result_guard(std::make_shared<FunctionResultGuard>("second", std::move(judge)));
  };
  governed.change_plan(with([](const Envelope& envelope, const ResultContext&) {
    EXPECT_EQ(envelope.value, json::value("answer 1"));
    return Verdict::rewrite(Envelope::of("masked").to_json());
  }));
  EXPECT_EQ(said(governed.call(Governed::read_file())), "cached: masked");
  governed.change_plan(
      with([](const Envelope&, const ResultContext&) { return Verdict::deny("holds a key"); }));
  const Result<Answer> withheld = governed.call(Governed::read_file());
  ASSERT_TRUE(withheld);
  EXPECT_EQ(withheld->outcome.kind, Outcome::Kind::Cached);
  EXPECT_FALSE(withheld->result.success);
  EXPECT_EQ(withheld->result.output.find("answer 1"), std::string::npos);
  governed.change_plan(PlanBuilder().autonomy(Autonomy::ActAuto));
  EXPECT_EQ(said(governed.call(Governed::read_file())), "cached: answer 1") << "the first stays";
}

// AU-28 AU-46
TEST(IdempotencyTest, AnErrorOfTheToolIsAnAnswerToo) {
  Governed governed;
  governed.upstream =
      std::make_shared<FakeUpstream>(Simple([](Call, std::stop_token) -> Task<Envelope> {
        co_return Envelope::error("no such file", 2);
      }));
  ASSERT_TRUE(governed.call(Governed::read_file()));
  const Result<Answer> again = governed.call(Governed::read_file());
  EXPECT_EQ(said(again), "cached: no such file");
  EXPECT_FALSE(again->result.success);
  EXPECT_EQ(again->released.code, 2);
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
}

// AU-48
TEST(IdempotencyTest, TheSameIdForAnotherCallIsAConflict) {
  const std::function<void(Call&)> changes[] = {
      [](Call& call) { call.input = {{"path", "/etc/passwd"}}; },
      [](Call& call) { call.tool = "write_file"; }, [](Call& call) { call.server = "other"; },
      [](Call& call) { call.agent_id = "agent:b"; }};
  for (const auto& change : changes) {
    Governed governed;
    governed.upstream = counting();
    ASSERT_TRUE(governed.call(Governed::read_file()));
    Call other = Governed::read_file();
    change(other);
    EXPECT_EQ(said(governed.call(other)),
              "blocked: idempotency conflict: `toolu_1` was another call");
    EXPECT_EQ(said(governed.call(Governed::read_file())), "cached: answer 1");
    governed.change_plan(
        PlanBuilder().autonomy(Autonomy::ActAuto).time_limit(std::chrono::milliseconds(50'000)));
    EXPECT_EQ(said(governed.call(Governed::read_file())), "cached: answer 1")
        << "a reload alone is no conflict";
    EXPECT_EQ(governed.upstream->calls.size(), 1u);
  }
}

// AU-49
TEST(IdempotencyTest, ACallThatOnlyAnotherProcessKnowsOfIsInFlight) {
  Governed governed;
  governed.plan.tool("", "read_file", {Tier::Observe, "none"});
  ASSERT_TRUE(governed.build());
  const std::string key = governed.governor().idempotency().key(Governed::read_file());
  governed.recorder.claimed_elsewhere.insert(key);
  EXPECT_EQ(said(governed.call(Governed::read_file())),
            "blocked: in flight: call `toolu_1` is running");
  EXPECT_TRUE(governed.upstream->calls.empty());
  governed.recorder.claimed_elsewhere.clear();
  EXPECT_EQ(said(governed.call(Governed::read_file())), R"(completed: {"answer":42})");
}

// AU-49
TEST(IdempotencyTest, OfTwoEqualCallsFromTwoProcessesOneRuns) {
  Governed governed;
  OtherProcess other(governed.recorder);
  governed.upstream =
      std::make_shared<FakeUpstream>(Simple([&](Call, std::stop_token) -> Task<Envelope> {
        EXPECT_EQ(said(other.call(Governed::read_file())),
                  "blocked: in flight: call `toolu_1` is running");
        co_return Envelope::of("hello");
      }));
  EXPECT_EQ(said(governed.call(Governed::read_file())), "completed: hello");
  EXPECT_EQ(said(other.call(Governed::read_file())), "cached: hello");
  EXPECT_TRUE(other.upstream->calls.empty());
}

// AU-49
TEST(IdempotencyTest, AClaimThatAnotherProcessMadeSinceWeLookedIsSeen) {
  Governed governed;
  OtherProcess other(governed.recorder);
  bool first = true;
  governed.recorder.refuse = [&](const std::vector<Draft>& drafts) -> std::optional<Error> {
    const bool intent =
        std::ranges::any_of(drafts, [](const Draft& draft) { return draft.kind == Kind::Intent; });
    if (!intent || !std::exchange(first, false)) return std::nullopt;
    // The error of the store if an expected fact no longer exists.
    return Error{ErrorCode::Conflict, "changed meanwhile"};
  };
  EXPECT_EQ(said(governed.call(Governed::read_file())), R"(completed: {"answer":42})");
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
  EXPECT_EQ(governed.recorder.of(Kind::Intent).size(), 1u);
  EXPECT_EQ(
      governed.recorder.events(),
      (std::vector<std::string>{"tool_authorization_started", "tool_authorization_finished(allow)",
                                "tool_execution_started", "tool_execution_finished"}));
}

struct Attempt {
  std::string name;
  Simple tool;
};

std::vector<Attempt> attempts_without_an_answer() {
  const auto wait = [](Call, std::stop_token) -> Task<Envelope> {
    co_await test::pause(std::chrono::seconds(30));
    co_return Envelope::of("too late");
  };
  return {{"timed out", wait},
          {"cancelled", wait},
          {"threw", [](Call, std::stop_token) -> Task<Envelope> { throw std::bad_alloc(); }},
          {"unreachable", [](Call, std::stop_token) -> Task<Envelope> {
             co_return fail(ErrorCode::Unavailable, "refused");
           }}};
}

// AU-50 AU-78 (partly)
TEST(IdempotencyTest, WhatEndedUnknownIsRunAgainOnlyWhereThatIsHarmless) {
  for (const Attempt& attempt : attempts_without_an_answer()) {
    for (const bool harmless : {true, false}) {
      SCOPED_TRACE(attempt.name + (harmless ? " harmless" : " effect"));
      Governed governed;
      governed.plan.time_limit(std::chrono::milliseconds(20))
          .tool("", "read_file", {Tier::Observe, harmless ? "none" : "external_write"});
      bool fails = true;
      std::stop_source stop;
      governed.upstream = std::make_shared<FakeUpstream>(Simple([&](Call call, std::stop_token s) {
        if (!fails)
          return Simple([](Call, std::stop_token) -> Task<Envelope> {
            co_return Envelope::of("hello");
          })(call, s);
        if (attempt.name == "cancelled") stop.request_stop();
        return attempt.tool(call, s);
      }));
      const Result<Answer> lost = governed.call(Governed::read_file(), stop.get_token());
      ASSERT_TRUE(lost);
      EXPECT_EQ(lost->effect, EffectState::Unknown);
      fails = false;
      const std::string again = said(governed.call(Governed::read_file()));
      if (harmless) {
        EXPECT_EQ(again, "completed: hello");
        EXPECT_EQ(said(governed.call(Governed::read_file())), "cached: hello");
      } else {
        EXPECT_TRUE(again.starts_with("blocked: unknown outcome: ")) << again;
        EXPECT_EQ(said(governed.call(Governed::read_file())), again) << "and stays so";
      }
      EXPECT_EQ(governed.upstream->calls.size(), harmless ? 2u : 1u);
    }
  }
}

// AU-17 AU-50
TEST(IdempotencyTest, WhatWasCancelledBeforeItBeganMayBePresentedAgain) {
  Governed governed;
  governed.upstream = counting();
  std::stop_source stop;
  stop.request_stop();
  const Result<Answer> cancelled = governed.call(Governed::read_file(), stop.get_token());
  ASSERT_TRUE(cancelled);
  EXPECT_EQ(cancelled->effect, EffectState::None);
  EXPECT_EQ(cancelled->result.output, "cancelled");
  EXPECT_EQ(said(governed.call(Governed::read_file())), "completed: answer 1");
}

// AU-49 AU-50 AU-78 (partly)
TEST(IdempotencyTest, ACallInTheHandsOfADeadProcessIsNoLongerInFlight) {
  for (const bool harmless : {true, false}) {
    Governed governed;
    governed.plan.durability(IntentDurability::Strict)
        .tool("", "read_file", {Tier::Observe, harmless ? "none" : "external_write"});
    governed.recorder.refuse_reports = Error{ErrorCode::Unavailable, "the disk is gone"};
    EXPECT_FALSE(governed.call(Governed::read_file()));
    governed.recorder.refuse_reports.reset();
    governed.recorder.owed.clear();  // died with it
    OtherProcess beside(governed.recorder);
    EXPECT_EQ(said(beside.call(Governed::read_file())),
              "blocked: in flight: call `toolu_1` is running");
    governed.recorder.dead.insert(governed.recorder.instance);
    governed.recorder.instance = "instance-2";
    governed.restart();
    governed.upstream->calls.clear();
    const std::string again = said(governed.call(Governed::read_file()));
    EXPECT_EQ(governed.upstream->calls.size(), harmless ? 1u : 0u);
    EXPECT_TRUE(again.starts_with(harmless ? "completed: " : "blocked: unknown outcome: "))
        << again;
  }
}

// AU-51 (partly)
TEST(IdempotencyTest, CallsWithoutAnIdOrASessionAreNeverCached) {
  const std::function<void(Call&)> changes[] = {[](Call& call) { call.tool_call_id.clear(); },
                                                [](Call& call) { call.session_id.clear(); }};
  for (const auto& change : changes) {
    Governed governed;
    governed.upstream = counting();
    Call call = Governed::read_file();
    change(call);
    EXPECT_EQ(said(governed.call(call)), "completed: answer 1");
    EXPECT_EQ(said(governed.call(call)), "completed: answer 2");
    EXPECT_TRUE(governed.recorder.facts("idempotency")->empty());
  }
}

// AU-7 AU-44
TEST(IdempotencyTest, TheSameIdInAnotherSessionIsAnotherCall) {
  Governed governed;
  governed.upstream = counting();
  EXPECT_EQ(said(governed.call(Governed::read_file())), "completed: answer 1");
  Call other = Governed::read_file();
  other.session_id = "s-2";
  EXPECT_EQ(said(governed.call(other)), "completed: answer 2");
}

}  // namespace
}  // namespace sallyport::core
