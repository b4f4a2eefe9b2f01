// What becomes of an approval: used once, unused, overtaken by events, or left behind by a process
// that died; and calls that are like one that waits.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "core/approval/approval_request.h"
#include "core/handoff/waiting_facts.h"
#include "support/governed.h"
#include "support/test_clock.h"

namespace sallyport::core {
namespace {

using test::FunctionApprover;
using test::FunctionGuard;
using test::Governed;
using test::run_now;
using test::text_at;

class ApprovalLifeTest : public testing::Test {
 protected:
  ApprovalLifeTest() { governed.plan.autonomy(Autonomy::ActWithApproval); }

  Result<void> say(const std::string& id, Reply reply) {
    return run_now(governed.governor().approvals().answer(id, std::move(reply)));
  }
  std::string state_of(const std::string& id) {
    return std::string(to_string((*governed.governor().approvals().state(id))->status));
  }
  std::vector<std::string> outcomes() const {
    std::vector<std::string> names;
    for (const Draft& draft : governed.recorder.records()) names.push_back(draft.outcome);
    return names;
  }
  // A call of a process that dies while it waits.
  std::string leave_behind() {
    std::string id;
    governed.approver = std::make_shared<FunctionApprover>([&](const Question& question) {
      id = question.approval_id;
      return Reply::approve(question.agent_id);  // does not count
    });
    governed.recorder.refuse = [&](const std::vector<Draft>& drafts) -> std::optional<Error> {
      // Dead processes write nothing.
      for (const Draft& draft : drafts) {
        if (text_at(draft, "/record") == "approval_request") return std::nullopt;
      }
      return Error{ErrorCode::Unavailable, "dead"};
    };
    Call call = Governed::read_file();
    call.time_limit = std::chrono::milliseconds(20);
    (void)governed.call(call);
    governed.recorder.refuse = nullptr;
    governed.recorder.owed.clear();
    governed.approver = nullptr;
    governed.recorder.dead.insert(governed.recorder.instance);
    governed.recorder.instance = "another";
    governed.restart();
    return id;
  }
  std::vector<Fact> held() { return *governed.recorder.facts(kHeldCall); }

