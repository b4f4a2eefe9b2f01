#include "core/call/governor.h"

#include <gtest/gtest.h>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json.hpp>
#include <thread>

#include "core/handoff/interrupted_call.h"
#include "core/turn/dispatch.h"
#include "support/governed.h"
#include "support/pause.h"

namespace sallyport::core {
namespace {

using test::FakeUpstream;
using test::FunctionGuard;
using test::Governed;

std::shared_ptr<FunctionGuard> guard(std::string name, FunctionGuard::Judge judge) {
  return std::make_shared<FunctionGuard>(std::move(name), std::move(judge));
}

std::string text(const Draft& draft, const char* pointer) {
  boost::system::error_code ignored;
  const json::value body = draft.body.members();
  const json::value* const found = body.find_pointer(pointer, ignored);
  return found == nullptr     ? "(absent)"
         : found->is_string() ? std::string(found->get_string())
                              : canonical_json(*found);
}

TEST(GovernorTest, AnAllowedCallHasAnIntentAnEffectAndOneTerminalRecordInThisOrder) {
  Governed governed;
  std::size_t written_before_effect = 0;
  governed.upstream = std::make_shared<FakeUpstream>([&](Call, std::stop_token) -> Task<Envelope> {
    written_before_effect = governed.recorder.written.size();
    co_return Envelope::of("hello");
  });
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->result.success);
  EXPECT_EQ(answer->result.output, "hello");
  const auto& written = governed.recorder.written;
  ASSERT_EQ(written.size(), 6u);
  EXPECT_EQ(written_before_effect, 4u);
  EXPECT_EQ(written[2].kind, Kind::Intent);
  EXPECT_EQ(written[5].kind, Kind::ToolAudit);
  EXPECT_EQ(written[5].outcome, "completed");
  EXPECT_EQ(text(written[5], "/effect_state"), "done");
  EXPECT_EQ(text(written[5], "/terminal"), "true");
  EXPECT_EQ(written[2].subject->call_id, answer->call_id);
  EXPECT_EQ(written[2].facts[0], (Fact{"open_call", answer->call_id, "instance-1", true}));
  EXPECT_EQ(written[5].facts[0], (Fact{"open_call", answer->call_id, std::nullopt}));
  EXPECT_EQ(governed.recorder.commits, 2u);
}

TEST(GovernorTest, ADeniedCallNeverReachesTheUpstreamAndSaysWhy) {
  Governed governed;
  governed.plan.guard(guard("paths", [](const Call&) { return Verdict::deny("outside", "r1"); }))
      .guard(guard("later", [](const Call&) { return Verdict::allow(); }));
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->result.output, "Blocked: outside");
  EXPECT_TRUE(governed.upstream->calls.empty());
  ASSERT_EQ(governed.recorder.records().size(), 1u);
  const Draft record = governed.recorder.records().back();
  EXPECT_EQ(record.outcome, "blocked");
  EXPECT_EQ(text(record, "/effect_state"), "none");
  EXPECT_EQ(text(record, "/guards/0/verdict"), "deny");
  EXPECT_EQ(text(record, "/guards/0/rule"), "r1");
  EXPECT_EQ(text(record, "/guards/1/verdict"), "skipped");
  EXPECT_EQ(text(record, "/guards/1/why"), "denied_earlier");
}

TEST(GovernorTest, AGuardThatThrowsOrErrsDeniesAndLaterGuardsAreStillHeard) {
  for (const bool throws : {true, false}) {
    Governed governed;
    bool heard = false;
    governed.plan
        .guard(guard("broken",
                     [throws](const Call&) -> Result<Verdict> {
                       if (throws) throw std::runtime_error("secret detail");
                       return fail(ErrorCode::Unavailable, "secret detail");
                     }))
        .guard(guard("later", [&](const Call&) {
          heard = true;
          return Verdict::allow();
        }));
    const Result<Answer> answer = governed.call(Governed::read_file());
    ASSERT_TRUE(answer);
    EXPECT_FALSE(answer->result.success);
    EXPECT_EQ(answer->result.output.find("secret detail"), std::string::npos);
    EXPECT_TRUE(heard);
    EXPECT_TRUE(governed.upstream->calls.empty());
  }
}

