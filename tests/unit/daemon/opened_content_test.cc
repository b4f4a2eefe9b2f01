#include "daemon/api/opened_content.h"

#include <gtest/gtest.h>

#include "ledger/read/query.h"
#include "support/test_clock.h"
#include "support/test_ledger.h"

namespace sallyport::app {
namespace {

class OpenedContentTest : public testing::Test {
 protected:
  OpenedContentTest() {
    ledger_.clock = &clock_;
    ledger_.open();
  }

  // Notes this opening and returns the number of entries about opened content.
  std::size_t noted(OpenedContent& opened, const std::string& name) {
    EXPECT_TRUE(opened.note({.name = name, .method = "token"}, "calls"));
    std::size_t count = 0;
    EXPECT_TRUE(ledger_.store().read([&](ledger::ReadView& view) {
      return ledger::find_entries(
          view, {.body = {{"control", "content_opened"}}},
          [&](const ledger::StoredEntry&, const ledger::EntryView&) -> Result<bool> {
            ++count;
            return true;
          });
    }));
    return count;
  }

  test::TestClock clock_;
  test::TestLedger ledger_;
};

// CO-50 (partly)
TEST_F(OpenedContentTest, APersonIsOnRecordOnceAMinute) {
  OpenedContent opened(*ledger_, clock_);
  EXPECT_EQ(noted(opened, "user:ada"), 1u);
  EXPECT_EQ(noted(opened, "user:ada"), 1u);
  EXPECT_EQ(noted(opened, "user:bo"), 2u);
  clock_.advance(std::chrono::seconds(59));
  EXPECT_EQ(noted(opened, "user:ada"), 2u);
  clock_.advance(std::chrono::seconds(1));
  EXPECT_EQ(noted(opened, "user:ada"), 3u);
}

// CO-50 (partly): content whose opening cannot be recorded is not shown, now or later
TEST_F(OpenedContentTest, WithoutARecordNothingMayBeShown) {
  OpenedContent opened(*ledger_, clock_);
  ledger_.sql("DROP TABLE entries");
  EXPECT_FALSE(opened.note({.name = "user:ada", .method = "token"}, "calls"));
  EXPECT_FALSE(opened.note({.name = "user:ada", .method = "token"}, "calls"));
}

}  // namespace
}  // namespace sallyport::app
