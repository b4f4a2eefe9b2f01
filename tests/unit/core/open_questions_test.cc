#include <gtest/gtest.h>

#include <algorithm>

#include "core/event/topic_event.h"
#include "support/governed.h"
#include "support/test_clock.h"

namespace sallyport::core {
namespace {

using test::FunctionApprover;
using test::FunctionGuard;
using test::Governed;
using test::text_at;

bool asks_a_person(const std::vector<Draft>& drafts) {
  return std::ranges::any_of(
      drafts, [](const Draft& draft) { return text_at(draft, "/record") == "approval_request"; });
}

std::size_t proposals_in(const std::vector<Draft>& drafts) {
  const auto found = std::ranges::count(drafts, kOutboxTopic, &Draft::topic);
  return static_cast<std::size_t>(found);
}

// An agent has a maximum of open requests; requests that ended free their places.
TEST(OpenQuestionsTest, AnAgentHasNoMoreOpenQuestionsThanItMay) {
  test::TestClock clock;
  Governed governed;
  governed.clock = &clock;
  governed.plan.autonomy(Autonomy::ActWithApproval).approvals(ApprovalRules{.most_open = 2});
  const auto asks = [&](const std::string& id, const std::string& agent = "agent:a") {
    Call call = Governed::read_file();
    call.tool_call_id = id;
    call.agent_id = agent;
    const Result<Answer> answer = governed.call(call, Caller{.holds = false});
    return answer && answer->outcome.kind == Outcome::Kind::RequiresConfirmation
               ? answer->approval_id
               : std::string();
  };
  const std::string first = asks("t1");
  EXPECT_NE(first, "");
  EXPECT_NE(asks("t2"), "");
  EXPECT_EQ(asks("t3"), "") << "two are open";
  EXPECT_NE(asks("t3", "agent:b"), "") << "each agent has its own";
  ASSERT_TRUE(
      test::run_now(governed.governor().approvals().answer(first, Reply::deny("user:eve", "no"))));
  EXPECT_NE(asks("t4"), "") << "one was answered";
  EXPECT_EQ(asks("t5"), "");
  clock.advance(std::chrono::hours(24 * 365));
  EXPECT_NE(asks("t6"), "") << "the others have expired";
}

// A request that was refused once left its proposal and its name in the records.
TEST(OpenQuestionsTest, ARefusedQuestionLeavesNoProposalAndNoName) {
  Governed governed;
  governed.plan.autonomy(Autonomy::Suggest).approvals(ApprovalRules{.most_open = 1});
  Call call = Governed::read_file();
  ASSERT_TRUE(governed.call(call));
  call.tool_call_id = "toolu_2";
  const Result<Answer> refused = governed.call(call);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->outcome.kind, Outcome::Kind::Blocked);
  EXPECT_EQ(refused->approval_id, "");
  EXPECT_EQ(text_at(governed.recorder.records().back(), "/approval_id"), "null");
  EXPECT_EQ(proposals_in(governed.recorder.written), 1u);
}

// A call that always conflicted once asked endlessly, and proposed again each time.
TEST(OpenQuestionsTest, ACallThatClashesProposesOnceAndGivesUpInTheEnd) {
  Governed governed;
  governed.plan.autonomy(Autonomy::Suggest);
  std::size_t clashes = 0;
  std::size_t most = 1;
  governed.recorder.refuse = [&](const std::vector<Draft>& drafts) -> std::optional<Error> {
    if (!asks_a_person(drafts) || clashes == most) return std::nullopt;
    ++clashes;
    return Error{ErrorCode::Conflict, "another call was first"};
  };
  Call call = Governed::read_file();
  call.trigger_id = "event-1";
  ASSERT_TRUE(governed.call(call));
  EXPECT_EQ(clashes, 1u);
  EXPECT_EQ(proposals_in(governed.recorder.written), 1u);
  clashes = 0;
  most = 100;
  call.tool_call_id = "toolu_2";
  const Result<Answer> given_up = governed.call(call);
  ASSERT_FALSE(given_up);
  EXPECT_EQ(given_up.error().code, ErrorCode::Conflict);
  EXPECT_EQ(clashes, 8u);
  EXPECT_FALSE(governed.recorder.owed.empty());
  EXPECT_EQ(proposals_in(governed.recorder.owed), 0u);
}

// After a conflict the earlier approval was once forgotten, and stayed valid.
TEST(OpenQuestionsTest, AnApprovalIsVoidedAlsoIfTheNextQuestionClashes) {
  Governed governed;
  governed.plan.autonomy(Autonomy::ActWithApproval);
  std::vector<std::string> questions;
  governed.approver = std::make_shared<FunctionApprover>([&](const Question& question) {
    questions.push_back(question.approval_id);
    return Reply::approve("user:ada");
  });
  governed.plan.guard(std::make_shared<FunctionGuard>("late", [&](const Call&) {
    return questions.empty() ? Verdict::allow() : Verdict::rewrite({{"path", "/b"}});
  }));
  bool clashed = false;
  governed.recorder.refuse = [&](const std::vector<Draft>& drafts) -> std::optional<Error> {
    if (clashed || questions.empty() || !asks_a_person(drafts)) return std::nullopt;
    clashed = true;
    return Error{ErrorCode::Conflict, "another call was first"};
  };
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Completed);
  EXPECT_TRUE(clashed);
  ASSERT_EQ(questions.size(), 2u);
  const auto first = governed.governor().approvals().state(questions[0]);
  ASSERT_TRUE(first && *first);
  EXPECT_EQ((*first)->status, ApprovalStatus::Invalidated);
}

}  // namespace
}  // namespace sallyport::core