// LE-71
TEST(GovernorTest, AGuardThatMayFailOpenBracketsTheStretchInTheRecord) {
  Governed governed;
  bool broken = true;
  governed.plan
      .guard(guard("remote",
                   [&](const Call&) -> Result<Verdict> {
                     if (broken) return fail(ErrorCode::Unavailable, "down");
                     return Verdict::allow();
                   }))
      .fail_open("remote");
  Call call = Governed::read_file();
  call.session_id.clear();
  ASSERT_TRUE(governed.call(call)->result.success);
  ASSERT_TRUE(governed.call(call)->result.success);
  broken = false;
  ASSERT_TRUE(governed.call(call)->result.success);
  std::vector<std::string> controls;
  for (const Draft& draft : governed.recorder.written) {
    if (draft.kind == Kind::Control) controls.push_back(canonical_json(draft.body.members()));
  }
  ASSERT_EQ(controls.size(), 2u);
  EXPECT_EQ(controls[0], R"({"cause":"error","control":"fail_open_started","guard":"remote"})");
  EXPECT_EQ(controls[1],
            R"({"calls":2,"cause":"error","control":"fail_open_ended","guard":"remote"})");
  EXPECT_EQ(text(governed.recorder.records().front(), "/guards/0/why"), "fail_open");
}

// A rehearsal on a running Governor once counted in the interval and used up its first entry. LE-71
TEST(GovernorTest, ARehearsalTakesNoPartInAnIntervalOfFailingOpen) {
  Governed governed;
  bool broken = true;
  governed.plan
      .guard(guard("remote",
                   [&](const Call&) -> Result<Verdict> {
                     if (broken) return fail(ErrorCode::Unavailable, "down");
                     return Verdict::allow();
                   }))
      .fail_open("remote");
  Call call = Governed::read_file();
  call.session_id.clear();
  ASSERT_TRUE(test::run_now(governed.governor().rehearse(call, governed.upstream)));
  ASSERT_TRUE(governed.call(call)->result.success);
  broken = false;
  ASSERT_TRUE(test::run_now(governed.governor().rehearse(call, governed.upstream)));
  ASSERT_TRUE(governed.call(call)->result.success);
  std::vector<std::string> controls;
  for (const Draft& draft : governed.recorder.written) {
    if (draft.kind == Kind::Control) controls.push_back(canonical_json(draft.body.members()));
  }
  EXPECT_EQ(controls,
            (std::vector<std::string>{
                R"({"cause":"error","control":"fail_open_started","guard":"remote"})",
                R"({"calls":1,"cause":"error","control":"fail_open_ended","guard":"remote"})"}));
}

// A rehearsal on a running Governor once notified hooks of a call that was not made, and let a tool
// prepare it.
// WB-1
TEST(GovernorTest, ARehearsalTellsNoHookPreparesNothingAndWritesNothing) {
  Governed governed;
  int told = 0;
  ASSERT_TRUE(governed.hooks.with_hook(std::make_shared<test::FunctionHook>(
      "siem", [&](const Event&, const Subject&) -> Result<void> {
        ++told;
        return {};
      })));
  const auto preparer = std::make_shared<test::FakePreparer>();
  const Result<Rehearsal> seen =
      test::run_now(governed.governor().rehearse(Governed::read_file(), preparer));
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_TRUE(seen->runs());
  EXPECT_EQ(told, 0);
  EXPECT_TRUE(preparer->preparations.empty());
  EXPECT_TRUE(governed.recorder.written.empty());
}

TEST(GovernorTest, ARewriteIsDecidedAgainAndTheUpstreamGetsTheInputThatRests) {
  Governed governed;
  std::vector<std::string> seen;
  governed.plan
      .guard(guard("watch",
                   [&](const Call& call) {
                     seen.push_back(canonical_json(call.input));
                     return Verdict::allow();
                   }))
      .guard(guard("normalise", [](const Call& call) {
        if (call.input.at("path") == json::value("/a")) return Verdict::allow();
        return Verdict::rewrite({{"path", "/a"}}, "one form");
      }));
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_EQ(seen, (std::vector<std::string>{R"({"path":"/tmp/x"})", R"({"path":"/a"})"}));
  EXPECT_EQ(canonical_json(governed.upstream->calls.at(0).input), R"({"path":"/a"})");
  const Draft record = governed.recorder.records().back();
  EXPECT_EQ(text(record, "/requested_input/path"), "/tmp/x");
  EXPECT_EQ(text(record, "/effective_input/path"), "/a");
  EXPECT_EQ(text(record, "/guards/1/verdict"), "rewrite");
  EXPECT_EQ(text(record, "/guards/3/pass"), "2");
}