  Governed governed;
};

using Outcomes = std::vector<std::string>;

// AP-7 AP-8 (partly)
TEST_F(ApprovalLifeTest, TheIntentNamesTheApprovalItUsesAndItsBinding) {
  Question asked;
  governed.approver = std::make_shared<FunctionApprover>([&](const Question& question) {
    asked = question;
    return Reply::approve("user:ada");
  });
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_TRUE(answer);
  const Draft intent = governed.recorder.of(Kind::Intent).at(0);
  EXPECT_EQ(text_at(intent, "/request_id"), answer->approval_id);
  EXPECT_EQ(text_at(intent, "/binding"), asked.binding);
  EXPECT_EQ(asked.binding, binding_of(asked));
  EXPECT_EQ(text_at(governed.recorder.records().back(), "/binding"), "(absent)");
  EXPECT_TRUE(held().empty());
}

// AP-9
TEST_F(ApprovalLifeTest, AYesForACallThatIsDeniedMeanwhileBecomesInvalidated) {
  governed.approver = std::make_shared<FunctionApprover>([&](const Question&) {
    governed.change_plan(PlanBuilder()
                             .autonomy(Autonomy::ActWithApproval)
                             .guard(std::make_shared<FunctionGuard>(
                                 "g", [](const Call&) { return Verdict::deny("closed"); })));
    return Reply::approve("user:ada");
  });
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome, Outcome::blocked("closed"));
  EXPECT_EQ(state_of(answer->approval_id), "invalidated");
  EXPECT_TRUE(governed.upstream->calls.empty());
}

// AP-19
TEST_F(ApprovalLifeTest, AYesThatNobodyUsedInTimeExpires) {
  test::TestClock clock;
  governed.clock = &clock;
  governed.plan.approvals({.use_within = std::chrono::seconds(30)});
  const Result<Answer> asked = governed.call(Governed::read_file(), Caller{.holds = false});
  ASSERT_TRUE(asked);
  ASSERT_TRUE(say(asked->approval_id, Reply::approve("user:ada")));
  clock.advance(std::chrono::seconds(29));
  ASSERT_TRUE(run_now(governed.governor().approvals().expire_all()));
  EXPECT_EQ(state_of(asked->approval_id), "approved");
  clock.advance(std::chrono::seconds(1));
  Call call = Governed::read_file();
  call.call_id = asked->call_id;
  call.trace_id = "t";
  const Result<Answer> late = run_now(governed.governor().resume(
      {.call = call, .approval_id = asked->approval_id}, governed.upstream));
  ASSERT_TRUE(late) << late.error().message;
  EXPECT_EQ(late->outcome, Outcome::blocked("approval_expired"));
  EXPECT_EQ(state_of(asked->approval_id), "expired");
  EXPECT_TRUE(governed.upstream->calls.empty());
}

// AP-20
TEST_F(ApprovalLifeTest, ADeadlineThatPassedWhileNothingRanExpiresAtStart) {
  const std::string id = leave_behind();
  EXPECT_EQ(state_of(id), "pending");
  ASSERT_TRUE(run_now(governed.governor().start()));
  EXPECT_EQ(state_of(id), "expired");
}

// AP-20 AP-21 (partly)
TEST_F(ApprovalLifeTest, ACallWhoseProcessDiedGetsItsEndOnceItCannotRunAnyMore) {
  const std::string id = leave_behind();
  ASSERT_EQ(held().size(), 1u);
  EXPECT_EQ(outcomes(), Outcomes{"requires_confirmation"});
  for (int starts = 0; starts < 2; ++starts) {
    ASSERT_TRUE(run_now(governed.governor().start()));
    EXPECT_EQ(outcomes(), (Outcomes{"requires_confirmation", "blocked"}));
  }
  const Draft end = governed.recorder.records().back();
  EXPECT_EQ(text_at(end, "/outcome/reason"), "approval_expired");
  EXPECT_EQ(text_at(end, "/terminal"), "true");
  EXPECT_EQ(text_at(end, "/approval_id"), id);
  EXPECT_TRUE(held().empty());
  EXPECT_TRUE(governed.upstream->calls.empty());
}

// AP-36 AU-24
TEST_F(ApprovalLifeTest, AnIdenticalCallAttachesAndBothGetTheOneResult) {
  boost::asio::io_context loop;
  std::vector<Result<Answer>> answers;
  ASSERT_TRUE(governed.build());
  const auto start = [&](const char* tool_call_id) {
    Call call = Governed::read_file();
    call.tool_call_id = tool_call_id;
    boost::asio::co_spawn(loop, governed.governor().run(call, governed.upstream),
                          [&](const std::exception_ptr&, Result<Answer> answer) {
                            answers.push_back(std::move(answer));
                          });
  };
  start("toolu_1");
  start("toolu_2");
  while (governed.recorder.of(Kind::Approval).size() < 2) loop.run_one();
  const auto about = governed.recorder.of(Kind::Approval);
  EXPECT_EQ(text_at(about[0], "/record"), "approval_request");
  EXPECT_EQ(text_at(about[1], "/record"), "approval_joined");
  const std::string id = text_at(about[0], "/request_id");
  EXPECT_EQ(text_at(about[1], "/request_id"), id);
  EXPECT_NE(about[1].subject->call_id, about[0].subject->call_id);
  EXPECT_EQ(outcomes(), Outcomes{"requires_confirmation"});
  boost::asio::co_spawn(
      loop, governed.governor().approvals().answer(id, Reply::approve("user:ada")),
      [](const std::exception_ptr&, const Result<void>& said) { EXPECT_TRUE(said); });
  loop.run();
  ASSERT_EQ(answers.size(), 2u);
  for (const Result<Answer>& answer : answers) {
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_TRUE(answer->result.success);
    EXPECT_EQ(answer->approval_id, id);
    EXPECT_EQ(answer->result.data, answers[0]->result.data);
  }
  EXPECT_NE(answers[0]->call_id, answers[1]->call_id);
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
  EXPECT_EQ(governed.recorder.of(Kind::Intent).size(), 1u);
  EXPECT_EQ(outcomes(), (Outcomes{"requires_confirmation", "completed", "cached"}));
  EXPECT_TRUE(held().empty());
}

// AP-37
TEST_F(ApprovalLifeTest, AnotherCallAndTheSameOneAfterUseAskAnew) {
  std::vector<std::string> asked;
  governed.approver = std::make_shared<FunctionApprover>([&](const Question& question) {
    asked.push_back(question.approval_id);
    return Reply::approve("user:ada");
  });
  for (int i = 0; i < 2; ++i) {
    Call call = Governed::read_file();
    call.tool_call_id = "toolu_" + std::to_string(i);
    EXPECT_TRUE(governed.call(call)->result.success);
  }
  Call other = Governed::read_file();
  other.tool_call_id = "toolu_9";
  other.session_id = "s-2";
  EXPECT_TRUE(governed.call(other)->result.success);
  EXPECT_EQ(asked.size(), 3u);
  EXPECT_EQ(governed.upstream->calls.size(), 3u);
}

// AP-22
TEST_F(ApprovalLifeTest, AProposalRunsOnceWithoutTheAgentWhenItIsApprovedLater) {
  governed.plan.autonomy(Autonomy::Suggest);
  const Result<Answer> proposed = governed.call(Governed::read_file());
  ASSERT_TRUE(proposed);
  EXPECT_EQ(proposed->outcome.kind, Outcome::Kind::RequiresConfirmation);
  const auto tool = [&](const Call&) { return governed.upstream; };
  EXPECT_TRUE(run_now(governed.governor().run_answered(tool))->empty());
  EXPECT_TRUE(governed.upstream->calls.empty());
  governed.restart();
  ASSERT_TRUE(say(proposed->approval_id, Reply::approve("user:ada")));
  const auto ran = run_now(governed.governor().run_answered(tool));
  ASSERT_TRUE(ran) << ran.error().message;
  ASSERT_EQ(ran->size(), 1u);
  EXPECT_TRUE(ran->front().result.success);
  EXPECT_EQ(ran->front().call_id, proposed->call_id);
  EXPECT_TRUE(run_now(governed.governor().run_answered(tool))->empty());
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
  EXPECT_EQ(state_of(proposed->approval_id), "used");
  EXPECT_EQ(outcomes(), (Outcomes{"requires_confirmation", "completed"}));
  EXPECT_TRUE(governed.recorder.facts(kProposedCall)->empty());
}

// AP-22 (partly) AP-21 (partly)
TEST_F(ApprovalLifeTest, AProposalThatIsRefusedEndsAndNeverRuns) {
  governed.plan.autonomy(Autonomy::Suggest);
  const Result<Answer> proposed = governed.call(Governed::read_file());
  ASSERT_TRUE(proposed);
  ASSERT_TRUE(say(proposed->approval_id, Reply::deny("user:ada", "no")));
  const auto ended =
      run_now(governed.governor().run_answered([&](const Call&) { return governed.upstream; }));
  ASSERT_TRUE(ended);
  ASSERT_EQ(ended->size(), 1u);
  EXPECT_EQ(ended->front().outcome, Outcome::blocked("no"));
  EXPECT_TRUE(governed.upstream->calls.empty());
}

class OnlyAda final : public ReviewerBook {
 public:
  Result<void> check(const std::string& reviewer, std::string_view statement,
                     std::string_view signature) const override {
    if (reviewer == "user:ada" && signature == "signed " + std::string(statement)) return {};
    return fail(ErrorCode::Unauthenticated, "not signed by ada");
  }
  json::value dump() const override { return "ada"; }
};

// AP-10 AP-16 (partly) AP-44: whoever can write to the ledger still cannot sign, and what he writes
// leaves the question to those who can.
TEST_F(ApprovalLifeTest, WhereKeysAreRegisteredAnAnswerCountsOnlyWithItsSignature) {
  governed.plan.approvals({.people = std::make_shared<OnlyAda>()});
  const Result<Answer> asked = governed.call(Governed::read_file(), Caller{.holds = false});
  ASSERT_TRUE(asked);
  const std::string& id = asked->approval_id;
  const auto reply = [&](bool yes, bool sign) {
    Reply said = yes ? Reply::approve("user:ada") : Reply::deny("user:ada", "no");
    said.responded_at = "2026-11-15T02:02:00Z";
    const ResponseStatement statement{
        id, "user:ada", text_or_empty(*stored_request(governed.recorder, id), "binding"),
        said.responded_at, yes};
    said.signature = sign ? "signed " + statement.text() : "signed otherwise";
    return said;
  };
  for (const bool yes : {false, true}) {
    const Result<void> forged = say(id, reply(yes, false));
    ASSERT_FALSE(forged);
    EXPECT_EQ(forged.error().code, ErrorCode::Unauthenticated);
    EXPECT_EQ(state_of(id), "pending");
  }
  ASSERT_TRUE(say(id, reply(true, true)));
  Call call = Governed::read_file();
  call.call_id = asked->call_id;
  call.trace_id = "t";
  const Result<Answer> ended =
      run_now(governed.governor().resume({.call = call, .approval_id = id}, governed.upstream));
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_TRUE(ended->result.success);
}

// AP-44: another process took a forged answer for one, and its decision blocked the real person.
TEST_F(ApprovalLifeTest, ADecisionThatRestsOnForgedAnswersIsNone) {
  const Result<Answer> asked = governed.call(Governed::read_file(), Caller{.holds = false});
  ASSERT_TRUE(asked);
  const std::string& id = asked->approval_id;
  for (const bool yes : {false, true}) {
    ASSERT_TRUE(say(id, yes ? Reply::approve("user:ada") : Reply::deny("user:ada", "no")));
    EXPECT_EQ(state_of(id), yes ? "approved" : "denied");
    governed.change_plan(PlanBuilder()
                             .autonomy(Autonomy::ActWithApproval)
                             .approvals({.people = std::make_shared<OnlyAda>()}));
    Call call = Governed::read_file();
    call.call_id = asked->call_id;
    call.trace_id = "t";
    const Result<Answer> ended =
        run_now(governed.governor().resume({.call = call, .approval_id = id}, governed.upstream));
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().cause, "approval_pending");
    EXPECT_EQ(state_of(id), "pending");
    EXPECT_TRUE(governed.upstream->calls.empty());
    governed.change_plan(PlanBuilder().autonomy(Autonomy::ActWithApproval));
  }
}

class OneToken final : public ReviewerBook {
 public:
  Result<void> check(const std::string&, std::string_view, std::string_view) const override {
    return {};
  }
  std::string credential(const std::string&) const override { return "token:1"; }
  json::value dump() const override { return "one"; }
};

// AP-14: one token under two names satisfied dual control.
TEST_F(ApprovalLifeTest, OnePersonUnderTwoNamesIsNotTwo) {
  governed.plan.approvals({.quorum = 2, .people = std::make_shared<OneToken>()});
  const Result<Answer> asked = governed.call(Governed::read_file(), Caller{.holds = false});
  ASSERT_TRUE(asked);
  ASSERT_TRUE(say(asked->approval_id, Reply::approve("user:ada")));
  ASSERT_TRUE(say(asked->approval_id, Reply::approve("user:bo")));
  Call call = Governed::read_file();
  call.call_id = asked->call_id;
  call.trace_id = "t";
  const Result<Answer> ended = run_now(governed.governor().resume(
      {.call = call, .approval_id = asked->approval_id}, governed.upstream));
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->outcome, Outcome::blocked("approval_invalid: too few people said yes"));
  EXPECT_TRUE(governed.upstream->calls.empty());
}

}  // namespace
}  // namespace sallyport::core
