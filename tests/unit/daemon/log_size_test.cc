#include "daemon/api/log_size.h"

#include <gtest/gtest.h>

#include "support/governed.h"
#include "support/test_clock.h"
#include "support/test_ledger.h"

namespace sallyport::app {
namespace {

class LogSizeTest : public testing::Test {
 protected:
  LogSizeTest() {
    ledger_.open();
    size_.emplace(*ledger_, clock_);
  }
  std::uint64_t newest() { return test::run_now(size_->newest(readers_)); }

  test::TestClock clock_;
  test::TestLedger ledger_;
  std::optional<LogSize> size_;
  api::Readers readers_;
};

TEST_F(LogSizeTest, OneReadAnswersForABeat) {
  const std::uint64_t first = newest();
  EXPECT_GT(first, 0u);
  ledger_.append_many(2);
  EXPECT_EQ(newest(), first);
  clock_.advance(LogSize::kBeat);
  EXPECT_EQ(newest(), first + 2);
}

TEST_F(LogSizeTest, AnUnreadableLogKeepsItsLastSize) {
  const std::uint64_t first = newest();
  ledger_.sql("DROP TABLE entries");
  clock_.advance(LogSize::kBeat);
  EXPECT_EQ(newest(), first);
}

}  // namespace
}  // namespace sallyport::app