TEST(GovernorTest, ARewriteThatNeverRestsIsDenied) {
  Governed governed;
  int n = 0;
  governed.plan.guard(
      guard("restless", [&](const Call&) { return Verdict::rewrite({{"n", ++n}}); }));
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->result.output, "Blocked by pre-execution hook: rewrite did not settle");
  EXPECT_EQ(n, 4);
  EXPECT_TRUE(governed.upstream->calls.empty());
}

// LE-74
TEST(GovernorTest, WithoutADurableIntentTheToolIsNeverCalledAndTheFailureIsOwed) {
  Governed governed;
  governed.recorder.refuse_announcements =
      Error{ErrorCode::Unavailable, "ledger_unavailable: no_space", "", "no_space"};
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().cause, "no_space");
  EXPECT_TRUE(governed.upstream->calls.empty());
  ASSERT_FALSE(governed.recorder.owed.empty());
  EXPECT_EQ(governed.recorder.owed.back().outcome, "persistence_failed");
  EXPECT_EQ(text(governed.recorder.owed.back(), "/effect_state"), "none");
}

// LE-80
TEST(GovernorTest, ACallThatDoesNotFitIntoAnEntryIsDenied) {
  Governed governed;
  governed.recorder.refuse_announcements =
      Error{ErrorCode::InvalidInput, "an entry of 70000 bytes"};
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Blocked);
  EXPECT_TRUE(governed.upstream->calls.empty());
}

// LE-76
TEST(GovernorTest, AResultWhoseOutcomeCannotBeWrittenIsNotReleased) {
  Governed governed;
  governed.recorder.refuse_reports =
      Error{ErrorCode::Unavailable, "ledger_unavailable: io", "", "io"};
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_FALSE(answer);
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
  ASSERT_FALSE(governed.recorder.owed.empty());
  EXPECT_EQ(governed.recorder.owed.back().outcome, "persistence_failed");
  EXPECT_EQ(text(governed.recorder.owed.back(), "/effect_state"), "done");
  EXPECT_EQ(text(governed.recorder.owed.back(), "/outcome/result/data/answer"), "42");
}

TEST(GovernorTest, ACallBehindItsDeadlineEndsAsAnErrorWithUnknownEffect) {
  Governed governed;
  governed.plan.time_limit(std::chrono::milliseconds(20));
  bool told = false;
  governed.upstream =
      std::make_shared<FakeUpstream>([&](Call, std::stop_token cancel) -> Task<Envelope> {
        boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor,
                                        std::chrono::seconds(30));
        const std::stop_callback on_cancel(cancel, [&] {
          told = true;
          timer.cancel();
        });
        boost::system::error_code ignored;
        co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
        co_return Envelope::of("too late");
      });
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_TRUE(told);
  EXPECT_FALSE(answer->result.success);
  EXPECT_EQ(answer->result.output, "timed out after 20 ms");
  EXPECT_EQ(text(governed.recorder.records().back(), "/effect_state"), "unknown");
}

TEST(GovernorTest, ACancelledCallEndsAtOnceAndIsRecorded) {
  Governed governed;
  std::stop_source cancel;
  governed.upstream = std::make_shared<FakeUpstream>([&](Call, std::stop_token) -> Task<Envelope> {
    cancel.request_stop();
    co_await test::pause(std::chrono::seconds(30));
    co_return Envelope::of("too late");
  });
  const Result<Answer> answer = governed.call(Governed::read_file(), cancel.get_token());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->result.output, "cancelled");
  EXPECT_EQ(governed.recorder.records().back().outcome, "completed");
}

TEST(GovernorTest, AToolThatThrowsIsAnErrorResult) {
  Governed governed;
  governed.upstream = std::make_shared<FakeUpstream>([](Call, std::stop_token) -> Task<Envelope> {
    throw std::runtime_error("boom");
    co_return Envelope{};
  });
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->result.success);
  EXPECT_EQ(answer->result.output, "the tool failed");
}

