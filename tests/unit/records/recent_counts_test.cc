#include "records/recent_counts.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "records/prefix_view.h"
#include "support/test_clock.h"
#include "support/test_ledger.h"

namespace sallyport::app {
namespace {

class RecentCountsTest : public testing::Test {
 protected:
  RecentCountsTest() {
    ledger_.clock = &clock_;
    ledger_.open();
  }

  void write(std::size_t count) {
    std::vector<core::Draft> drafts;
    for (std::size_t i = 0; i < count; ++i) drafts.push_back(test::TestLedger::event({{"n", i}}));
    ASSERT_TRUE(ledger_->append_blocking(std::move(drafts), core::Urgency::Announces));
  }

  // Events by minute, from the first one. `read_` counts the entries read for that.
  std::vector<std::uint64_t> counted(std::chrono::sys_seconds first = {}) {
    std::vector<std::uint64_t> events;
    EXPECT_TRUE(ledger_.store().read([&](ledger::ReadView& view) -> Result<void> {
      Search search{.left = 1u << 20};
      PrefixView seen(view, *view.size(), {}, &search);
      for (auto& [minute, counts] : *counts_.since(seen, first, ledger::Facet::Kind)) {
        events.push_back(counts["event"]);
      }
      read_ = (1u << 20) - search.left;
      return {};
    }));
    return events;
  }

  test::TestClock clock_;
  test::TestLedger ledger_;
  RecentCounts counts_;
  std::uint64_t read_ = 0;
};

// CO-66 (partly), CO-70 (partly): the counts of the last hour once read all its entries each time
TEST_F(RecentCountsTest, AFullBlockIsReadOnce) {
  const auto start = std::chrono::floor<std::chrono::minutes>(clock_.wall());
  write(3000);
  clock_.advance(std::chrono::minutes(1));
  write(3000);
  const std::vector<std::uint64_t> whole{3000, 3000};
  EXPECT_EQ(counted(), whole);
  EXPECT_GE(read_, 6000u);
  EXPECT_EQ(counted(), whole);
  EXPECT_LT(read_, ledger::kBlock);
  clock_.advance(std::chrono::minutes(1));
  write(5);
  EXPECT_EQ(counted(), (std::vector<std::uint64_t>{3000, 3000, 5}));
  EXPECT_LT(read_, ledger::kBlock);
  EXPECT_EQ(counted(start + std::chrono::minutes(1)), (std::vector<std::uint64_t>{3000, 5}));
  EXPECT_TRUE(counted(start + std::chrono::hours(1)).empty());
}

}  // namespace
}  // namespace sallyport::app
