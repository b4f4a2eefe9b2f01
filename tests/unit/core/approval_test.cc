// A call that needs approval: held, answered once, and run only for exactly that answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>

#include "support/governed.h"
#include "support/test_clock.h"

namespace sallyport::core {
namespace {

using test::FunctionApprover;
using test::FunctionGuard;
using test::Governed;
using test::run_now;
using test::text_at;

class ApprovalTest : public testing::Test {
 protected:
  ApprovalTest() { governed.plan.autonomy(Autonomy::ActWithApproval); }

  void approver(FunctionApprover::Decide decide) {
    governed.approver = std::make_shared<FunctionApprover>(std::move(decide));
  }

  std::string state_of(const std::string& id) {
    return std::string(to_string((*governed.governor().approvals().state(id))->status));
  }

  Result<void> answer(const std::string& id, Reply reply) {
    return run_now(governed.governor().approvals().answer(id, std::move(reply)));
  }

  std::vector<std::string> outcomes() const {
    std::vector<std::string> names;
    for (const Draft& draft : governed.recorder.records()) names.push_back(draft.outcome);
    return names;
  }

  Governed governed;
};

using Outcomes = std::vector<std::string>;

// AU-24 AU-63 (partly)
TEST_F(ApprovalTest, TheQuestionIsOnRecordBeforeItIsAskedAndSaysWhatWillRun) {
  std::optional<Question> seen;
  approver([&](const Question& question) {
    seen = question;
    EXPECT_EQ(outcomes(), Outcomes{"requires_confirmation"});
    EXPECT_EQ(governed.recorder.of(Kind::Approval).size(), 1u);
    return Reply::approve("user:ada");
  });
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->result.success);
  ASSERT_TRUE(seen);
  const Draft record = governed.recorder.records().back();
  EXPECT_EQ(seen->approval_id, answer->approval_id);
  EXPECT_EQ(seen->call_id, answer->call_id);
  EXPECT_EQ(seen->tool_call_id, "toolu_1");
  EXPECT_EQ(seen->session_id, "s-1");
  EXPECT_EQ(seen->agent_id, "agent:a");
  EXPECT_EQ(seen->tool, "read_file");
  EXPECT_EQ(seen->description, "Confirm read_file?");
  EXPECT_EQ(seen->input, governed.upstream->calls.at(0).input);
  EXPECT_EQ(seen->call_digest, text_at(record, "/call_digest"));
  EXPECT_EQ(seen->policy_hash, record.subject->policy_hash);
  EXPECT_GT(*from_rfc3339(seen->expires_at), SystemClock().wall());
  EXPECT_EQ(outcomes(), (Outcomes{"requires_confirmation", "completed"}));
  EXPECT_EQ(text_at(record, "/approval_id"), answer->approval_id);
  const auto entries = governed.recorder.of(Kind::Approval);
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(text_at(entries[0], "/state"), "pending");
  EXPECT_EQ(text_at(entries[1], "/reviewer"), "user:ada");
  EXPECT_EQ(text_at(entries[2], "/state"), "approved");
  EXPECT_EQ(text_at(entries[2], "/reviewers"), R"(["user:ada"])");
  EXPECT_EQ(entries[2].subject->call_id, answer->call_id);
}

// AU-41
TEST_F(ApprovalTest, AGuardThatAsksGivesTheQuestionItsWords) {
  governed.plan.autonomy(Autonomy::ActAuto)
      .guard(std::make_shared<FunctionGuard>(
          "g", [](const Call&) { return Verdict::ask("Read outside of the project?"); }));
  std::string asked;
  approver([&](const Question& question) {
    asked = question.description;
    return Reply::approve("user:ada");
  });
  EXPECT_TRUE(governed.call(Governed::read_file())->result.success);
  EXPECT_EQ(asked, "Read outside of the project?");
}

// AU-23 AU-24
TEST_F(ApprovalTest, SilenceIsARefusalAndALateYesChangesNothing) {
  Call call = Governed::read_file();
  call.time_limit = std::chrono::milliseconds(20);
  const Result<Answer> answered = governed.call(call);
  ASSERT_TRUE(answered);
  EXPECT_EQ(answered->outcome, Outcome::blocked("approval_expired"));
  EXPECT_EQ(state_of(answered->approval_id), "expired");
  const Result<void> late = answer(answered->approval_id, Reply::approve("user:ada"));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::Conflict);
  EXPECT_EQ(late.error().cause, "expired");
  EXPECT_TRUE(governed.upstream->calls.empty());
}

