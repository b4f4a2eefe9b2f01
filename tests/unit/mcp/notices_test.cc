#include "mcp/message/notices.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sallyport::mcp {
namespace {

Answer refused(std::string reason) {
  Answer answer{.call_id = "c1", .outcome = Outcome::blocked(reason), .record_id = "r1"};
  answer.result.output = "Blocked: " + reason;
  return answer;
}

TEST(NoticesTest, ADenialIsAResultThatTheModelCanRead) {
  const json::value result = json::parse(notice_result(refused("no"), true));
  EXPECT_EQ(result.at("isError"), true);
  EXPECT_EQ(result.at_pointer("/content/0/text"), "Blocked: no. (record r1)");
  EXPECT_EQ(result.at_pointer("/structuredContent/sallyport/status"), "blocked");
  EXPECT_EQ(result.at_pointer("/structuredContent/sallyport/record"), "r1");
}

TEST(NoticesTest, AToolWithAnOutputSchemaGetsNoContentThatBreaksIt) {
  const json::value result = json::parse(notice_result(refused("no"), false));
  EXPECT_FALSE(result.as_object().contains("structuredContent"));
  EXPECT_EQ(result.at_pointer("/_meta/sallyport/status"), "blocked");
}

// The official client throws if such a result has no structured content and is no error.
TEST(NoticesTest, ACallThatWaitsOfAToolWithAnOutputSchemaIsAnErrorThatSaysSo) {
  const core::WaitingCall call{.approval_id = "apr_1", .call_id = "c1"};
  const json::value result = json::parse(pending_result("write", call, false));
  EXPECT_EQ(result.at("isError"), json::value(true));
  EXPECT_FALSE(result.as_object().contains("structuredContent"));
  EXPECT_EQ(result.at_pointer("/_meta/sallyport/status"), "pending_approval");
  EXPECT_EQ(result.at_pointer("/_meta/sallyport/approval_id"), "apr_1");
}

// AT-27 (partly)
TEST(NoticesTest, ACallThatWasProposedOrOnlyShadowedIsNoFailure) {
  Answer skipped = refused("shadow: write was not run");
  skipped.result = {
      .success = true,
      .output = "skipped: `write` was not run",
      .data = json::object{{"sallyport", json::object{{"status", "skipped"}, {"tier", "shadow"}}}}};
  const json::value result = json::parse(notice_result(skipped, true));
  EXPECT_FALSE(result.as_object().contains("isError"));
  EXPECT_EQ(result.at_pointer("/structuredContent/sallyport/status"), "skipped");
  EXPECT_EQ(result.at_pointer("/structuredContent/sallyport/tier"), "shadow");
}

// AT-27 (partly) AP-35 (partly)
TEST(NoticesTest, ACallThatWaitsSaysTheSameInTextAndInStructure) {
  const core::WaitingCall call{.approval_id = "apr_1", .call_id = "c1"};
  const json::value pending = json::parse(pending_result("write", call, true));
  EXPECT_FALSE(pending.as_object().contains("isError"));
  const json::value wanted{{"status", "pending_approval"},
                           {"tier", "act_with_approval"},
                           {"call_id", "c1"},
                           {"approval_id", "apr_1"},
                           {"retry_after_s", 5}};
  EXPECT_EQ(pending.at_pointer("/structuredContent/sallyport"), wanted);
  const std::string text(pending.at_pointer("/content/0/text").as_string());
  for (const char* const word : {"pending_approval", "act_with_approval", "c1", "apr_1"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word;
  }
}

// LE-74 LE-76: a path and a statement of SQL are for the log alone.
TEST(NoticesTest, ACallWithoutARecordSaysWhetherItRanAndTheCauseInOneWord) {
  Error error{ErrorCode::Unavailable,
              "ledger_unavailable: busy: database is locked (5) at `BEGIN IMMEDIATE` in /d/l.db",
              "", "busy"};
  EXPECT_EQ(unrecorded_sentence(error),
            "Blocked: not run. The ledger cannot be written now (busy); try again later.");
  error.where = "outcome";
  const json::value result = json::parse(unrecorded_result(error));
  EXPECT_EQ(result.at("isError"), json::value(true));
  EXPECT_EQ(result.at_pointer("/content/0/text"),
            "The tool ran, but its result could not be recorded (busy) and is not shown. Check "
            "before you repeat the call.");
  EXPECT_EQ(unrecorded_sentence({ErrorCode::Conflict, "the call does not wait any more"}),
            "Blocked: not run: the call does not wait any more.");
}

TEST(NoticesTest, OtherMethodsGetAnErrorOfOurOwn) {
  const json::value error = json::parse(notice_error(refused("no")));
  EXPECT_EQ(error.at("code"), -31403);
  EXPECT_EQ(error.at_pointer("/data/record"), "r1");
}

}  // namespace
}  // namespace sallyport::mcp
