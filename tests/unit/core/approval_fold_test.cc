// Answers of several people: which ones count, in which order, and their records.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "core/approval/approval_request.h"
#include "support/governed.h"
#include "support/test_clock.h"

namespace sallyport::core {
namespace {

using test::Governed;
using test::run_now;
using test::text_at;

class ApprovalFoldTest : public testing::Test {
 protected:
  ApprovalFoldTest() {
    governed.clock = &clock;
    governed.plan.autonomy(Autonomy::ActWithApproval);
  }

  // Asks, and does not wait for an answer.
  std::string ask(ApprovalRules rules) {
    governed.plan.approvals(std::move(rules));
    const Result<Answer> asked = governed.call(Governed::read_file(), Caller{.holds = false});
    EXPECT_TRUE(asked);
    return asked->approval_id;
  }
  Result<void> say(const std::string& id, Reply reply) {
    return run_now(governed.governor().approvals().answer(id, std::move(reply)));
  }
  std::string state_of(const std::string& id) {
    return std::string(to_string((*governed.governor().approvals().state(id))->status));
  }
  std::vector<Draft> entries(std::string_view record) const {
    std::vector<Draft> found;
    for (const Draft& draft : governed.recorder.of(Kind::Approval)) {
      if (text_at(draft, "/record") == record) found.push_back(draft);
    }
    return found;
  }
  std::vector<std::string> topics() const {
    std::vector<std::string> kinds;
    for (const Draft& draft : governed.recorder.of(Kind::Topic)) {
      kinds.push_back(text_at(draft, "/kind"));
    }
    return kinds;
  }

