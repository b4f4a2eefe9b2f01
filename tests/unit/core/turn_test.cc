// Turns that pause for approval: who may resume them, and with which data.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>
#include <map>

#include "core/turn/turns.h"
#include "support/governed.h"

namespace sallyport::core {
namespace {

using test::Governed;
using Texts = std::vector<std::string>;

class TurnTest : public testing::Test {
 protected:
  TurnTest() { governed.plan.autonomy(Autonomy::ActWithApproval); }

  Turns& turns() {
    if (!turns_) {
      continuations_.emplace(governed.recorder, governed.recorder, KeyedDigest("k"), clock_,
                             entropy_);
      turns_.emplace(governed.governor(), *continuations_,
                     [this](const Call&) { return governed.upstream; });
    }
    return *turns_;
  }

  Turns::Ended pause(const std::string& id) {
    Call call = Governed::read_file();
    call.tool_call_id = id;
    Result<Turns::Ended> ended =
        test::run_now(turns().run({.session_id = "s-1", .turn = 3}, {call}));
    EXPECT_TRUE(ended) << ended.error().message;
    EXPECT_TRUE(ended->paused);
    return std::move(*ended);
  }

  std::string cause(const Continuation& continuation, std::string approval_id = {},
                    std::string session = "s-1") {
    const auto ended =
        test::run_now(turns().resume(continuation, std::move(session), std::move(approval_id)));
    return ended ? "none" : ended.error().cause;
  }

  void approve(const std::string& approval_id) {
    ASSERT_TRUE(test::run_now(
        governed.governor().approvals().answer(approval_id, Reply::approve("user:ada"))));
  }

  Governed governed;

 private:
  SystemClock clock_;
  SystemEntropy entropy_;
  std::optional<Continuations> continuations_;
  std::optional<Turns> turns_;
};

// AU-71 AU-97: each fault alone and, together with all later ones, still the first.
TEST_F(TurnTest, TheFirstFailingCheckIsTheErrorAndNothingExecutes) {
  const Turns::Ended waiting = pause("toolu_1");
  const Turns::Ended other = pause("toolu_2");
  const Continuation good = *waiting.paused;

  Continuation bad = good;
  EXPECT_EQ(cause(bad), "approval_pending");
  approve(waiting.approval_id);
  EXPECT_EQ(cause(bad, other.approval_id), "tool_call_mismatch");
  EXPECT_EQ(cause(bad, other.approval_id, "s-2"), "session_mismatch");
  bad.payload.state = {{"changed", true}};
  EXPECT_EQ(cause(bad, other.approval_id, "s-2"), "continuation_altered");
  bad.id = "con-nobody";
  EXPECT_EQ(cause(bad, other.approval_id, "s-2"), "continuation_unknown");
  bad.version = 2;
  EXPECT_EQ(cause(bad, other.approval_id, "s-2"), "continuation_version");
  EXPECT_TRUE(governed.upstream->calls.empty());

  EXPECT_EQ(cause(good), "none");
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
  EXPECT_EQ(cause(good), "already_resumed");
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
}

// AU-70 AU-73
TEST_F(TurnTest, TheDecisionIsThatOfTheAnsweredApproval) {
  const Turns::Ended yes = pause("toolu_1");
  const Turns::Ended no = pause("toolu_2");
  approve(yes.approval_id);
  ASSERT_TRUE(test::run_now(governed.governor().approvals().answer(
      no.approval_id, Reply::deny("user:ada", "not today"))));
  EXPECT_EQ(canonical_json(to_json(*turns().decision(yes.approval_id))), R"({"kind":"approved"})");
  EXPECT_EQ(canonical_json(to_json(*turns().decision(no.approval_id))),
            R"({"kind":"rejected","reason":"not today"})");
  const auto refused = test::run_now(turns().resume(*no.paused, "s-1"));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->results.at(0).result.output, "Blocked: not today");
  EXPECT_TRUE(governed.upstream->calls.empty());
}

// AU-71
TEST_F(TurnTest, AnApprovalThatWasUsedOrOvertakenDecidesNothing) {
  const Turns::Ended used = pause("toolu_1");
  const Turns::Ended overtaken = pause("toolu_2");
  EXPECT_EQ(turns().decision("apr_none").error().cause, "tool_call_mismatch");
  EXPECT_EQ(turns().decision(used.approval_id).error().cause, "approval_pending");
  approve(used.approval_id);
  approve(overtaken.approval_id);
  ASSERT_TRUE(test::run_now(turns().resume(*used.paused, "s-1")));
  ASSERT_TRUE(
      test::run_now(governed.governor().approvals().invalidate(overtaken.approval_id, "changed")));
  EXPECT_EQ(turns().decision(used.approval_id).error().cause, "already_resumed");
  EXPECT_EQ(turns().decision(overtaken.approval_id).error().cause, "already_resumed");
}

Call look(const std::string& id) {
  Call call = Governed::read_file();
  call.tool = "look";
  call.tool_call_id = id;
  return call;
}
Call act(const std::string& id) {
  Call call = look(id);
  call.tool = "act";
  return call;
}

// Reading calls wait for one another to begin, so that they end only if they run together; then
// they end from the last to the first.
class MeetingTest : public TurnTest {
 protected:
  MeetingTest() {
    governed.plan.autonomy(Autonomy::ActAuto).tool("", "look", {Tier::Observe, "none"});
    governed.plan.time_limit(std::chrono::seconds(5));
    governed.upstream =
        std::make_shared<test::FakeUpstream>([this](Call call, std::stop_token) -> Task<Envelope> {
          most_ = std::max(most_, ++running_);
          heard.push_back("begins " + call.tool_call_id);
          if (call.tool == "look") co_await until_others_ended(call.tool_call_id);
          heard.push_back("ends " + call.tool_call_id);
          ended_.push_back(call.tool_call_id);
          --running_;
          co_return Envelope::of(json::value("of " + call.tool_call_id));
        });
  }

