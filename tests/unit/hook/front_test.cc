#include "hook/front.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "hook/observed.h"
#include "support/governed.h"
#include "support/test_clock.h"

namespace sallyport::hook {
namespace {

using test::Governed;
using test::run_now;

Event before(const std::string& id, const std::string& command = "make") {
  Event event;
  event.kind = Event::Kind::Before;
  event.name = "PreToolUse";
  event.session_id = "s-1";
  event.call_id = id;
  event.tool = "Bash";
  event.input = json::object{{"command", command}};
  return event;
}

Event after(const std::string& id, json::value output, const std::string& command = "make") {
  Event event = before(id, command);
  event.kind = Event::Kind::After;
  event.name = "PostToolUse";
  event.output = std::move(output);
  return event;
}

class FrontTest : public testing::Test {
 protected:
  FrontTest() { governed.clock = &clock; }

  // Each event has a separate process.
  Decision tell(const Event& event) {
    const Result<Decision> decision = told(event);
    EXPECT_TRUE(decision) << decision.error().message;
    return decision.value_or(Decision::deny("failed"));
  }

  Result<Decision> told(const Event& event) {
    governed.restart();
    governed.recorder.dead.insert(governed.recorder.instance);
    governed.recorder.instance = "instance-" + std::to_string(++processes_);
    core::Governor& governor = governed.governor();
    EXPECT_TRUE(run_now(governor.tidy()));
    return decide(governor, event);
  }

  // Reports from a process that runs beside the process of `tell`.
  Result<Decision> told_beside(const Event& event) {
    const core::FixedPlan plans(*governed.plan.build());
    core::Governor governor(
        {plans, governed.recorder, *governed.redactor, clock, entropy_, KeyedDigest("k")});
    return decide(governor, event);
  }

  Result<Decision> decide(core::Governor& governor, const Event& event) {
    core::Continuations continuations(governed.recorder, governed.recorder, KeyedDigest("k"), clock,
                                      entropy_);
    core::HandOffs hand_offs(governor, continuations);
    Front front({governor, hand_offs, governed.recorder, KeyedDigest("k"), origins_},
                {.agent = "claude-code",
                 .person = "uid:eli",
                 .host_prompts = host_prompts,
                 .reporter = reporter,
                 .runs = [this](const std::string& process) { return running.contains(process); },
                 .local_yes_counts = [this](const json::object&) { return counts; }});
    if (event.kind == Event::Kind::Batch) return run_now(front.batch(event.calls));
    return run_now(event.kind == Event::Kind::Before ? front.before(event) : front.after(event));
  }

  // Acts as the model proxy does: without a process that holds the call.
  void hand_out(const std::string& id) {
    core::Governor& governor = governed.governor();
    core::Continuations continuations(governed.recorder, governed.recorder, KeyedDigest("k"), clock,
                                      entropy_);
    core::HandOffs hand_offs(governor, continuations);
    Call call{.agent_id = "agent:bo", .tool = "Bash", .input = {{"command", "make"}}};
    call.session_id = "s-1";
    call.tool_call_id = id;
    const Result<core::HandOffs::HandedOut> given = run_now(hand_offs.hand_out(
        {.session_id = "s-1", .state = core::HandOffs::proposed_to("agent:bo")}, {call}));
    ASSERT_TRUE(given) << given.error().message;
    ASSERT_EQ(given->hand_off.tool_calls.size(), 1u);
  }

  std::vector<std::string> ends() const {
    std::vector<std::string> names;
    for (const core::Draft& draft : governed.recorder.records()) {
      const json::value* const terminal = draft.body.if_contains("terminal");
      if (terminal == nullptr || terminal->as_bool()) names.push_back(draft.outcome);
    }
    return names;
  }

  // Returns the number of requests with this answer.
  long decided(const char* word) const {
    const std::vector<core::Draft> drafts = governed.recorder.of(core::Kind::Approval);
    return std::ranges::count_if(drafts, [&](const core::Draft& draft) {
      return draft.body.at("record") == "approval_decision" && draft.body.at("state") == word;
    });
  }

  Governed governed;
  test::TestClock clock;
  bool host_prompts = true;
  bool counts = true;
  Reporter reporter{"boot/7/1", "boot/1/1", "/bin/host", {{"pid", 7}}};
  std::set<std::string> running{"boot/7/1"};

