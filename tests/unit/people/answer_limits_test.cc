#include "people/answer_limits.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/test_ledger.h"

namespace sallyport::app {
namespace {

// A proposal that needs a human was once approved in a list: its record names another source.
// AT-17 (partly)
TEST(AnswerLimitsTest, ACallThatNeedsAHumanIsNotApprovedInAList) {
  test::TestLedger ledger;
  ledger.open();
  const json::object request{{"kind", "approval"}, {"call_id", "c"}};
  EXPECT_FALSE(needs_own_look(ledger.store(), request, {}).value());
  EXPECT_TRUE(needs_own_look(ledger.store(), request, {.needs_human = true}).value());
  const auto listed =
      may_be_listed(ledger.store(), request, {.needs_human = true}, "user:ada", WallTime{});
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code, ErrorCode::Conflict);
}

TEST(AnswerLimitsTest, AQuestionOfAnEarlierReleaseIsJudgedByTheRecordOfItsCall) {
  test::TestLedger ledger;
  ledger.open();
  core::Draft record = test::TestLedger::event({{"autonomy_source", "requires_human"}}, "c");
  record.kind = core::Kind::ToolAudit;
  record.outcome = "requires_confirmation";
  ledger.append(std::move(record));
  const json::object request{{"kind", "approval"}, {"call_id", "c"}};
  EXPECT_TRUE(needs_own_look(ledger.store(), request, {}).value());
  const json::object other{{"kind", "approval"}, {"call_id", "d"}};
  EXPECT_FALSE(needs_own_look(ledger.store(), other, {}).value());
}

// AP-43 (partly)
TEST(AnswerLimitsTest, AfterManyApprovalsAYesNamesItsCall) {
  const std::string binding = "sha256:0123456789abcdef";
  EXPECT_EQ(word_of_yes(kHastyApprovals - 1, {}, binding), "y");
  EXPECT_EQ(word_of_yes(kHastyApprovals, {}, binding), "01234567");
  EXPECT_EQ(word_of_yes(fail(ErrorCode::Unavailable, "no ledger"), {}, binding), "01234567");
  core::HiddenPart part;
  EXPECT_EQ(word_of_yes(std::size_t{0}, {part}, binding), "y");
  part.command = true;
  EXPECT_EQ(word_of_yes(std::size_t{0}, {part}, binding), "01234567");
}

}  // namespace
}  // namespace sallyport::app