  Async<void> until_others_ended(const std::string& id) {
    boost::asio::steady_timer pause(co_await boost::asio::this_coro::executor);
    const auto before = behind_.find(id);
    while (before != behind_.end() && std::ranges::find(ended_, before->second) == ended_.end()) {
      pause.expires_after(std::chrono::milliseconds(1));
      co_await pause.async_wait(boost::asio::use_awaitable);
    }
  }

  Turns::Ended run(std::vector<Call> calls) {
    Result<Turns::Ended> ended =
        test::run_now(turns().run({.session_id = "s-1", .turn = 3}, std::move(calls)));
    EXPECT_TRUE(ended) << ended.error().message;
    return ended ? std::move(*ended) : Turns::Ended{};
  }
  static Texts results(const Turns::Ended& ended) {
    Texts texts;
    for (const CallResult& one : ended.results) {
      texts.push_back(one.tool_call_id + ": " + one.result.output);
    }
    return texts;
  }

  Texts heard;
  int most_ = 0;
  std::map<std::string, std::string> behind_;  // maps a call to the call after which it ends

 private:
  int running_ = 0;
  Texts ended_;
};

// AU-43 EV-53
TEST_F(MeetingTest, CallsThatObserveRunTogetherAndTheirResultsComeInTheOrderOfTheTurn) {
  behind_ = {{"a", "b"}, {"b", "c"}};
  ASSERT_TRUE(governed.hooks.with_hook(std::make_shared<test::FunctionHook>(
      "ears", [&](const Event& event, const Subject&) -> Result<void> {
        if (const auto* const one = std::get_if<event::ToolExecutionStarted>(&event)) {
          heard.push_back("start " + one->tool_call_id);
        }
        if (const auto* const one = std::get_if<event::ToolExecutionFinished>(&event)) {
          heard.push_back("finish " + one->tool_call_id);
        }
        return {};
      })));
  const Turns::Ended ended = run({look("a"), look("b"), look("c")});
  EXPECT_EQ(results(ended), (Texts{"a: of a", "b: of b", "c: of c"}));
  EXPECT_EQ(most_, 3);
  std::erase_if(heard, [](const std::string& line) {
    return line.starts_with("begins") || line.starts_with("ends");
  });
  EXPECT_EQ(heard, (Texts{"start a", "start b", "start c", "finish c", "finish b", "finish a"}));
}

// AU-43
TEST_F(MeetingTest, ACallThatMayActRunsAlone) {
  behind_ = {{"a", "b"}, {"e", "f"}};
  const Turns::Ended ended = run({look("a"), look("b"), act("c"), act("d"), look("e"), look("f")});
  EXPECT_EQ(results(ended),
            (Texts{"a: of a", "b: of b", "c: of c", "d: of d", "e: of e", "f: of f"}));
  EXPECT_EQ(most_, 2);
  EXPECT_EQ(heard, (Texts{"begins a", "begins b", "ends b", "ends a", "begins c", "ends c",
                          "begins d", "ends d", "begins e", "begins f", "ends f", "ends e"}));
}

// Up to sixteen ran together in a turn that may pause.
// RT-24
TEST_F(MeetingTest, AtMostEightCallsRunTogether) {
  std::vector<Call> calls;
  for (char id = 'a'; id <= 'j'; ++id) {
    calls.push_back(look(std::string(1, id)));
    if (id < 'h') behind_[std::string(1, id)] = std::string(1, static_cast<char>(id + 1));
  }
  EXPECT_EQ(run(calls).results.size(), 10u);
  EXPECT_EQ(most_, 8);
}

// A turn paused until a person had decided about a proposal, which is answered at once.
// AU-39 AT-27 (partly) EV-38 (partly)
TEST_F(MeetingTest, AProposalPausesNoTurn) {
  governed.plan.autonomy(Autonomy::Suggest);
  const Turns::Ended ended = run({act("a"), look("b")});
  EXPECT_FALSE(ended.paused);
  ASSERT_EQ(ended.results.size(), 2u);
  EXPECT_TRUE(ended.results[0].result.output.starts_with("proposed: `act`"));
  EXPECT_EQ(ended.results[1].result.output, "of b");
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
}

// AU-43
TEST_F(MeetingTest, TheSameIdTwiceInATurnIsAnsweredFromTheRecordOfTheFirst) {
  const Turns::Ended ended = run({look("a"), look("a")});
  EXPECT_EQ(results(ended), (Texts{"a: of a", "a: of a"}));
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
}

// AU-74
TEST_F(MeetingTest, ATurnPausesBehindThoseThatRanAndEndsWhenAllHaveResults) {
  governed.plan.guard(std::make_shared<test::FunctionGuard>("careful", [](const Call& call) {
    return call.tool_call_id == "b" || call.tool_call_id == "d" ? Verdict::ask("sure?")
                                                                : Verdict::allow();
  }));
  const Turns::Ended first = run({look("a"), look("b"), look("c"), look("d")});
  ASSERT_TRUE(first.paused);
  EXPECT_EQ(results(first), (Texts{"a: of a"}));
  EXPECT_EQ(first.paused->payload.awaiting_index, 1u);
  approve(first.approval_id);
  const auto second = test::run_now(turns().resume(*first.paused, "s-1"));
  ASSERT_TRUE(second && second->paused);
  EXPECT_EQ(results(*second), (Texts{"a: of a", "b: of b", "c: of c"}));
  approve(second->approval_id);
  const auto last = test::run_now(turns().resume(*second->paused, "s-1"));
  ASSERT_TRUE(last);
  EXPECT_FALSE(last->paused);
  EXPECT_EQ(results(*last), (Texts{"a: of a", "b: of b", "c: of c", "d: of d"}));
  EXPECT_EQ(governed.upstream->calls.size(), 4u) << "each once";
}

// AU-43
TEST_F(MeetingTest, WhenTheLedgerRefusesOneThoseThatBeganAreRecordedAndTheTurnIsAnError) {
  governed.plan.durability(IntentDurability::Strict);
  governed.recorder.refuse = [](const std::vector<Draft>& drafts) -> std::optional<Error> {
    for (const Draft& draft : drafts) {
      if (draft.kind == Kind::Intent && draft.body.at("tool_call_id") == "b") {
        return Error{ErrorCode::Unavailable, "disk full"};
      }
    }
    return std::nullopt;
  };
  const auto ended = test::run_now(
      turns().run({.session_id = "s-1", .turn = 3}, {look("a"), look("b"), look("c")}));
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, "disk full");
  ASSERT_EQ(governed.recorder.records().size(), 1u);
  EXPECT_EQ(governed.recorder.records()[0].body.at("tool_call_id"), "a");
  EXPECT_EQ(governed.recorder.records()[0].outcome, "completed");
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
}

// AU-87
TEST_F(TurnTest, WhatAWaitingTurnNeedsIsKeptEncryptedAndGoesWithItsCall) {
  const Turns::Ended waiting = pause("toolu_1");
  ASSERT_EQ(governed.recorder.facts("continuation_kept")->size(), 1u);
  EXPECT_TRUE(governed.recorder.facts("continuation_kept")->at(0).value->starts_with("sealed:"))
      << "what the recorder's encrypt made of it";
  approve(waiting.approval_id);
  ASSERT_TRUE(test::run_now(turns().resume(*waiting.paused, "s-1")));
  EXPECT_TRUE(governed.recorder.facts("continuation_kept")->empty());
}

}  // namespace
}  // namespace sallyport::core