 private:
  SystemEntropy entropy_;
  Origins origins_;
  unsigned processes_ = 0;
};

// AU-52 AU-60
TEST_F(FrontTest, ACallThatNeverComesBackIsClosedAsUnknownWhenItsTimeIsOver) {
  EXPECT_EQ(tell(before("t-1")), Decision::allow());
  EXPECT_EQ(ends(), std::vector<std::string>());
  clock.advance(std::chrono::hours(25));
  EXPECT_EQ(tell(before("t-2")), Decision::allow());
  EXPECT_EQ(ends(), std::vector<std::string>({"invalidated"}));
  EXPECT_EQ(governed.recorder.records().front().body.at("effect_state"), "unknown");
}

// A result of any process once looked like one of the process that was handed the call.
TEST_F(FrontTest, AResultCountsByWhoBringsIt) {
  using Case = std::tuple<Reporter, bool, const char*, const char*>;
  const Reporter host = reporter;
  for (const auto& [brings, host_runs, standing, effect] : std::initializer_list<Case>{
           {host, true, "holder", "done"},
           {{"boot/8/2", "boot/1/1", "/bin/host", {}}, false, "successor", "done"},
           {{"boot/8/2", "boot/1/1", "/bin/host", {}}, true, "other", "unknown"},
           {{"boot/8/2", "boot/7/1", "/bin/host", {}}, false, "other", "unknown"},
           {{"boot/8/2", "boot/1/1", "/bin/sh", {}}, false, "other", "unknown"},
           {{}, false, "other", "unknown"}}) {
    const std::string id = std::string("t-") + standing + brings.parent + brings.program;
    const std::string name = id + (host_runs ? "r" : "g");
    reporter = host;
    EXPECT_EQ(tell(before(name)), Decision::allow());
    reporter = brings;
    running = host_runs ? std::set<std::string>{host.process} : std::set<std::string>{};
    EXPECT_EQ(tell(after(name, "made")), Decision::allow());
    const core::Draft record = governed.recorder.records().back();
    EXPECT_EQ(record.body.at("post_invocation").at("asserted").at("standing"), standing) << name;
    EXPECT_EQ(record.body.at("effect_state"), effect) << name;
    EXPECT_EQ(record.body.contains("asserted_of"), effect == std::string("unknown")) << name;
  }
}

// A process that could not be seen once looked like the holder of every call without a process.
TEST_F(FrontTest, AnUnseenProcessIsNotTheHolderOfACallOfTheProxy) {
  hand_out("t-1");
  reporter = {};
  EXPECT_EQ(tell(after("t-1", "made up")), Decision::allow());
  const core::Draft record = governed.recorder.records().back();
  EXPECT_EQ(record.body.at("post_invocation").at("asserted").at("standing"), "other");
  EXPECT_EQ(record.body.at("effect_state"), "unknown");
}

// AU-59: an earlier forged result does not exclude the host's result.
TEST_F(FrontTest, ACallWaitsForItsHostWhateverOthersSay) {
  const Reporter host = reporter;
  EXPECT_EQ(tell(before("t-1")), Decision::allow());
  reporter = {"boot/9/9", "boot/7/1", "/bin/sh", {{"pid", 9}}};
  EXPECT_EQ(tell(after("t-1", "made up")), Decision::allow());
  reporter = host;
  EXPECT_EQ(tell(after("t-1", "true")), Decision::allow());
  const std::vector<core::Draft> records = governed.recorder.records();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].body.at("asserted_of").as_string(), records[1].subject->call_id);
  EXPECT_NE(records[0].subject->call_id, records[1].subject->call_id);
  EXPECT_EQ(records[1].body.at("outcome").at("result").at("output"), "true");
}

// AP-33
TEST_F(FrontTest, AnotherProcessDoesNotSayYesForTheUser) {
  governed.plan.autonomy(Autonomy::ActWithApproval);
  EXPECT_EQ(tell(before("t-1")).kind, Decision::Kind::Ask);
  const Reporter host = reporter;
  reporter = {"boot/9/9", "boot/7/1", "/bin/sh", {}};
  EXPECT_EQ(tell(after("t-1", "made up")).kind, Decision::Kind::Withhold);
  EXPECT_EQ(decided("approved"), 0);
}

