#include "people/approval_desk.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "core/approval/approval_request.h"
#include "core/call/governor.h"
#include "support/governed.h"

namespace sallyport::app {
namespace {

class ApprovalDeskTest : public testing::Test {
 protected:
  // The approval request of a waiting call.
  std::string ask() {
    governed_.plan.autonomy(Autonomy::ActWithApproval);
    const Result<Answer> waits =
        governed_.call(test::Governed::read_file(), core::Caller{.holds = false});
    EXPECT_TRUE(waits) << waits.error().message;
    return waits ? waits->approval_id : "";
  }

  std::string binding_of(const std::string& id) {
    return std::string(core::stored_request(governed_.recorder, id)->at("binding").as_string());
  }

  Result<ApprovalDesk::Recorded> say(const std::string& id, PersonAnswer said) {
    said.by = "user:ada";
    said.door = "cli:key";
    ApprovalDesk desk({governed_.governor().approvals(), governed_.recorder, *governed_.clock});
    return test::run_now(desk.answer(id, std::move(said)));
  }

  test::Governed governed_;
};

TEST_F(ApprovalDeskTest, AnAnswerIsAboutWhatIsAskedNowUnlessItSaysWhatWasSeen) {
  const std::string id = ask();
  const auto other = say(id, {.kind = Reply::Kind::Approved, .binding = "sha256:00"});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().cause, "binding_mismatch");
  const auto empty = say(id, {.kind = Reply::Kind::Approved, .binding = ""});
  ASSERT_FALSE(empty) << "an empty binding names nothing";
  EXPECT_EQ(empty.error().cause, "binding_mismatch");
  const auto given = say(id, {.kind = Reply::Kind::Approved});
  ASSERT_TRUE(given) << given.error().message;
  EXPECT_EQ(given->reply.binding, binding_of(id));
  EXPECT_EQ(given->state.status, core::ApprovalStatus::Approved);
  EXPECT_EQ(given->reply.responded_at.size(), std::string("2026-01-01T00:00:00Z").size());
}

// AP-16
TEST_F(ApprovalDeskTest, WhatIsSignedSaysWhoAnswersWhatAndHow) {
  const std::string id = ask();
  std::string signed_text;
  const auto given = say(id, {.kind = Reply::Kind::Denied, .sign = [&](std::string_view text) {
                                signed_text = text;
                                return std::string("ed25519:x");
                              }});
  ASSERT_TRUE(given) << given.error().message;
  EXPECT_EQ(given->reply.signature, "ed25519:x");
  EXPECT_EQ(signed_text, (core::ResponseStatement{.request_id = id,
                                                  .reviewer = "user:ada",
                                                  .binding = binding_of(id),
                                                  .responded_at = given->reply.responded_at,
                                                  .approved = false}
                              .text()));
}

TEST_F(ApprovalDeskTest, AQuestionThatIsTakenBackIsNotSigned) {
  const std::string id = ask();
  const auto given = say(id, {.kind = Reply::Kind::Cancelled,
                              .sign = [](std::string_view) { return std::string("ed25519:x"); }});
  ASSERT_TRUE(given) << given.error().message;
  EXPECT_TRUE(given->reply.signature.empty());
  EXPECT_EQ(given->state.status, core::ApprovalStatus::Cancelled);
}

TEST_F(ApprovalDeskTest, OneWhoIsTooLateIsToldWhatWasDecided) {
  const std::string id = ask();
  ASSERT_TRUE(say(id, {.kind = Reply::Kind::Denied}));
  const auto late = say(id, {.kind = Reply::Kind::Approved});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::Conflict);
  EXPECT_EQ(late.error().cause, "denied");
  EXPECT_EQ(say("apr_none", {}).error().code, ErrorCode::NotFound);
}

}  // namespace
}  // namespace sallyport::app
