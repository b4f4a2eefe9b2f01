#include "mcp/answers.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sallyport::mcp {
namespace {

Answer refused(std::string reason) {
  Answer answer{.call_id = "c1", .outcome = Outcome::blocked(reason), .record_id = "r1"};
  answer.result.output = "Blocked: " + reason;
  return answer;
}

TEST(AnswersTest, ADenialIsAResultThatTheModelCanRead) {
  const json::value result = json::parse(notice_result(refused("no"), Autonomy::ActAuto, true));
  EXPECT_EQ(result.at("isError"), true);
  EXPECT_EQ(result.at_pointer("/content/0/text"), "Blocked: no. (record r1)");
  EXPECT_EQ(result.at_pointer("/structuredContent/sallyport/status"), "blocked");
  EXPECT_EQ(result.at_pointer("/structuredContent/sallyport/record"), "r1");
}

TEST(AnswersTest, AToolWithAnOutputSchemaGetsNoContentThatBreaksIt) {
  const json::value result = json::parse(notice_result(refused("no"), Autonomy::ActAuto, false));
  EXPECT_FALSE(result.as_object().contains("structuredContent"));
}

// AT-27 (partly)
TEST(AnswersTest, ACallThatWaitsOrWasOnlyShadowedIsNoFailure) {
  const json::value skipped =
      json::parse(notice_result(refused("shadow: write was not run"), Autonomy::Shadow, true));
  EXPECT_FALSE(skipped.as_object().contains("isError"));
  EXPECT_EQ(skipped.at_pointer("/structuredContent/sallyport/status"), "skipped");
  EXPECT_EQ(skipped.at_pointer("/structuredContent/sallyport/tier"), "shadow");

  Answer waits{.call_id = "c1",
               .outcome = Outcome::requires_confirmation("Confirm write?"),
               .approval_id = "apr-1"};
  waits.result.output = "Confirm write?";
  const json::value pending = json::parse(notice_result(waits, Autonomy::ActWithApproval, true));
  EXPECT_EQ(pending.at_pointer("/structuredContent/sallyport/status"), "pending_approval");
  EXPECT_EQ(pending.at_pointer("/structuredContent/sallyport/approval_id"), "apr-1");
  const json::value proposed = json::parse(notice_result(waits, Autonomy::Suggest, true));
  EXPECT_EQ(proposed.at_pointer("/structuredContent/sallyport/status"), "proposed");
}

TEST(AnswersTest, OtherMethodsGetAnErrorOfOurOwn) {
  const json::value error = json::parse(notice_error(refused("no")));
  EXPECT_EQ(error.at("code"), -31403);
  EXPECT_EQ(error.at_pointer("/data/record"), "r1");
}

}  // namespace
}  // namespace sallyport::mcp
