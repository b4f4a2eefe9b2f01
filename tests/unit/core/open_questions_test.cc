#include <gtest/gtest.h>

#include "support/governed.h"
#include "support/test_clock.h"

namespace sallyport::core {
namespace {

using test::Governed;

// One agent has no more open questions than it may; those that ended make room.
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

}  // namespace
}  // namespace sallyport::core
