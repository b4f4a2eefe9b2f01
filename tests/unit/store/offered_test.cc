// A checkpoint that was shown to a witness survives a loss of power.
#include <gtest/gtest.h>

#include "ledger/proof/cosigned.h"
#include "support/ledger_checks.h"
#include "support/test_ledger.h"
#include "support/unsynced_vfs.h"

namespace sallyport::store {
namespace {

using test::TestLedger;
using test::UnsyncedVfs;

std::uint64_t size_after_power_is_lost(bool offers) {
  UnsyncedVfs& vfs = UnsyncedVfs::get();
  TestLedger ledger;
  ledger.vfs = UnsyncedVfs::kName;
  ledger.open();
  core::Draft draft = TestLedger::event({{"n", 1}});
  draft.waits_for_disk = false;
  const std::uint64_t size = ledger.append(std::move(draft)).sequence + 1;
  if (offers) {
    const Result<void> noted = ledger::note_offered(*ledger, size);
    EXPECT_TRUE(noted) << noted.error().message;
  }
  vfs.crash(UnsyncedVfs::Loss::All);
  ledger.close();
  vfs.restart();
  ledger.vfs.clear();
  ledger.settings.announced = false;  // adds no entry of its own
  ledger.open();
  EXPECT_EQ(test::verdict(ledger.store()), "ok");
  return test::all_entries(ledger.store()).size() - size + 1;
}

// SC-22
TEST(OfferedTest, ACheckpointIsOnDiskBeforeItIsOffered) {
  EXPECT_GE(size_after_power_is_lost(true), 1u);
}

// Otherwise the test above would prove nothing.
TEST(OfferedTest, WithoutThatACommitThatDidNotWaitIsLost) {
  EXPECT_EQ(size_after_power_is_lost(false), 0u);
}

}  // namespace
}  // namespace sallyport::store
