// A call that the model proxy has handed out, at a second door that sees it again.
#include "core/handoff/continued_call.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "core/handoff/hand_offs.h"
#include "core/handoff/model_calls.h"
#include "core/handoff/waiting_facts.h"
#include "support/governed.h"

namespace sallyport::core {
namespace {

using test::Governed;

class ContinuedCallTest : public testing::Test {
 protected:
  static Call proposed_call() {
    Call call = Governed::read_file();
    call.server = "files";
    return call;
  }

  // The call as the proxy hands it out, in the proxy's session.
  std::string hand_out(Call call = proposed_call()) {
    Continuations continuations(governed.recorder, governed.recorder, KeyedDigest("k"),
                                *governed.clock, entropy_);
    HandOffs hand_offs(governed.governor(), continuations);
    std::vector<Call> calls;
    calls.push_back(std::move(call));
    Result<HandOffs::HandedOut> given = test::run_now(hand_offs.hand_out(
        {.session_id = "s-proxy", .state = HandOffs::proposed_to("agent:a")}, std::move(calls)));
    EXPECT_TRUE(given) << given.error().message;
    EXPECT_EQ(given->hand_off.tool_calls.size(), 1u);
    return governed.recorder.of(Kind::Intent).back().subject->call_id;
  }

  // The call as it reaches the gateway: another session, and the id of the model.
  Result<Answer> at_the_gateway(json::value input = {{"path", "/tmp/x"}},
                                const std::string& id = "toolu_1") {
    Call call = proposed_call();
    call.tool_call_id.clear();
    call.session_id = "s-gateway";
    call.input = std::move(input);
    call.setting.front = "mcp";
    return test::run_now(
        run_model_call(governed.governor(), std::move(call), id, governed.upstream, {}));
  }

  std::vector<std::string> record_ids() const {
    std::vector<std::string> ids;
    for (const Draft& record : governed.recorder.records()) ids.push_back(record.subject->call_id);
    return ids;
  }

  Governed governed;

 private:
  SystemEntropy entropy_;
};

// MP-61
TEST_F(ContinuedCallTest, TheSameCallGoesOnUnderItsIdAndHasOneRecord) {
  const std::string call_id = hand_out();
  const Result<Answer> answer = at_the_gateway();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->call_id, call_id);
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Completed);
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
  EXPECT_EQ(governed.recorder.of(Kind::Intent).size(), 1u) << "the intent of the proxy counts";
  EXPECT_EQ(record_ids(), std::vector<std::string>{call_id});
  EXPECT_TRUE(governed.recorder.facts(kHandedOut)->empty());
  EXPECT_TRUE(governed.recorder.facts(kOpenCall)->empty());
}

// MP-61
TEST_F(ContinuedCallTest, TheSameCallAgainGetsTheStoredAnswerAndDoesNotRunTwice) {
  hand_out();
  ASSERT_TRUE(at_the_gateway());
  const Result<Answer> again = at_the_gateway();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->outcome.kind, Outcome::Kind::Cached);
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
}

// MP-61
TEST_F(ContinuedCallTest, AnotherInputUnderTheIdIsAConflict) {
  hand_out();
  const Result<Answer> other = at_the_gateway({{"path", "/etc/shadow"}});
  ASSERT_TRUE(other);
  EXPECT_EQ(other->outcome.kind, Outcome::Kind::Blocked);
  EXPECT_TRUE(other->outcome.text.starts_with("idempotency conflict:")) << other->outcome.text;
  EXPECT_TRUE(governed.upstream->calls.empty());
  EXPECT_EQ(governed.recorder.facts(kHandedOut)->size(), 1u) << "the call still waits";
}

// MP-61
TEST_F(ContinuedCallTest, AnotherAgentOrIdOrToolIsACallOfItsOwn) {
  const std::string call_id = hand_out();
  const Result<Answer> other_id = at_the_gateway({{"path", "/tmp/x"}}, "toolu_9");
  ASSERT_TRUE(other_id);
  EXPECT_NE(other_id->call_id, call_id);
  Call call = proposed_call();
  call.tool_call_id.clear();
  call.agent_id = "agent:b";
  call.session_id = "s-gateway";
  const Result<Answer> other_agent =
      test::run_now(run_model_call(governed.governor(), call, "toolu_1", governed.upstream, {}));
  ASSERT_TRUE(other_agent);
  EXPECT_NE(other_agent->call_id, call_id);
  call.agent_id = "agent:a";
  call.tool = "delete_file";
  const Result<Answer> other_tool =
      test::run_now(run_model_call(governed.governor(), call, "toolu_1", governed.upstream, {}));
  ASSERT_TRUE(other_tool);
  EXPECT_NE(other_tool->call_id, call_id);
  EXPECT_EQ(governed.recorder.facts(kHandedOut)->size(), 1u) << "the call still waits";
}