TEST_F(FrontTest, WhatNobodyAskedAboutIsNotKnownToHaveHappened) {
  EXPECT_EQ(tell(after("t-1", "made up")), Decision::allow());
  const core::Draft record = governed.recorder.records().back();
  EXPECT_EQ(record.body.at("post_invocation").at("asserted"),
            (json::object{{"standing", "unasked"}, {"by", json::object{{"pid", 7}}}}));
  EXPECT_EQ(record.body.at("effect_state"), "unknown");
}

// AP-33 AP-20
TEST_F(FrontTest, ADialogThatWasClosedWithANoEndsTheCallWhenItsQuestionExpires) {
  governed.plan.autonomy(Autonomy::ActWithApproval);
  EXPECT_EQ(tell(before("t-1")).kind, Decision::Kind::Ask);
  clock.advance(std::chrono::hours(25));
  EXPECT_EQ(tell(before("t-2", "ls")).kind, Decision::Kind::Ask);
  EXPECT_EQ(ends(), std::vector<std::string>({"blocked"}));
}

// AP-33
TEST_F(FrontTest, AResultBehindADialogIsTheYesOfTheSameCall) {
  governed.plan.autonomy(Autonomy::ActWithApproval);
  EXPECT_EQ(tell(before("t-1")).kind, Decision::Kind::Ask);
  EXPECT_EQ(tell(after("t-1", "done")), Decision::allow());
  EXPECT_EQ(ends(), std::vector<std::string>({"completed"}));
  // The result is sent twice: the first one counts.
  EXPECT_EQ(tell(after("t-1", "done")), Decision::allow());
  EXPECT_EQ(ends(), std::vector<std::string>({"completed", "replayed"}));
}

// AU-26 AU-59: a repeated result was once passed on unchecked
TEST_F(FrontTest, AResultThatComesAgainIsReplacedByTheOneThatWasRecordedFirst) {
  EXPECT_EQ(tell(before("t-1")), Decision::allow());
  for (const char* const id : {"t-1", "t-2"}) {  // the guard was never asked about the second one
    EXPECT_EQ(tell(after(id, "done")), Decision::allow());
    const Decision again = tell(after(id, "something else"));
    EXPECT_EQ(again.kind, Decision::Kind::Replace);
    EXPECT_EQ(again.value, "done");
  }
  EXPECT_EQ(ends(), std::vector<std::string>({"completed", "replayed", "completed", "replayed"}));
}

// AP-6 AP-33
TEST_F(FrontTest, ADialogAboutOneInputIsNoYesForAnother) {
  governed.plan.autonomy(Autonomy::ActWithApproval);
  EXPECT_EQ(tell(before("t-1")).kind, Decision::Kind::Ask);
  const Decision decision = tell(after("t-1", "done", "make install"));
  EXPECT_EQ(decision.kind, Decision::Kind::Withhold);
  for (const std::string& end : ends()) EXPECT_NE(end, "completed");
  // The request is unchanged: its call may still come.
  EXPECT_EQ(decided("approved"), 0);
  EXPECT_EQ(tell(after("t-1", "done")), Decision::allow());
  EXPECT_EQ(decided("approved"), 1);
}

