#include "ledger/proof/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ledger/maintenance.h"
#include "support/ledger_checks.h"
#include "support/test_ledger.h"

namespace sallyport::ledger {
namespace {

using test::TestLedger;

LedgerReport verify(TestLedger& ledger) {
  return verify_ledger(ledger.store(), std::nullopt, std::nullopt, 2);
}

// LE-48, LE-49
TEST(VerifyTest, AFreshLedgerIsClean) {
  TestLedger ledger;
  ledger.open();
  ledger.append_many(1000);
  const LedgerReport report = verify(ledger);
  EXPECT_TRUE(report.ok) << canonical_json(report.to_json());
  EXPECT_EQ(report.tree_size, 1002u);
  ledger.close();
  ledger.open();
  EXPECT_TRUE(verify(ledger).ok);
}

// The facts of commits that were cut off were once reported in place of the cut.
// LE-51
TEST(VerifyTest, ALogThatWasCutBackIsReportedBeforeFactsThatDiffer) {
  TestLedger ledger;
  ledger.open();
  ledger.append_many(3);
  const auto held = ledger->transact(set_hold("h", {.call_id = "call-1"}, "legal", "a lawsuit"));
  ASSERT_TRUE(held);
  const std::string kept = test::newest_checkpoint(ledger.store());
  ledger.sql("DELETE FROM entries WHERE sequence >= " + std::to_string(held->front().sequence));
  const LedgerReport cut = verify_ledger(ledger.store(), std::nullopt, kept, 2);
  ASSERT_TRUE(cut.first_bad);
  EXPECT_EQ(cut.first_bad->check, "checkpoint_consistency");
  EXPECT_THAT(cut.first_bad->detail, testing::HasSubstr("it was cut back"));
  const LedgerReport unknown = verify(ledger);
  ASSERT_TRUE(unknown.first_bad);
  EXPECT_THAT(unknown.first_bad->detail, testing::HasSubstr("the fact `h` of `hold` differs"));
  const LedgerReport spoiled = verify_ledger(ledger.store(), std::nullopt, "no checkpoint", 2);
  ASSERT_TRUE(spoiled.first_bad);
  EXPECT_THAT(spoiled.first_bad->detail, testing::HasSubstr("the kept checkpoint is damaged: "));
}

}  // namespace
}  // namespace sallyport::ledger