// AU-65 (partly)
TEST_F(ApprovalTest, AYesBehindTheDeadlineIsRefusedAlsoWhereNobodyWaitsAnyMore) {
  test::TestClock clock;
  governed.clock = &clock;
  governed.plan.approval_time(std::chrono::seconds(60));
  const Result<Answer> asked = governed.call(Governed::read_file(), Caller{.holds = false});
  ASSERT_TRUE(asked);
  clock.advance(std::chrono::seconds(60));
  const Result<void> late = answer(asked->approval_id, Reply::approve("user:ada"));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().cause, "expired");
  EXPECT_EQ(governed.recorder.of(Kind::Approval).size(), 1u);
}

TEST_F(ApprovalTest, OfTwoAnswersTheFirstCounts) {
  const Result<Answer> asked = governed.call(Governed::read_file(), Caller{.holds = false});
  ASSERT_TRUE(asked);
  EXPECT_TRUE(answer(asked->approval_id, Reply::deny("user:ada", "no")));
  const Result<void> second = answer(asked->approval_id, Reply::approve("user:bob"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::Conflict);
  EXPECT_EQ(second.error().cause, "denied");
  EXPECT_EQ(state_of(asked->approval_id), "denied");
  EXPECT_EQ(answer("apr-nobody-asked", Reply::approve("user:ada")).error().code,
            ErrorCode::NotFound);
}

TEST_F(ApprovalTest, NobodyApprovesACallOfHisOwn) {
  const Result<Answer> asked = governed.call(Governed::read_file(), Caller{.holds = false});
  ASSERT_TRUE(asked);
  for (const char* const who : {"agent:a", ""}) {
    const Result<void> own = answer(asked->approval_id, Reply::approve(who));
    ASSERT_FALSE(own);
    EXPECT_EQ(own.error().code, ErrorCode::Unauthenticated);
    EXPECT_EQ(own.error().where, "by");
  }
  EXPECT_EQ(state_of(asked->approval_id), "pending");
}

TEST_F(ApprovalTest, AnApproverThatSpeaksForTheAgentIsNotHeard) {
  approver([](const Question& question) { return Reply::approve(question.agent_id); });
  Call call = Governed::read_file();
  call.time_limit = std::chrono::milliseconds(20);
  EXPECT_EQ(governed.call(call)->outcome, Outcome::blocked("approval_expired"));
  EXPECT_TRUE(governed.upstream->calls.empty());
}

TEST_F(ApprovalTest, AnApproverThatFailsRefuses) {
  approver([](const Question&) -> Result<Reply> {
    return fail(ErrorCode::Unavailable, "the desk is closed");
  });
  EXPECT_EQ(governed.call(Governed::read_file())->outcome, Outcome::blocked("the desk is closed"));
  EXPECT_TRUE(governed.upstream->calls.empty());
}

// AU-10 AU-32
TEST_F(ApprovalTest, AYesForAnotherPlanIsAskedForAgain) {
  std::vector<Question> questions;
  approver([&](const Question& question) {
    questions.push_back(question);
    if (questions.size() == 1) {
      governed.change_plan(PlanBuilder()
                               .autonomy(Autonomy::ActWithApproval)
                               .time_limit(std::chrono::milliseconds(50'000)));
    }
    return Reply::approve("user:ada");
  });
  const Result<Answer> answered = governed.call(Governed::read_file());
  ASSERT_TRUE(answered);
  EXPECT_TRUE(answered->result.success);
  ASSERT_EQ(questions.size(), 2u);
  EXPECT_NE(questions[0].approval_id, questions[1].approval_id);
  EXPECT_NE(questions[0].call_digest, questions[1].call_digest);
  EXPECT_NE(questions[0].policy_hash, questions[1].policy_hash);
  EXPECT_EQ(outcomes(), (Outcomes{"requires_confirmation", "requires_confirmation", "completed"}));
  const Draft record = governed.recorder.records().back();
  EXPECT_EQ(record.subject->policy_hash, questions[1].policy_hash);
  EXPECT_EQ(state_of(questions[0].approval_id), "invalidated");
  EXPECT_TRUE(std::ranges::any_of(governed.recorder.of(Kind::Approval), [&](const Draft& draft) {
    return text_at(draft, "/request_id") == questions[0].approval_id &&
           text_at(draft, "/state") == "invalidated" &&
           text_at(draft, "/reason").contains(questions[1].approval_id);
  })) << "each change of a request is an entry (AP-4)";
  EXPECT_EQ(text_at(record, "/approval_id"), questions[1].approval_id);
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
}

// AP-6
TEST_F(ApprovalTest, AYesIsForOneFolder) {
  std::vector<Question> questions;
  approver([&](const Question& question) {
    questions.push_back(question);
    return Reply::approve("user:ada");
  });
  Call call = Governed::read_file();
  for (const char* const folder : {"/src", "/"}) {
    call.setting.folder = folder;
    call.tool_call_id = std::string("in") + folder;
    ASSERT_TRUE(governed.call(call));
  }
  ASSERT_EQ(questions.size(), 2u);
  EXPECT_EQ(questions[1].folder, "/");
  EXPECT_NE(questions[0].call_digest, questions[1].call_digest);
}

// AU-10 AU-41
TEST_F(ApprovalTest, AYesIsWorthNothingWhereTheNewPlanSaysNo) {
  approver([&](const Question&) {
    governed.change_plan(PlanBuilder()
                             .autonomy(Autonomy::ActWithApproval)
                             .guard(std::make_shared<FunctionGuard>(
                                 "g", [](const Call&) { return Verdict::deny("closed"); })));
    return Reply::approve("user:ada");
  });
  EXPECT_EQ(governed.call(Governed::read_file())->outcome, Outcome::blocked("closed"));
  EXPECT_EQ(outcomes(), (Outcomes{"requires_confirmation", "blocked"}));
  EXPECT_EQ(text_at(governed.recorder.records().back(), "/guards/0/verdict"), "deny");
  EXPECT_TRUE(governed.upstream->calls.empty());
}

// AU-10
TEST_F(ApprovalTest, AReloadOfTheSamePlanAsksNobodyAgain) {
  int asked = 0;
  approver([&](const Question&) {
    ++asked;
    governed.change_plan(PlanBuilder().autonomy(Autonomy::ActWithApproval));
    return Reply::approve("user:ada");
  });
  EXPECT_TRUE(governed.call(Governed::read_file())->result.success);
  EXPECT_EQ(asked, 1);
}

TEST_F(ApprovalTest, AnApprovalIsUsedInTheCommitOfTheIntentAndOnlyOnce) {
  approver([](const Question&) { return Reply::approve("user:ada"); });
  const Result<Answer> answered = governed.call(Governed::read_file());
  ASSERT_TRUE(answered);
  EXPECT_EQ(state_of(answered->approval_id), "used");
  const Draft intent = governed.recorder.of(Kind::Intent).at(0);
  EXPECT_TRUE(std::ranges::any_of(intent.facts, [&](const Fact& fact) {
    return fact.space == "approval" && fact.key == answered->approval_id;
  }));
  EXPECT_EQ(answer(answered->approval_id, Reply::deny("user:bob")).error().cause, "used");
}

TEST_F(ApprovalTest, AnApprovalThatSomebodyElseUsedRunsNothing) {
  std::string approval_id;
  approver([&](const Question& question) {
    approval_id = question.approval_id;
    return Reply::approve("user:ada");
  });
  governed.plan.guard(std::make_shared<FunctionGuard>("thief", [&](const Call&) {
    if (approval_id.empty()) return Verdict::allow();
    const auto state = **governed.governor().approvals().state(approval_id);
    std::vector<Draft> drafts(1);
    drafts[0].kind = Kind::Control;
    drafts[0].facts.push_back(Approvals::change(approval_id, state, ApprovalStatus::Used).fact);
    EXPECT_TRUE(run_now(governed.recorder.append(std::move(drafts), Urgency::Reports)));
    return Verdict::allow();
  }));
  EXPECT_EQ(governed.call(Governed::read_file())->outcome, Outcome::blocked("approval_used"));
  EXPECT_TRUE(governed.upstream->calls.empty());
  EXPECT_TRUE(governed.recorder.of(Kind::Intent).empty());
}

}  // namespace
}  // namespace sallyport::core
