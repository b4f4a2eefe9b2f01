// Answers that are late, simultaneous, or not from a person; and approval requests of a session.
#include "core/approval/approvals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "core/approval/bound_input.h"
#include "core/approval/reply_check.h"
#include "support/governed.h"
#include "support/test_clock.h"

namespace sallyport::core {
namespace {

using std::chrono::seconds;
using test::FunctionApprover;
using test::Governed;
using test::run_now;
using test::text_at;

class ApprovalsTest : public testing::Test {
 protected:
  ApprovalsTest() {
    governed.clock = &clock;
    governed.plan.autonomy(Autonomy::ActWithApproval).approval_time(seconds(60));
  }

  std::string ask(std::string session = "s-1") {
    Call call = Governed::read_file();
    call.tool_call_id = "toolu_" + std::to_string(++calls_);
    call.session_id = std::move(session);
    const Result<Answer> asked = governed.call(call, Caller{.holds = false});
    EXPECT_TRUE(asked);
    return asked->approval_id;
  }
  Approvals& approvals() { return governed.governor().approvals(); }
  ApprovalStatus status(const std::string& id) { return (*approvals().state(id))->status; }
  Result<void> say(const std::string& id, Reply reply) {
    return run_now(approvals().answer(id, std::move(reply)));
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

 private:
  int calls_ = 0;
};

// AP-17
TEST_F(ApprovalsTest, AtItsDeadlineAnAnswerIsTooLate) {
  const std::string id = ask();
  clock.advance(seconds(60));
  EXPECT_EQ(say(id, Reply::approve("user:ada")).error().cause, "expired");
  EXPECT_EQ(status(id), ApprovalStatus::Pending);
}

// AP-4 AP-17
TEST_F(ApprovalsTest, AQuestionWhoseTimeIsOverExpiresAndIsNotTakenBack) {
  const std::string id = ask();
  clock.advance(seconds(60));
  const Reply back{.kind = Reply::Kind::Cancelled, .by = "user:ops"};
  EXPECT_EQ(say(id, back).error().cause, "expired");
  EXPECT_EQ(status(id), ApprovalStatus::Expired);
  EXPECT_EQ(text_at(governed.recorder.of(Kind::Approval).back(), "/state"), "expired");
}

// AP-13
TEST_F(ApprovalsTest, AnAgentAnswersForNoAgentAboveOrBelowIt) {
  const json::object request{{"agent_id", "bot/child"}, {"principal", "bot/child"}};
  EXPECT_TRUE(is_requester("bot/child", request));
  EXPECT_TRUE(is_requester("bot/child/grandchild", request));
  EXPECT_TRUE(is_requester("bot", request));
  EXPECT_FALSE(is_requester("bot/other", request));
  EXPECT_FALSE(is_requester("bo", request));
  EXPECT_FALSE(is_requester("bottle", request));
}

// AP-13
TEST_F(ApprovalsTest, ForTwoPeopleTheUserOfTheAgentIsNoneOfThem) {
  core::ApprovalRules rules;
  rules.dual_control = {"read_file"};
  governed.plan.approvals(rules);
  Call call = Governed::read_file();
  call.setting.user = "uid:ada";
  const std::string id = governed.call(call, Caller{.holds = false})->approval_id;
  EXPECT_THAT(say(id, Reply::approve("uid:ada")).error().message,
              testing::HasSubstr("on behalf of `uid:ada`"));
  EXPECT_TRUE(say(id, Reply::approve("uid:bo")));
  EXPECT_TRUE(say(id, Reply::approve("uid:cy")));
  EXPECT_EQ(status(id), ApprovalStatus::Approved);
}

// LE-57 AP-38
TEST_F(ApprovalsTest, ACallWhoseInputWasErasedIsNotApproved) {
  const json::object erased{{"kind", "approval"}, {"agent_id", "bot"}, {"args", nullptr}};
  EXPECT_EQ(check_reply(Reply::approve("user:ada"), erased, {}).error().cause, "erased");
  EXPECT_TRUE(check_reply(Reply::deny("user:ada"), erased, {}));
}

// AP-44 (partly): another process answers at the same moment.
TEST_F(ApprovalsTest, AnAnswerIsTriedAgainAtAConflictAlone) {
  const std::string id = ask();
  refuse_once(ErrorCode::Unavailable);
  EXPECT_EQ(say(id, Reply::deny("user:ada")).error().code, ErrorCode::Unavailable);
  EXPECT_EQ(status(id), ApprovalStatus::Pending);
  refuse_once(ErrorCode::Conflict);
  EXPECT_TRUE(say(id, Reply::deny("user:ada")));
  EXPECT_EQ(status(id), ApprovalStatus::Denied);
}

// AP-18: a person who withdraws an answered request gets the answer.
TEST_F(ApprovalsTest, AQuestionThatIsNotPendingIsNotTakenBack) {
  const std::string id = ask();
  const Reply back{.kind = Reply::Kind::Cancelled, .by = "user:ops"};
  refuse_once(ErrorCode::Conflict);
  EXPECT_EQ(say(id, back).error().cause, "pending");
  ASSERT_TRUE(say(id, Reply::approve("user:ada")));
  EXPECT_EQ(say(id, back).error().cause, "approved");
  EXPECT_EQ(say(id, {.kind = Reply::Kind::Expired}).error().cause, "approved");
  const std::string other = ask();
  ASSERT_TRUE(say(other, {.kind = Reply::Kind::Expired, .reason = "late"}));
  EXPECT_EQ(status(other), ApprovalStatus::Expired);
  EXPECT_EQ(text_at(governed.recorder.of(Kind::Approval).back(), "/door"), "clock");
}

// AP-18
TEST_F(ApprovalsTest, TheEndOfASessionCancelsItsQuestionsAndNoProposals) {
  const std::string mine = ask();
  const std::string answered = ask();
  ASSERT_TRUE(say(answered, Reply::approve("user:ada")));
  const std::string other = ask("s-2");
  governed.restart(PlanBuilder().autonomy(Autonomy::Suggest));
  const std::string proposal = ask();
  EXPECT_EQ(run_now(approvals().cancel_session("s-1", "ended")), 1u);
  EXPECT_EQ(status(mine), ApprovalStatus::Cancelled);
  EXPECT_EQ(status(answered), ApprovalStatus::Approved);
  EXPECT_EQ(status(other), ApprovalStatus::Pending);
  EXPECT_EQ(status(proposal), ApprovalStatus::Pending);
  EXPECT_EQ(say(mine, Reply::approve("user:ada")).error().cause, "cancelled");
}

// AP-44 (partly)
TEST_F(ApprovalsTest, NamesAndReasonsHaveTheirLimits) {
  const std::string id = ask();
  EXPECT_EQ(say(id, Reply::approve("")).error().where, "by");
  EXPECT_EQ(say(id, Reply::approve(std::string(513, 'x'))).error().where, "by");
  EXPECT_EQ(say(id, Reply::approve("\xff")).error().where, "by");
  const std::string longest(kLongestReason, 'x');
  EXPECT_EQ(say(id, Reply::deny("user:ada", longest + 'x')).error().where, "reason");
  Reply worded = Reply::approve("user:ada");
  worded.answer = "blue";
  EXPECT_EQ(say(id, worded).error().where, "answer");
  EXPECT_EQ(status(id), ApprovalStatus::Pending);
  ASSERT_TRUE(say(id, Reply::deny(std::string(512, 'x'), longest)));
  const std::string second = ask();
  ASSERT_TRUE(say(second, Reply::deny("user:ada", "\xff")));
  EXPECT_EQ(text_at(governed.recorder.of(Kind::Approval).back(), "/reason"), "(absent)");
}

// RU-67
TEST_F(ApprovalsTest, AnExternalApproverIsHeardButNeverInPlaceOfTwoPeople) {
  int asked = 0;
  int sessions = 0;
  const auto answers = [&](Result<Reply> reply, const std::set<std::string>& dual = {}) {
    governed.restart(PlanBuilder()
                         .autonomy(Autonomy::ActWithApproval)
                         .approvals({.dual_control = dual})
                         .approver(std::make_shared<FunctionApprover>([&, reply](const Question&) {
                           ++asked;
                           return reply;
                         })));
    return status(ask("s-" + std::to_string(++sessions)));
  };
  EXPECT_EQ(answers(Reply::approve("program")), ApprovalStatus::Approved);
  EXPECT_EQ(answers(Reply::deny("program")), ApprovalStatus::Denied);
  EXPECT_EQ(answers(fail(ErrorCode::Unavailable, "gone")), ApprovalStatus::Pending);
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(answers(Reply::approve("program"), {"read_file"}), ApprovalStatus::Pending);
  EXPECT_EQ(asked, 3);
  std::vector<std::string> logged;
  governed.log = [&](std::string_view line) { logged.emplace_back(line); };
  EXPECT_EQ(answers(Reply::approve("agent:a")), ApprovalStatus::Pending) << "the one who asks";
  EXPECT_EQ(logged.size(), 1u);
}

// Hides the text under `secret` of an input.
class HidesSecrets final : public Redactor {
 public:
  std::vector<Removal> redact(std::string_view, json::value& value) const override {
    json::value* const secret =
        value.is_object() ? value.get_object().if_contains("secret") : nullptr;
    if (secret == nullptr) return {};
    *secret = "[REDACTED:secret]";
    return {{"/secret", "secret", "word"}};
  }
  bool redact_identifier(std::string&) const override { return false; }
};

// AP-38 AU-87
TEST_F(ApprovalsTest, AnInputThatIsHiddenInTheRecordIsKeptForThoseWhoAnswer) {
  const HidesSecrets redactor;
  governed.redactor = &redactor;
  const auto asks = [&](json::value input) {
    Call call = Governed::read_file();
    call.tool_call_id = canonical_json(input);
    call.input = std::move(input);
    return governed.call(call, Caller{.holds = false})->approval_id;
  };
  const auto kept = [&](const std::string& id, std::string binding = {}) {
    if (binding.empty()) binding = text_at(governed.recorder.of(Kind::Approval).back(), "/binding");
    return bound_input(
        governed.recorder,
        [&](std::string_view sealed) { return governed.recorder.decrypt(sealed); }, id, binding);
  };
  EXPECT_EQ(kept(asks({{"path", "x"}})).value(), std::nullopt);
  const json::value input{{"secret", "word"}};
  const std::string id = asks(input);
  EXPECT_EQ(kept(id).value(), input);
  EXPECT_EQ(kept(id, "sha256:00").error().code, ErrorCode::Corrupt);
  ASSERT_TRUE(say(id, Reply::deny("user:ada")));
  EXPECT_EQ(kept(id, "sha256:00").value(), std::nullopt);
}

}  // namespace
}  // namespace sallyport::core
