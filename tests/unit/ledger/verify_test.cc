#include "ledger/proof/verify.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sallyport::ledger