  test::TestClock clock;
  Governed governed;
};

// AP-10
TEST_F(ApprovalFoldTest, EnoughDifferentPeopleApproveAndOneTwiceIsOne) {
  const std::string id = ask({.reviewers = {"user:ada", "user:bo", "user:cy"}, .quorum = 2});
  ASSERT_TRUE(say(id, Reply::approve("user:ada")));
  EXPECT_EQ(state_of(id), "pending");
  ASSERT_TRUE(say(id, Reply::approve("user:ada")));
  EXPECT_EQ(state_of(id), "pending");
  ASSERT_TRUE(say(id, Reply::approve("user:cy")));
  EXPECT_EQ(state_of(id), "approved");
  EXPECT_EQ(entries("approval_response").size(), 3u);
}

// AP-10
TEST_F(ApprovalFoldTest, WhoIsNotListedDoesNotCountAndLeavesNothing) {
  const std::string id = ask({.reviewers = {"user:ada"}});
  const Result<void> stranger = say(id, Reply::approve("user:eve"));
  ASSERT_FALSE(stranger);
  EXPECT_EQ(stranger.error().code, ErrorCode::Unauthenticated);
  EXPECT_EQ(stranger.error().cause, "not_a_reviewer");
  EXPECT_FALSE(say(id, Reply::deny("user:eve")));
  EXPECT_TRUE(entries("approval_response").empty());
  EXPECT_EQ(state_of(id), "pending");
}

// AP-10 AP-11
TEST_F(ApprovalFoldTest, TheFirstRefusalDeniesAlsoByOneWhoHadApproved) {
  const std::string id = ask({.reviewers = {"user:ada", "user:bo"}, .quorum = 2});
  ASSERT_TRUE(say(id, Reply::approve("user:ada")));
  ASSERT_TRUE(say(id, Reply::deny("user:ada", "on second thought")));
  EXPECT_EQ(state_of(id), "denied");
  const Result<void> late = say(id, Reply::approve("user:bo"));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().cause, "denied");
  const Draft decision = entries("approval_decision").at(0);
  EXPECT_EQ(text_at(decision, "/reviewers"), R"(["user:ada"])");
  EXPECT_EQ(text_at(decision, "/reason"), "on second thought");
}

// AP-13
TEST_F(ApprovalFoldTest, TheAgentAndItsSubAgentsAreNoReviewersListedOrNot) {
  const std::string id = ask({.reviewers = {"agent:a", "agent:a/helper", "user:ada"}});
  EXPECT_FALSE(say(id, Reply::approve("agent:a")));
  EXPECT_FALSE(say(id, Reply::approve("agent:a/helper")));
  EXPECT_FALSE(say(id, Reply::deny("agent:a")));
  EXPECT_EQ(state_of(id), "pending");
}

// AP-14
TEST_F(ApprovalFoldTest, DualControlNeedsTwoWhateverTheQuorumSays) {
  const std::string id = ask({.quorum = 1, .dual_control = {"read_file"}});
  EXPECT_EQ(text_at(entries("approval_request").at(0), "/kind"), "dual_control");
  ASSERT_TRUE(say(id, Reply::approve("user:ada")));
  EXPECT_EQ(state_of(id), "pending");
  ASSERT_TRUE(say(id, Reply::approve("user:bo")));
  EXPECT_EQ(state_of(id), "approved");
}

// AP-3 AP-16 (partly)
TEST_F(ApprovalFoldTest, ADecisionNamesWhoWhenHowAndTheProofOfEach) {
  const std::string id = ask({.quorum = 2});
  Reply by_key = Reply::approve("user:ada");
  by_key.door = "cli:key";
  by_key.signature = "ed25519:c2ln";
  by_key.responded_at = "2025-11-15T01:59:00Z";
  ASSERT_TRUE(say(id, by_key));
  ASSERT_TRUE(say(id, Reply::approve("user:bo")));
  const Draft decision = entries("approval_decision").at(0);
  EXPECT_EQ(text_at(decision, "/request_id"), id);
  EXPECT_EQ(text_at(decision, "/state"), "approved");
  EXPECT_EQ(text_at(decision, "/approved"), "true");
  EXPECT_EQ(text_at(decision, "/reviewers"), R"(["user:ada","user:bo"])");
  EXPECT_EQ(text_at(decision, "/decided_at"), rfc3339(clock.wall()));
  EXPECT_EQ(text_at(decision, "/door"), "program");
  EXPECT_EQ(text_at(decision, "/signatures/0/signature"), "ed25519:c2ln");
  EXPECT_EQ(text_at(decision, "/signatures/0/signed_at"), "2025-11-15T01:59:00Z");
  const std::string place = text_at(decision, "/signatures/1/signature");
  ASSERT_TRUE(place.starts_with("ledger:"));
  const Draft& response = governed.recorder.written.at(std::stoul(place.substr(7)));
  EXPECT_EQ(text_at(response, "/record"), "approval_response");
  EXPECT_EQ(text_at(response, "/reviewer"), "user:bo");
}

// AP-44 (partly)
TEST_F(ApprovalFoldTest, AnAnswerAboutSomethingElseOrTooLongChangesNothing) {
  const std::string id = ask({});
  Reply other = Reply::approve("user:ada");
  other.binding = "sha256:" + std::string(64, '0');
  const Result<void> refused = say(id, other);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().cause, "binding_mismatch");
  EXPECT_EQ(say(id, Reply::deny("user:ada", std::string(70'000, 'x'))).error().code,
            ErrorCode::InvalidInput);
  EXPECT_EQ(say("apr_none", Reply::approve("user:ada")).error().code, ErrorCode::NotFound);
  EXPECT_EQ(state_of(id), "pending");
  EXPECT_EQ(governed.recorder.of(Kind::Approval).size(), 1u);
}

// AP-17
TEST_F(ApprovalFoldTest, SilenceIsOneTimeoutEventAndTheStateExpired) {
  governed.plan.approval_time(std::chrono::seconds(60));
  const std::string id = ask({});
  ASSERT_TRUE(run_now(governed.governor().approvals().expire(id)));
  EXPECT_EQ(state_of(id), "pending");
  clock.advance(std::chrono::seconds(60));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(run_now(governed.governor().approvals().expire(id)));
  EXPECT_EQ(state_of(id), "expired");
  EXPECT_EQ(topics(), (std::vector<std::string>{"hitl.approval_requested", "hitl.timeout"}));
  EXPECT_EQ(text_at(governed.recorder.of(Kind::Topic).back(), "/payload/request_id"), id);
}

// AP-4 AP-10: the process that answered died between the answer and the decision.
TEST_F(ApprovalFoldTest, AnswersThatSufficeBecomeADecisionAlsoWhenTheirProcessIsGone) {
  const std::string id = ask({});
  governed.recorder.refuse = [](const std::vector<Draft>& drafts) -> std::optional<Error> {
    for (const Draft& draft : drafts) {
      if (text_at(draft, "/record") == "approval_decision") {
        return Error{ErrorCode::Unavailable, "gone"};
      }
    }
    return std::nullopt;
  };
  EXPECT_FALSE(say(id, Reply::deny("user:ada", "no")));
  EXPECT_EQ(state_of(id), "pending");
  governed.recorder.refuse = nullptr;
  governed.restart();
  ASSERT_TRUE(run_now(governed.governor().start()));
  EXPECT_EQ(state_of(id), "denied");
  EXPECT_EQ(text_at(entries("approval_decision").at(0), "/reason"), "no");
}

// AP-18 (partly)
TEST_F(ApprovalFoldTest, WhatWasTakenBackCannotBeAnsweredAnyMore) {
  const std::string id = ask({});
  const Reply back{.kind = Reply::Kind::Cancelled, .by = "user:ops", .reason = "not now"};
  ASSERT_TRUE(say(id, back));
  EXPECT_EQ(state_of(id), "cancelled");
  EXPECT_EQ(text_at(entries("approval_decision").at(0), "/reviewers"), R"(["user:ops"])");
  EXPECT_EQ(say(id, Reply::approve("user:ada")).error().cause, "cancelled");
}

}  // namespace
}  // namespace sallyport::core
