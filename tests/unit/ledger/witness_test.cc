// A separate copy of the newest checkpoint, and its use against a truncated ledger.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "ledger/secret/private_file.h"
#include "support/ledger_checks.h"
#include "support/test_clock.h"

namespace sallyport::ledger {
namespace {

using test::TestLedger;
using test::verdict;

class WitnessTest : public testing::Test {
 protected:
  void SetUp() override {
    ledger_.settings.checkpoint_copy = elsewhere_ / "witness";
    ledger_.clock = &clock_;
    ledger_.open();
    ledger_.append_many(10);
  }

  std::string witness() { return read_private_file(elsewhere_ / "witness")->value_or(""); }

  // Copies the present data folder, so that the test can go back to it.
  void keep_state() {
    ledger_.close();
    std::filesystem::copy_file(ledger_.file(), elsewhere_ / "older.db",
                               std::filesystem::copy_options::overwrite_existing);
  }
  void go_back() {
    ledger_.close();
    std::filesystem::copy_file(elsewhere_ / "older.db", ledger_.file(),
                               std::filesystem::copy_options::overwrite_existing);
  }

  test::TempFolder elsewhere_;
  test::TestClock clock_;
  TestLedger ledger_;
};

// LE-51
TEST_F(WitnessTest, TheCopyIsWrittenAtMostOnceASecondAndAtTheEnd) {
  const std::string first = witness();
  EXPECT_FALSE(first.empty()) << "the start wrote one";
  ledger_.append_many(5);
  ledger_.append_many(5);
  EXPECT_EQ(witness(), first);
  clock_.advance(std::chrono::seconds(2));
  ledger_.append_many(1);
  ledger_.append_many(1);  // answered after the writer thread has checked the witness
  EXPECT_NE(witness(), first);
  ledger_.append_many(3);
  ledger_.close();
  ledger_.open();
  EXPECT_EQ(verdict(ledger_.store(), witness()), "ok");
}

// LE-51: processes that write one call and end would each write a copy.
TEST_F(WitnessTest, APasserByLeavesACopyThatIsLessThanAMinuteOld) {
  using std::chrono::seconds;
  ledger_.close();
  ledger_.settings.passing = true;
  ledger_.settings.announced = false;
  const auto passes = [&](seconds age) {
    const std::string before = witness();
    const auto now = std::chrono::duration_cast<seconds>(clock_.wall().time_since_epoch());
    const timespec written{.tv_sec = (now - age).count(), .tv_nsec = 0};
    const timespec times[] = {written, written};
    EXPECT_EQ(utimensat(AT_FDCWD, (elsewhere_ / "witness").c_str(), times, 0), 0);
    ledger_.open();
    ledger_.append_many(1);
    ledger_.close();
    return witness() != before;
  };
  EXPECT_FALSE(passes(seconds(0)));
  EXPECT_FALSE(passes(seconds(59)));
  EXPECT_TRUE(passes(seconds(60)));
  EXPECT_TRUE(passes(seconds(-5))) << "of a clock that was set back";
}

// LE-51, LE-52
TEST_F(WitnessTest, ALedgerThatWasCutBackDoesNotOpenUntilAPersonSaysWhy) {
  keep_state();
  ledger_.open();
  ledger_.append_many(20);
  go_back();
  const auto refused = ledger_.try_open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Corrupt);
  EXPECT_NE(refused.error().message.find("cut back"), std::string::npos) << refused.error().message;
  EXPECT_NE(refused.error().message.find("ledger acknowledge"), std::string::npos);
  EXPECT_FALSE(ledger_.try_open()) << "asking twice changes nothing";
  ledger_.settings.acknowledged_rollback = "restored from the backup of monday";
  ledger_.open();
  EXPECT_EQ(test::controls(ledger_.store(), "rollback_acknowledged").at(0).at("reason"),
            "restored from the backup of monday");
  ledger_.settings.acknowledged_rollback.clear();
  ledger_.open();
  EXPECT_EQ(verdict(ledger_.store(), witness()), "ok");
}

// LE-52
TEST_F(WitnessTest, ALedgerOfTheSameSizeWithAnotherPastDoesNotOpen) {
  keep_state();
  ledger_.open();
  ledger_.append_many(20);
  ledger_.close();
  const std::string seen = witness();
  go_back();
  ledger_.settings.checkpoint_copy.clear();
  ledger_.open();
  ledger_.append_many(40);
  EXPECT_EQ(verdict(ledger_.store()), "ok") << "by itself it is a good log";
  EXPECT_TRUE(verdict(ledger_.store(), seen).starts_with("checkpoint_consistency"));
  ledger_.settings.checkpoint_copy = elsewhere_ / "witness";
  const auto refused = ledger_.try_open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().cause, "corrupt");
}

// LE-52
TEST_F(WitnessTest, ACopyThatIsNoCheckpointOfThisLedgerIsNotPassedOver) {
  ledger_.close();
  ASSERT_TRUE(replace_private_file(elsewhere_ / "witness", "not a note"));
  EXPECT_FALSE(ledger_.try_open());
  TestLedger other;
  other.open();
  ASSERT_TRUE(replace_private_file(elsewhere_ / "witness", test::newest_checkpoint(other.store())));
  const auto refused = ledger_.try_open();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("no key of this ledger"), std::string::npos);
}

// LE-51
TEST_F(WitnessTest, ACopyFromBeforeARotationStillHolds) {
  clock_.advance(std::chrono::seconds(2));
  ledger_.append_many(2);
  const std::string before = test::newest_checkpoint(ledger_.store());
  ASSERT_TRUE(ledger_->rotate_key(false));
  ledger_.close();
  ASSERT_TRUE(replace_private_file(elsewhere_ / "witness", before));
  ledger_.open();
  EXPECT_EQ(verdict(ledger_.store(), before), "ok");
}

}  // namespace
}  // namespace sallyport::ledger
