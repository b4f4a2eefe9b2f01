// A change that reads, decides and writes in one transaction.
#include <gtest/gtest.h>

#include "ledger/store.h"
#include "support/test_ledger.h"

namespace sallyport::ledger {
namespace {

using test::TestLedger;

TEST(TransactTest, ARefusalLeavesTheLedgerHealthyAndAFailureOfItsStoreDoesNot) {
  TestLedger ledger;
  ledger.open();
  const auto refused = ledger->transact([](WriteView&) -> Result<std::vector<core::Draft>> {
    return fail(ErrorCode::InvalidInput, "there is no such call");
  });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::InvalidInput);
  EXPECT_TRUE(ledger->health().ok);
  const auto failed = ledger->transact([](WriteView&) -> Result<std::vector<core::Draft>> {
    return ledger_unavailable("io", "a page cannot be read");
  });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().cause, "io");
  EXPECT_FALSE(ledger->health().ok);
  EXPECT_EQ(ledger->health().cause, "io");
}

}  // namespace
}  // namespace sallyport::ledger
