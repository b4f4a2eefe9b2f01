// A request that other approvers may answer too: a reviewer passes it on, or a rule's time is over.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "core/approval/approval_request.h"
#include "support/governed.h"
#include "support/test_clock.h"

namespace sallyport::core {
namespace {

using std::chrono::seconds;
using test::Governed;
using test::run_now;
using test::text_at;

class ApprovalPassedOnTest : public testing::Test {
 protected:
  ApprovalPassedOnTest() {
    governed.clock = &clock;
    governed.plan.autonomy(Autonomy::ActWithApproval)
        .approval_time(seconds(60))
        .approvals({.reviewers = {"user:ada"}});
    id = governed.call(Governed::read_file(), Caller{.holds = false})->approval_id;
  }

  Approvals& approvals() { return governed.governor().approvals(); }
  ApprovalState state() { return **approvals().state(id); }
  Result<void> escalate(std::vector<std::string> to, const std::string& by = "user:ada") {
    return run_now(approvals().escalate(id, std::move(to), {.by = by, .reason = "away"}));
  }
  Result<void> say(Reply reply) { return run_now(approvals().answer(id, std::move(reply))); }
  // The state after a rule with `escalate`.
  void later(std::vector<LaterReviewers> reviewers) {
    ApprovalState next = state();
    next.later = std::move(reviewers);
    std::vector<Draft> drafts(1);
    drafts[0].kind = Kind::Control;
    drafts[0].facts.push_back(next.fact(id));
    ASSERT_TRUE(run_now(governed.recorder.append(std::move(drafts), Urgency::Reports, {})));
  }
  std::vector<Draft> passed_on() const {
    std::vector<Draft> found;
    for (const Draft& draft : governed.recorder.of(Kind::Approval)) {
      if (text_at(draft, "/record") == "approval_escalated") found.push_back(draft);
    }
    return found;
  }
  // Refuses only the next commit, with `code`.
  void refuse_once(ErrorCode code) {
    governed.recorder.refuse = [this, code](const auto&) -> std::optional<Error> {
      governed.recorder.refuse = nullptr;
      return Error{code, "refused"};
    };
  }

  test::TestClock clock;
  Governed governed;
  std::string id;
};

// AP-26
TEST_F(ApprovalPassedOnTest, OthersMayAnswerUntilTheSameDeadline) {
  const ApprovalState before = state();
  EXPECT_FALSE(say(Reply::approve("user:bo")));
  ASSERT_TRUE(escalate({"user:bo"}));
  EXPECT_EQ(state().expires_at, before.expires_at);
  ASSERT_EQ(passed_on().size(), 1u);
  const Draft record = passed_on()[0];
  EXPECT_EQ(text_at(record, "/reviewer"), "user:ada");
  EXPECT_EQ(text_at(record, "/reason"), "away");
  EXPECT_EQ(text_at(record, "/escalated_to"), R"(["user:bo"])");
  EXPECT_EQ(text_at(record, "/binding"),
            stored_request(governed.recorder, id)->at("binding").as_string());
  ASSERT_TRUE(say(Reply::approve("user:bo")));
  EXPECT_EQ(state().status, ApprovalStatus::Approved);
}

// AP-26
TEST_F(ApprovalPassedOnTest, OneWhoMayAlreadyAnswerIsNamedOnce) {
  ASSERT_TRUE(escalate({"user:bo"}));
  ASSERT_TRUE(escalate({"user:bo", "user:cy"}));
  EXPECT_EQ(state().also, (std::vector<std::string>{"user:bo", "user:cy"}));
}

// AP-13 AP-26
TEST_F(ApprovalPassedOnTest, OnlyAReviewerPassesOnAndNeverToTheAgent) {
  EXPECT_EQ(escalate({"user:bo"}, "user:eve").error().cause, "not_a_reviewer");
  for (const char* const to : {"agent:a", "agent:a/helper", ""}) {
    EXPECT_EQ(escalate({"user:bo", to}).error().where, "to") << to;
  }
  EXPECT_TRUE(state().also.empty());
  EXPECT_TRUE(passed_on().empty());
}

// AP-26
TEST_F(ApprovalPassedOnTest, AfterItsDeadlineNothingIsPassedOn) {
  later({{.at = clock.wall() + seconds(30), .rule = "r", .to = {"user:bo"}}});
  clock.advance(seconds(60));
  EXPECT_EQ(escalate({"user:bo"}).error().cause, "expired");
  EXPECT_TRUE(passed_on().empty());
}

// AP-26: another process answers at the same moment.
TEST_F(ApprovalPassedOnTest, AConflictIsTriedAgainAndAnyOtherErrorIsTold) {
  refuse_once(ErrorCode::Conflict);
  ASSERT_TRUE(escalate({"user:bo"}));
  refuse_once(ErrorCode::Unavailable);
  EXPECT_EQ(escalate({"user:cy"}).error().code, ErrorCode::Unavailable);
  EXPECT_EQ(state().also, std::vector<std::string>{"user:bo"});
}

// RU-19
TEST_F(ApprovalPassedOnTest, AtTheTimeOfItsRuleAQuestionIsPassedOnOnce) {
  later({{.at = clock.wall() + seconds(10), .rule = "first", .to = {"user:bo", "agent:a"}},
         {.at = clock.wall() + seconds(20), .rule = "second", .to = {"user:cy"}}});
  clock.advance(seconds(9));
  ASSERT_TRUE(run_now(approvals().expire_all()));
  EXPECT_TRUE(passed_on().empty());
  clock.advance(seconds(1));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(run_now(approvals().expire_all()));
  ASSERT_EQ(passed_on().size(), 1u);
  EXPECT_EQ(text_at(passed_on()[0], "/reviewer"), "rule first");
  EXPECT_EQ(text_at(passed_on()[0], "/escalated_to"), R"(["user:bo"])");
  EXPECT_EQ(state().also, std::vector<std::string>{"user:bo"});
  ASSERT_EQ(state().later.size(), 1u);
  EXPECT_EQ(state().later[0].rule, "second");
}

// RU-19
TEST_F(ApprovalPassedOnTest, ARuleThatCannotPassOnIsTriedAgainAtAConflictAlone) {
  later({{.at = clock.wall(), .rule = "r", .to = {"user:bo"}}});
  refuse_once(ErrorCode::Unavailable);
  EXPECT_EQ(run_now(approvals().pass_on(id)).error().code, ErrorCode::Unavailable);
  refuse_once(ErrorCode::Conflict);
  ASSERT_TRUE(run_now(approvals().pass_on(id)));
  EXPECT_EQ(state().also, std::vector<std::string>{"user:bo"});
}

}  // namespace
}  // namespace sallyport::core
