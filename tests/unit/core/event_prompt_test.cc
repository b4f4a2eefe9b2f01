// The events of a call that needs approval, or that autonomy holds back.
#include "core/plan/authorizer.h"
#include "event_sequence.h"

namespace sallyport::core {
namespace {

class EventPromptTest : public EventSequence {};

// EV-36 EV-11 EV-12
TEST_F(EventPromptTest, APromptThatIsApprovedIsFollowedByASecondDecision) {
  governed.plan.autonomy(Autonomy::ActWithApproval);
  governed.approver = std::make_shared<AnsweringApprover>(Reply::approve("user:ada"));
  EXPECT_EQ(events_of_call(), kPrompted + kAllowed);
  EXPECT_EQ(reasons(), std::set<std::string>{"Confirm read_file?"});
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
}

// EV-36 EV-87
TEST_F(EventPromptTest, AnAuthorizerThatPromptsAsksThePersonInItsOwnWords) {
  governed.plan.guard(
      std::make_shared<AuthorizerGuard>("host", [](AuthorizationRequest) -> Task<Authorization> {
        co_return Authorization{Authorization::Kind::Prompt, "touches the world"};
      }));
  governed.approver = std::make_shared<AnsweringApprover>(Reply::approve("user:ada"));
  EXPECT_EQ(events_of_call(), kPrompted + kAllowed);
  EXPECT_EQ(reasons(), std::set<std::string>{"touches the world"});
}

// EV-37
TEST_F(EventPromptTest, APromptThatIsRefusedIsFollowedByADenialThatNoPolicyMade) {
  governed.plan.autonomy(Autonomy::ActWithApproval);
  governed.approver = std::make_shared<AnsweringApprover>(Reply::deny("user:ada", "too risky"));
  EXPECT_EQ(events_of_call(), kPrompted + kDenied);
  EXPECT_EQ(reasons(), (std::set<std::string>{"Confirm read_file?", "too risky"}));
  EXPECT_EQ(last.result.output, "Blocked: too risky");
  EXPECT_TRUE(governed.upstream->calls.empty());
}

// EV-37
TEST_F(EventPromptTest, APromptThatExpiresIsFollowedByADenial) {
  governed.plan.autonomy(Autonomy::ActWithApproval).approval_time(std::chrono::seconds(0));
  EXPECT_EQ(events_of_call(), kPrompted + kDenied);
  EXPECT_EQ(reasons(), (std::set<std::string>{"Confirm read_file?", "approval_expired"}));
}

// EV-37
TEST_F(EventPromptTest, APromptThatIsCancelledIsFollowedByADenial) {
  governed.plan.autonomy(Autonomy::ActWithApproval);
  std::stop_source cancel;
  ASSERT_TRUE(governed.hooks.with_hook(std::make_shared<FunctionHook>(
      "impatient", [&](const Event& event, const Subject&) -> Result<void> {
        if (event_type(event) == "tool_authorization_blocked") cancel.request_stop();
        return {};
      })));
  ASSERT_TRUE(governed.call(Governed::read_file(), cancel.get_token()));
  EXPECT_EQ(governed.recorder.events(), kPrompted + kDenied);
  EXPECT_EQ(reasons(), (std::set<std::string>{"Confirm read_file?", "cancelled"}));
}

// EV-38
TEST_F(EventPromptTest, ASuggestionIsAnsweredAtOnceAndAnApprovalLaterRunsItExactlyOnce) {
  governed.plan.autonomy(Autonomy::Suggest);
  EXPECT_EQ(events_of_call(), kPrompted);
  EXPECT_EQ(last.outcome.kind, Outcome::Kind::RequiresConfirmation);
  EXPECT_TRUE(governed.upstream->calls.empty());
  begin_to_count();
  Governor& governor = governed.governor();
  ASSERT_TRUE(
      test::run_now(governor.approvals().answer(last.approval_id, Reply::approve("user:ada"))));
  Call call = Governed::read_file();
  call.call_id = last.call_id;
  const auto resume = [&] {
    return test::run_now(
        governor.resume({.call = call, .approval_id = last.approval_id}, governed.upstream));
  };
  ASSERT_TRUE(resume());
  EXPECT_EQ(later_events(), kAllowed);
  const Result<Answer> again = resume();
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().cause, "already_resumed");
  EXPECT_EQ(later_events(), kAllowed);
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
}

// EV-39
TEST_F(EventPromptTest, ShadowDeniesInItsOwnNameAndNoPolicyDoes) {
  governed.plan.autonomy(Autonomy::Shadow);
  EXPECT_EQ(events_of_call(), kDenied);
  EXPECT_EQ(reasons(), std::set<std::string>{"shadow: read_file was not run"});
}

}  // namespace
}  // namespace sallyport::core
