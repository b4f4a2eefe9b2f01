// Budgets of grants in the Governor: reserved with the approval request, charged with the intent,
// returned if nothing ran.
#include <gtest/gtest.h>

#include "core/turn/turns.h"
#include "governed_grants.h"

namespace sallyport::grants {
namespace {

using namespace test;
using sallyport::test::FakeUpstream;
using sallyport::test::FunctionApprover;

class GrantBudgetTest : public GovernedGrants {
 protected:
  const json::object once = token_with({with(grant(), "max_invocations", 1)});

  void asks_a_person(FunctionApprover::Decide decide) {
    governed.plan.tool("", "read_file", {Tier::Confirm, "fs.write"})
        .autonomy(Autonomy::ActWithApproval);
    governed.approver = std::make_shared<FunctionApprover>(std::move(decide));
  }
};

// CG-48 CG-51
TEST_F(GrantBudgetTest, EachDispatchIsChargedAndTheOneTooManyIsDenied) {
  EXPECT_EQ(outcome(once), "completed");
  EXPECT_EQ(count_of(once), "1 used, 0 held");
  EXPECT_EQ(outcome(once), "grant_budget");
  EXPECT_EQ(last("/guards/0/evidence/check"), "budget");
  EXPECT_EQ(count_of(once), "1 used, 0 held");
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
}

// CG-48
TEST_F(GrantBudgetTest, ARateIsDeniedUntilItsWindowHasPassed) {
  const json::object token =
      token_with({with(grant(), "rate", json::object{{"max", 2}, {"per_seconds", 60}})});
  EXPECT_EQ(outcome(token), "completed");
  clock.advance(std::chrono::seconds(30));
  EXPECT_EQ(outcome(token), "completed");
  EXPECT_EQ(outcome(token), "grant_rate");
  clock.advance(std::chrono::seconds(30));
  EXPECT_EQ(outcome(token), "completed");
  EXPECT_EQ(outcome(token), "grant_rate");
}

// CG-32
TEST_F(GrantBudgetTest, SiblingsTogetherCannotExceedTheirParent) {
  const json::object parent = token_with({with(grant(), "max_invocations", 3)}, 1);
  const json::object two = with(with(grant(), "max_invocations", 2), "from", 0);
  const json::object left = child_of(parent, {two}, 2);
  const json::object right = child_of(parent, {two}, 3);
  EXPECT_EQ(outcome(left), "completed");
  EXPECT_EQ(outcome(left), "completed");
  EXPECT_EQ(outcome(left), "grant_budget");
  EXPECT_EQ(outcome(right), "completed");
  EXPECT_EQ(outcome(right), "grant_budget");
  EXPECT_EQ(count_of(parent), "3 used, 0 held");
  EXPECT_EQ(count_of(right), "1 used, 0 held");
  EXPECT_EQ(outcome(parent), "grant_budget");
}

// CG-34
TEST_F(GrantBudgetTest, AGrantWithoutRoomIsPassedOverForOneThatHasSome) {
  const json::object token =
      token_with({with(grant("fs", "*"), "max_invocations", 1), grant("*", "*")});
  EXPECT_EQ(outcome(token), "completed");
  EXPECT_EQ(last("/matched_grant_index"), "0");
  EXPECT_EQ(outcome(token), "completed");
  EXPECT_EQ(last("/matched_grant_index"), "1");
  EXPECT_EQ(last("/guards/0/evidence/passed_over/0/why"), "grant_budget");
}

// CG-49
TEST_F(GrantBudgetTest, TheHoldIsWrittenWithTheQuestion) {
  std::string held;
  asks_a_person([&](const Question&) {
    held = count_of(once);
    return Reply::approve("user:ada");
  });
  EXPECT_EQ(outcome(once), "completed");
  EXPECT_EQ(held, "0 used, 1 held");
  EXPECT_EQ(count_of(once), "1 used, 0 held");
  const auto& written = governed.recorder.written;
  const auto holds = [](const core::Draft& draft) {
    return std::ranges::any_of(draft.facts,
                               [](const core::Fact& fact) { return fact.space == "budget_hold"; });
  };
  const auto first = std::ranges::find_if(written, holds);
  ASSERT_NE(first, written.end());
  EXPECT_EQ(first->kind, core::Kind::ToolAudit);
  EXPECT_EQ(first->outcome, "requires_confirmation");
}

// CG-49
TEST_F(GrantBudgetTest, WithoutAQuestionTheChargeIsWrittenWithTheIntentBeforeTheEffect) {
  std::string during;
  governed.tool = std::make_shared<FakeUpstream>([&](Call, std::stop_token) -> Task<Envelope> {
    during = count_of(once);
    co_return Envelope::of(1);
  });
  EXPECT_EQ(outcome(once), "completed");
  EXPECT_EQ(during, "1 used, 0 held");
}

// CG-50
TEST_F(GrantBudgetTest, ARefusedApprovalGivesTheHoldBack) {
  asks_a_person([](const Question&) { return Reply::deny("user:ada", "no"); });
  EXPECT_EQ(outcome(once), "no");
  EXPECT_EQ(count_of(once), "0 used, 0 held");
  EXPECT_TRUE(core::budgets::all_reservations(governed.recorder)->empty());
}

// CG-50
TEST_F(GrantBudgetTest, ARevokedGrantGivesTheHoldBack) {
  asks_a_person([&](const Question&) {
    revoke(once.at("id").as_string());
    return Reply::approve("user:ada");
  });
  EXPECT_EQ(outcome(once), "grant_revoked");
  EXPECT_EQ(count_of(once), "0 used, 0 held");
}

// CG-50
TEST_F(GrantBudgetTest, ACallThatNobodyWaitsForGivesItsHoldBackWhenItIsRefused) {
  asks_a_person([](const Question&) { return Reply::approve("user:ada"); });
  const Result<Answer> waiting = run(call_with(once), {.holds = false});
  ASSERT_TRUE(waiting);
  EXPECT_EQ(count_of(once), "0 used, 1 held");
  ASSERT_TRUE(run_now(
      governed.governor().approvals().answer(waiting->approval_id, Reply::deny("user:ada", "no"))));
  EXPECT_EQ(count_of(once), "0 used, 0 held");
}

// CG-50: the answer came, and the call is cancelled when it continues.
TEST_F(GrantBudgetTest, AnApprovedCallThatIsCancelledBeforeItRunsGivesItsHoldBack) {
  asks_a_person([](const Question& question) { return Reply::approve(question.agent_id); });
  Call call = call_with(once);
  const Result<Answer> waiting = run(call, {.holds = false});
  ASSERT_TRUE(waiting);
  ASSERT_TRUE(run_now(
      governed.governor().approvals().answer(waiting->approval_id, Reply::approve("user:ada"))));
  EXPECT_EQ(count_of(once), "0 used, 1 held");
  call.call_id = waiting->call_id;
  std::stop_source stop;
  stop.request_stop();
  const Result<Answer> ended = run_now(
      governed.governor().resume({.call = std::move(call), .approval_id = waiting->approval_id},
                                 governed.upstream, {.cancel = stop.get_token()}));
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_TRUE(governed.upstream->calls.empty());
  EXPECT_EQ(count_of(once), "0 used, 0 held");
}

// CG-50
TEST_F(GrantBudgetTest, AnIntentThatCannotBeWrittenTakesNothing) {
  build();
  governed.recorder.refuse = [](const std::vector<core::Draft>& drafts) -> std::optional<Error> {
    for (const core::Draft& draft : drafts) {
      if (draft.kind == core::Kind::Intent) {
        return Error{ErrorCode::Unavailable, "no space", {}, "no_space"};
      }
    }
    return std::nullopt;
  };
  EXPECT_FALSE(run(call_with(once)));
  EXPECT_EQ(count_of(once), "0 used, 0 held");
}

// CG-50
TEST_F(GrantBudgetTest, AnAnswerOfTheCacheTakesNothing) {
  const json::object twice = token_with({with(grant(), "max_invocations", 2)});
  Call call = call_with(twice);
  call.tool_call_id = "toolu_1";
  EXPECT_EQ(outcome(call), "completed");
  EXPECT_EQ(outcome(call), "cached");
  EXPECT_EQ(count_of(twice), "1 used, 0 held");
}

// CG-51
TEST_F(GrantBudgetTest, AChargeStaysWhateverBecomesOfTheCall) {
  const json::object many = token_with({with(grant(), "max_invocations", 9)});
  governed.tool = std::make_shared<FakeUpstream>([](Call, std::stop_token) -> Task<Envelope> {
    co_return fail(ErrorCode::Unavailable, "down");
  });
  EXPECT_EQ(outcome(many), "completed");
  EXPECT_EQ(count_of(many), "1 used, 0 held");
  governed.tool = std::make_shared<FakeUpstream>([](Call, std::stop_token) -> Task<Envelope> {
    throw std::runtime_error("broken");
    co_return Envelope::of(1);
  });
  EXPECT_EQ(outcome(many), "completed");
  EXPECT_EQ(count_of(many), "2 used, 0 held");
}

// CG-51 PI-49
TEST_F(GrantBudgetTest, AChargeStaysWhenTheResultIsBlocked) {
  governed.plan.result_guard(std::make_shared<FunctionResultGuard>(
      "no", [](const Envelope&, const ResultContext&) { return Verdict::deny("no"); }));
  EXPECT_EQ(outcome(once), "completed");
  EXPECT_EQ(count_of(once), "1 used, 0 held");
}

// CG-22 CG-52
TEST_F(GrantBudgetTest, ADenialTouchesNoBudget) {
  governed.plan.guard(std::make_shared<FunctionGuard>("no", [](const Call& call) {
    return call.input.as_object().contains("bad") ? Verdict::deny("bad") : Verdict::allow();
  }));
  EXPECT_EQ(outcome(call_with(once, {{"bad", 1}})), "bad");
  EXPECT_EQ(count_of(once), "0 used, 0 held");
  Call other = call_with(once);
  other.agent_id = "agent:b";
  EXPECT_EQ(outcome(other), "grant_subject");
  EXPECT_EQ(count_of(once), "0 used, 0 held");
}

// CG-53
TEST_F(GrantBudgetTest, ABudgetThatIsGoneWhenTheHoldIsPlacedDeniesAndFallsToNoOther) {
  const json::object token =
      token_with({with(grant("fs", "*"), "max_invocations", 1), grant("*", "*")});
  build();
  // After the guard and before the intent, another call takes the last one.
  governed.plan.guard(std::make_shared<FunctionGuard>("slow", [&](const Call&) {
    const core::Spending spending = spending_of(*read_token(text_of(token)), 0);
    std::vector<core::Draft> drafts;
    drafts.push_back({.kind = core::Kind::Grant,
                      .changes = {core::budgets::charge(spending, {"other", "i"}, clock.wall())}});
    (void)run_now(governed.recorder.append(std::move(drafts), core::Urgency::Reports));
    return Verdict::allow();
  }));
  EXPECT_EQ(outcome(token), "grant_budget");
  EXPECT_EQ(governed.recorder.records().back().outcome, "blocked");
  EXPECT_EQ(last("/guards/0/verdict"), "deny");
  EXPECT_EQ(last("/guards/0/rule"), "grant_budget");
  EXPECT_EQ(last("/guards/1/verdict"), "allow") << "the other guard said so";
  EXPECT_EQ(last("/matched_grant_index"), "0");
  EXPECT_TRUE(governed.upstream->calls.empty());
}

// CG-23 CG-36: the budget is not checked twice.
TEST_F(GrantBudgetTest, ACallThatHoldsItsRoomRunsWithTheGrantItHolds) {
  const json::object token =
      token_with({with(grant("fs", "*"), "max_invocations", 1), grant("*", "*")});
  asks_a_person([](const Question&) { return Reply::approve("user:ada"); });
  EXPECT_EQ(outcome(token), "completed");
  EXPECT_EQ(last("/matched_grant_index"), "0");
  EXPECT_EQ(count_of(token, 0), "1 used, 0 held");
  EXPECT_EQ(count_of(token, 1), "0 used, 0 held");
}

// CG-55
TEST_F(GrantBudgetTest, WhatADeadProcessHeldIsGivenBackOnceAtTheStartWithARecord) {
  build();
  std::vector<core::Draft> drafts;
  const core::Spending spending = spending_of(*read_token(text_of(once)), 0);
  drafts.push_back(
      {.kind = core::Kind::ToolAudit,
       .changes = {core::budgets::reserve(spending, {"call-1", "gone"}, clock.wall())}});
  ASSERT_TRUE(run_now(governed.recorder.append(std::move(drafts), core::Urgency::Reports)));
  ASSERT_TRUE(run_now(governed.governor().start()));
  EXPECT_EQ(count_of(once), "0 used, 1 held") << "its process is alive";
  governed.recorder.dead.insert("gone");
  ASSERT_TRUE(run_now(governed.governor().start()));
  ASSERT_TRUE(run_now(governed.governor().start()));
  EXPECT_EQ(count_of(once), "0 used, 0 held");
  const std::vector<core::Draft> records = governed.recorder.of(core::Kind::Grant);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(text_at(records[0], "/record"), "hold_reversed");
  EXPECT_EQ(records[0].subject->call_id, "call-1");
}

// CG-55: another process that starts at the same moment was quicker.
TEST_F(GrantBudgetTest, WhatAnotherProcessGaveBackStopsNoStartAndADiskThatRefusesDoes) {
  build();
  std::vector<core::Draft> drafts;
  const core::Spending spending = spending_of(*read_token(text_of(once)), 0);
  drafts.push_back(
      {.kind = core::Kind::ToolAudit,
       .changes = {core::budgets::reserve(spending, {"call-1", "gone"}, clock.wall())}});
  ASSERT_TRUE(run_now(governed.recorder.append(std::move(drafts), core::Urgency::Reports)));
  governed.recorder.dead.insert("gone");
  for (const ErrorCode code : {ErrorCode::Conflict, ErrorCode::Unavailable}) {
    governed.recorder.refuse =
        [code](const std::vector<core::Draft>& written) -> std::optional<Error> {
      if (written.front().kind != core::Kind::Grant) return std::nullopt;
      return Error{code, "refused"};
    };
    EXPECT_EQ(run_now(governed.governor().start()).has_value(), code == ErrorCode::Conflict);
  }
}

// CG-23 CG-49: a paused turn keeps its token and its reservation over a restart.
TEST_F(GrantBudgetTest, ATurnThatPausedGoesOnWithItsGrant) {
  asks_a_person([](const Question&) { return Reply::approve("user:ada"); });
  build();
  SystemEntropy entropy;
  core::Continuations continuations(governed.recorder, governed.recorder, KeyedDigest("k"), clock,
                                    entropy);
  core::Turns turns(governed.governor(), continuations,
                    [this](const Call&) { return governed.upstream; });
  Call call = call_with(once);
  call.tool_call_id = "toolu_1";
  const auto paused = run_now(turns.run({.session_id = "s-1", .turn = 1}, {call}));
  ASSERT_TRUE(paused && paused->paused);
  EXPECT_EQ(count_of(once), "0 used, 1 held");
  governed.recorder.dead.insert(governed.recorder.instance);
  ASSERT_TRUE(run_now(governed.governor().start()));
  EXPECT_EQ(count_of(once), "0 used, 1 held") << "it still waits";
  ASSERT_TRUE(run_now(
      governed.governor().approvals().answer(paused->approval_id, Reply::approve("user:ada"))));
  const auto ended = run_now(turns.resume(*paused->paused, "s-1"));
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
  EXPECT_EQ(count_of(once), "1 used, 0 held");
}

// CG-63 (partly)
TEST_F(GrantBudgetTest, ATokenThatWasUsedIsKnownFromThenOn) {
  const json::object parent = token_with({grant()}, 1);
  const json::object child = child_of(parent, {with(grant(), "from", 0)}, 2);
  EXPECT_EQ(outcome(child), "completed");
  for (const json::object& token : {parent, child}) {
    const auto known = known_token(governed.recorder, std::string(token.at("id").as_string()));
    ASSERT_TRUE(known && *known);
    EXPECT_EQ((*known)->digest, digest_of(token));
    EXPECT_EQ((*known)->origin, "seen");
  }
  EXPECT_EQ(known_tokens(governed.recorder)->size(), 2u);
}

// A token whose calls were all refused was once unknown, so that nobody could revoke it.
// CG-61 CG-63
TEST_F(GrantBudgetTest, ATokenOfARefusedCallIsKnownIfItIsGenuine) {
  governed.plan.guard(std::make_shared<FunctionGuard>("no", [](const Call& call) {
    return call.input.as_object().contains("bad") ? Verdict::deny("bad") : Verdict::allow();
  }));
  const auto known = [this](const json::object& token) {
    const auto found = known_token(governed.recorder, std::string(token.at("id").as_string()));
    return found && found->has_value();
  };
  const json::object elsewhere = token_with({grant("git", "*")}, 1);
  EXPECT_EQ(outcome(elsewhere), "grant_scope");
  EXPECT_TRUE(known(elsewhere));
  const json::object empty = token_with({with(grant(), "max_invocations", 0)}, 2);
  EXPECT_EQ(outcome(empty), "grant_scope");
  EXPECT_TRUE(known(empty));
  Call stolen = call_with(token_with({grant()}, 3));
  stolen.agent_id = "agent:b";
  EXPECT_EQ(outcome(stolen), "grant_subject");
  EXPECT_TRUE(known(token_with({grant()}, 3)));
  const json::object fitting = token_with({grant()}, 4);
  EXPECT_EQ(outcome(call_with(fitting, {{"bad", 1}})), "bad");
  EXPECT_TRUE(known(fitting));

  json::object forged = token_with({grant()}, 5);
  forged["expires_at"] = 1794704399;
  EXPECT_EQ(outcome(forged), "grant_signature");
  EXPECT_FALSE(known(forged));
  json::object stranger = token_with({grant()}, 6);
  sign(stranger, key_c());
  EXPECT_EQ(outcome(stranger), "grant_untrusted_issuer");
  EXPECT_FALSE(known(stranger));
  const json::object wider = child_of(elsewhere, {with(grant("fs", "*"), "from", 0)}, 7);
  EXPECT_EQ(outcome(wider), "grant_delegation");
  EXPECT_FALSE(known(wider));
}

}  // namespace
}  // namespace sallyport::grants