TEST(GovernorTest, WhatNobodyClassifiedIsConfirmAndNeedsAPersonUnlessThePlanActsByItself) {
  Governed governed;
  governed.plan.autonomy(Autonomy::ActWithApproval).tool("", "read_file", {Tier::Observe, "none"});
  EXPECT_TRUE(governed.call(Governed::read_file())->result.success);
  Call unknown = Governed::read_file();
  unknown.tool = "launch";
  const Result<Answer> answer = governed.call(unknown, Caller{.holds = false});
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::RequiresConfirmation);
  EXPECT_EQ(answer->outcome.text, "Confirm launch?");
  EXPECT_TRUE(answer->result.output.starts_with("pending_approval: `launch` was not run yet"));
  EXPECT_TRUE(governed.upstream->calls.size() == 1);
  EXPECT_EQ(text(governed.recorder.records().back(), "/tier"), "Confirm");
  EXPECT_EQ(text(governed.recorder.records().back(), "/effect_class"), "unknown");
}

TEST(GovernorTest, ShadowRunsNothing) {
  Governed governed;
  governed.plan.autonomy(Autonomy::Shadow);
  const Result<Answer> answer = governed.call(Governed::read_file());
  EXPECT_TRUE(answer->outcome.text.starts_with("shadow:"));
  EXPECT_TRUE(governed.upstream->calls.empty());
}

TEST(GovernorTest, MalformedCallsAreRefusedBeforeAnythingIsWritten) {
  Governed governed;
  Call unnamed = Governed::read_file();
  unnamed.tool.clear();
  EXPECT_EQ(governed.call(unnamed).error().where, "tool");
  Call long_session = Governed::read_file();
  long_session.session_id = std::string(513, 's');
  const Error too_long = governed.call(long_session).error();
  EXPECT_EQ(too_long.where, "session_id");
  EXPECT_EQ(too_long.message, "`session_id` has 513 bytes; send at most 512");
  Call broken_name = Governed::read_file();
  broken_name.tool = "\xff";
  EXPECT_EQ(governed.call(broken_name).error().message, "`tool` is not UTF-8; send it as UTF-8");
  Call broken_text = Governed::read_file();
  broken_text.input = {{"path", "\xff"}};
  EXPECT_FALSE(governed.call(broken_text));
  EXPECT_TRUE(governed.recorder.written.empty());
}

// AU-77 (partly)
TEST(GovernorTest, AnInterruptedCallIsClosedWithAnUnknownEffect) {
  Governed governed;
  ASSERT_TRUE(governed.call(Governed::read_file()));
  const json::object entry = *governed.recorder.entry(2);
  const std::vector<Draft> closing = close_interrupted(entry);
  ASSERT_EQ(closing.size(), 2u);
  EXPECT_EQ(closing[0].body.at("kind"), "tool_execution_finished");
  EXPECT_EQ(closing[1].outcome, "persistence_failed");
  EXPECT_EQ(closing[1].subject->call_id, governed.recorder.written[2].subject->call_id);
  EXPECT_EQ(text(closing[1], "/effect_state"), "unknown");
  EXPECT_TRUE(text(closing[1], "/outcome/error").starts_with("interrupted:"));
  EXPECT_EQ(text(closing[1], "/requested_input/path"), "/tmp/x");
}

// A call whose process was lost once did not end its dispatch, so that a replay gave its place to
// the next similar call.
// AP-24
TEST(GovernorTest, ACallThatLostItsProcessIsAnEndOfItsDispatch) {
  Governed governed;
  Call call = Governed::read_file();
  call.trigger_id = "evt-1";
  ASSERT_TRUE(governed.call(call));
  const json::object intent = *governed.recorder.entry(2);
  const std::string digest(intent.at("body").at("request_digest").as_string());
  ASSERT_FALSE(*end_of_dispatched(governed.recorder, "evt-1", digest, 2));
  ASSERT_TRUE(test::run_now(governed.recorder.append(close_interrupted(intent), Urgency::Reports)));
  EXPECT_TRUE(*end_of_dispatched(governed.recorder, "evt-1", digest, 2));
}

}  // namespace
}  // namespace sallyport::core