// MP-61: clients of several servers see `server.tool`, which model APIs do not allow as a name.
TEST_F(ContinuedCallTest, AToolThatTheClientSawUnderTheNameOfItsServerIsTheSame) {
  Call call = proposed_call();
  call.server = "gate";
  call.tool = "files_read_file";
  const std::string call_id = hand_out(std::move(call));
  const Result<Answer> answer = at_the_gateway();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->call_id, call_id);
}

// MP-61: facts that the gateway knows and the proxy did not still count.
TEST_F(ContinuedCallTest, TheDoorDecidesAgainAndARefusalIsTheOneRecord) {
  bool denies = false;
  governed.plan.guard(std::make_shared<test::FunctionGuard>("strict", [&](const Call&) {
    return denies ? Verdict::deny("not here") : Verdict::allow();
  }));
  const std::string call_id = hand_out();
  denies = true;
  const Result<Answer> answer = at_the_gateway();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Blocked);
  EXPECT_TRUE(governed.upstream->calls.empty());
  EXPECT_EQ(record_ids(), std::vector<std::string>{call_id});
  EXPECT_TRUE(governed.recorder.facts(kHandedOut)->empty());
  EXPECT_TRUE(governed.recorder.facts("idempotency")->empty()) << "it never began";
}

// MP-61
TEST_F(ContinuedCallTest, ACallThatAPersonApprovedIsNotAskedAboutAgain) {
  governed.plan.autonomy(Autonomy::ActWithApproval);
  std::size_t asked = 0;
  governed.approver = std::make_shared<test::FunctionApprover>([&](const Question&) {
    ++asked;
    return Reply::approve("user:ada");
  });
  const std::string call_id = hand_out();
  const Result<Answer> answer = at_the_gateway();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Completed) << answer->outcome.text;
  EXPECT_EQ(asked, 1u);
  EXPECT_EQ(answer->call_id, call_id);
}

// MP-61: if two clients present it at once, one runs it.
TEST_F(ContinuedCallTest, ACallThatAnotherProcessTookIsNotRunHere) {
  hand_out();
  bool taken = false;
  governed.recorder.refuse = [&](const std::vector<Draft>& drafts) -> std::optional<Error> {
    for (const Draft& draft : drafts) {
      const bool takes =
          draft.topic == "turns" && draft.body.at("record") == "call_continued" && !taken;
      if (!takes) continue;
      taken = true;
      return Error{ErrorCode::Conflict, "changed meanwhile"};
    }
    return std::nullopt;
  };
  const Result<Answer> answer = at_the_gateway();
  ASSERT_TRUE(answer);
  EXPECT_TRUE(taken);
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Blocked);
  EXPECT_TRUE(answer->outcome.text.starts_with("in flight:")) << answer->outcome.text;
  EXPECT_TRUE(governed.upstream->calls.empty());
}

// MP-62: a call that was left to this door counts as seen, with the proposed input.
TEST_F(ContinuedCallTest, ACallThatWasLeftToALaterDoorIsMarkedAsSeen) {
  using model_calls::Deferred;
  Call call = proposed_call();
  call.session_id = "s-proxy";
  const std::string key = model_calls::deferred_key("agent:a", "s-proxy", "toolu_1");
  Draft draft{.kind = Kind::ModelAudit};
  draft.facts.push_back(model_calls::deferred_fact(
      key, {.request_id = "r-1", .asked = model_calls::asked_digest(call)}));
  draft.changes.push_back(
      model_calls::add(call, {.deferred = key}, governed.recorder, governed.clock->wall()));
  std::vector<Draft> drafts;
  drafts.push_back(std::move(draft));
  ASSERT_TRUE(test::run_now(governed.recorder.append(std::move(drafts), Urgency::Reports)));
  const auto state = [&] { return (*model_calls::find_deferred(governed.recorder, key))->state; };
  ASSERT_TRUE(at_the_gateway({{"path", "/etc/shadow"}}));
  EXPECT_EQ(state(), Deferred::State::Open) << "that was another call";
  ASSERT_TRUE(at_the_gateway());
  EXPECT_EQ(state(), Deferred::State::Seen);
  EXPECT_EQ(governed.upstream->calls.size(), 2u);
}

}  // namespace
}  // namespace sallyport::core