// AP-33
TEST_F(FrontTest, AnEventThatIsNoCallIsRefusedBeforeAnythingIsWritten) {
  governed.plan.autonomy(Autonomy::ActWithApproval);
  EXPECT_EQ(tell(before("t-1")).kind, Decision::Kind::Ask);
  const std::size_t written = governed.recorder.written.size();
  Event long_name = after("t-1", "done");
  long_name.tool = std::string(70'000, 'x');
  json::value deep;
  for (int i = 0; i < 110; ++i) deep = json::array{deep};
  Event deep_input = after("t-1", "done");
  deep_input.input = deep;
  for (const Event& event : {long_name, deep_input, after("t-1", deep)}) {
    const Result<Decision> decision = told(event);
    ASSERT_FALSE(decision);
    EXPECT_EQ(decision.error().code, ErrorCode::InvalidInput);
  }
  EXPECT_EQ(governed.recorder.written.size(), written);
}

// AP-33: its process ended between the yes and the record of the call.
TEST_F(FrontTest, AYesOfTheHostIsForTheCallThatWasSeenAndForNoOther) {
  governed.plan.autonomy(Autonomy::ActWithApproval);
  EXPECT_EQ(tell(before("t-1")).kind, Decision::Kind::Ask);
  governed.recorder.refuse = [](const std::vector<core::Draft>& drafts) {
    const bool answers = std::ranges::any_of(
        drafts, [](const core::Draft& draft) { return draft.kind == core::Kind::Approval; });
    return answers ? std::nullopt : std::optional(Error{ErrorCode::Unavailable, "gone"});
  };
  EXPECT_FALSE(told(after("t-1", "done")));
  governed.recorder.refuse = nullptr;
  EXPECT_EQ(decided("approved"), 1);
  EXPECT_EQ(tell(before("t-2")).kind, Decision::Kind::Ask);
  EXPECT_EQ(tell(after("t-1", "done")), Decision::allow());
  EXPECT_EQ(decided("approved"), 1);
}

// AP-33
TEST_F(FrontTest, WhereTheDialogDoesNotCountTheCallWaitsForSomebodyElse) {
  governed.plan.autonomy(Autonomy::ActWithApproval);
  counts = false;
  EXPECT_EQ(tell(before("t-1")).kind, Decision::Kind::Wait);
  EXPECT_EQ(tell(after("t-1", "it ran")).kind, Decision::Kind::Withhold);
  counts = true;
  host_prompts = false;
  EXPECT_EQ(tell(before("t-2")).kind, Decision::Kind::Wait);
}

TEST_F(FrontTest, CallsWithoutIdsAreCounted) {
  for (int i = 0; i < 9; ++i) {
    EXPECT_EQ(tell(before("")), Decision::allow());
    EXPECT_EQ(tell(after("", i)), Decision::allow());
  }
  EXPECT_EQ(ends(), std::vector<std::string>(9, "completed"));
}

// Another process draws the same id while the policy decides.
TEST_F(FrontTest, CallsWithoutIdsThatComeAtOnceAreCallsOfTheirOwn) {
  bool first = true;
  const auto meanwhile =
      std::make_shared<test::FunctionGuard>("meanwhile", [&](const Call&) -> Result<Verdict> {
        if (std::exchange(first, false)) {
          EXPECT_EQ(told_beside(before("")), Decision::allow());
        }
        return Verdict::allow();
      });
  governed.plan.guard(meanwhile);
  EXPECT_EQ(tell(before("")), Decision::allow());
  EXPECT_EQ(governed.recorder.of(core::Kind::Intent).size(), 2u);
}

// Cursor reports one call twice.
TEST_F(FrontTest, ARepeatedEventIsTheCallThatIsOpen) {
  Event second = before("");
  second.repeats = true;
  EXPECT_EQ(tell(before("")), Decision::allow());
  EXPECT_EQ(tell(second), Decision::allow());
  EXPECT_EQ(tell(after("", "done")), Decision::allow());
  EXPECT_EQ(ends(), std::vector<std::string>({"completed"}));
  // Alone it is a separate call.
  EXPECT_EQ(tell(second), Decision::allow());
  EXPECT_EQ(tell(after("", "done")), Decision::allow());
  EXPECT_EQ(ends().size(), 2u);
}

// A permitted call covers one second event, not all similar ones.
TEST_F(FrontTest, AnOpenCallExcusesOneRepeatedEvent) {
  Event second = before("");
  second.repeats = true;
  EXPECT_EQ(tell(before("")), Decision::allow());
  EXPECT_EQ(tell(second), Decision::allow());
  EXPECT_EQ(governed.recorder.of(core::Kind::Intent).size(), 1u);
  for (std::size_t calls = 2; calls < 4; ++calls) {
    EXPECT_EQ(tell(second), Decision::allow());
    EXPECT_EQ(governed.recorder.of(core::Kind::Intent).size(), calls);
  }
}

// The second event was once allowed without a look at its folder.
TEST_F(FrontTest, ARepeatedEventInAFolderThatThePolicyRefusesIsDenied) {
  governed.plan.guard(
      std::make_shared<test::FunctionGuard>("folder", [](const Call& call) -> Result<Verdict> {
        return call.setting.folder == "/etc" ? Verdict::deny("folder", "not there")
                                             : Verdict::allow();
      }));
  Event first = before("");
  first.folder = first.command_folder = "/w";
  Event second = first;
  second.repeats = true;
  EXPECT_EQ(tell(first), Decision::allow());
  second.folder = second.command_folder = "/etc";
  EXPECT_EQ(tell(second).kind, Decision::Kind::Deny);
  EXPECT_EQ(ends(), std::vector<std::string>({"blocked"}));
  // Where the policy lets it run, it is the same call.
  second.folder = second.command_folder = "/other";
  EXPECT_EQ(tell(second), Decision::allow());
  EXPECT_EQ(governed.recorder.of(core::Kind::Intent).size(), 1u);
}

Event write_of(const char* text) {
  Event event = before("");
  event.tool = "Write";
  event.identity = "/w/a.txt";
  event.input = json::object{{"file_path", "/w/a.txt"}, {"contents", text}};
  return event;
}

Event written(const char* text) {
  Event event = write_of(text);
  event.kind = Event::Kind::After;
  event.output = std::string("result of ") + text;
  return event;
}

// Results of calls with one identity once closed the newest of these calls, so that records were
// swapped, and the result of a denied call closed an allowed one.
TEST_F(FrontTest, AResultBelongsToTheCallWithItsWholeInput) {
  governed.plan.guard(
      std::make_shared<test::FunctionGuard>("text", [](const Call& call) -> Result<Verdict> {
        return call.input.at("contents") == "EVIL" ? Verdict::deny("text", "no") : Verdict::allow();
      }));
  EXPECT_EQ(tell(write_of("AAA")), Decision::allow());
  EXPECT_EQ(tell(write_of("BBB")), Decision::allow());
  EXPECT_EQ(tell(write_of("EVIL")).kind, Decision::Kind::Deny);
  for (const char* const text : {"AAA", "BBB"}) {
    EXPECT_EQ(tell(written(text)), Decision::allow());
    const core::Draft record = governed.recorder.records().back();
    EXPECT_EQ(record.body.at("requested_input").at("contents"), text);
    EXPECT_EQ(record.body.at("outcome").at("result").at("output").as_string(),
              std::string("result of ") + text);
  }
  EXPECT_EQ(tell(written("EVIL")).kind, Decision::Kind::Withhold);
  EXPECT_EQ(ends(), std::vector<std::string>({"blocked", "completed", "completed", "blocked"}));
}

// Results of calls that were asked about or never seen once passed in a batch, and were not
// recorded.
// AP-33
TEST_F(FrontTest, EveryResultOfABatchIsCheckedAndRecordedOnce) {
  governed.plan.result_guard(std::make_shared<test::FunctionResultGuard>(
      "words", [](const Envelope& envelope, const ResultContext&) -> Result<Verdict> {
        return envelope.value == "bad" ? Verdict::deny("no") : Verdict::allow();
      }));
  EXPECT_EQ(tell(before("t-1")), Decision::allow());
  EXPECT_EQ(tell(after("t-1", "done")), Decision::allow());
  Event batch;
  batch.kind = Event::Kind::Batch;
  batch.calls = {after("t-1", "done"), after("t-2", "never seen"), after("t-3", "bad")};
  EXPECT_EQ(tell(batch).kind, Decision::Kind::Withhold);
  EXPECT_EQ(ends(), std::vector<std::string>(3, "completed"));
}

// AP-33
TEST_F(FrontTest, AResultInABatchIsTheYesOfTheCallThatTheHostAskedAbout) {
  governed.plan.autonomy(Autonomy::ActWithApproval);
  EXPECT_EQ(tell(before("t-1")).kind, Decision::Kind::Ask);
  Event batch;
  batch.kind = Event::Kind::Batch;
  batch.calls = {after("t-1", "done")};
  EXPECT_EQ(tell(batch), Decision::allow());
  EXPECT_EQ(decided("approved"), 1);
  EXPECT_EQ(ends(), std::vector<std::string>({"completed"}));
}

// PI-33
TEST_F(FrontTest, AResultThatTheHostShowsAnywayIsMarkedInItsRecord) {
  EXPECT_EQ(tell(before("t-1")), Decision::allow());
  Event shown = after("t-1", "done");
  shown.replaceable = false;
  EXPECT_EQ(tell(shown), Decision::allow());
  Event unasked = after("t-2", "done");
  unasked.replaceable = false;
  EXPECT_EQ(tell(unasked), Decision::allow());
  for (const core::Draft& draft : governed.recorder.records()) {
    EXPECT_EQ(draft.body.at("post_invocation").at("enforcement"), "advisory");
  }
}

}  // namespace
}  // namespace sallyport::hook
