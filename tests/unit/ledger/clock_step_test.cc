// A disagreement of two clocks is recorded; the order never depends on either.
#include <gtest/gtest.h>

#include "support/ledger_checks.h"
#include "support/test_clock.h"

namespace sallyport::ledger {
namespace {

using namespace std::chrono_literals;
using test::controls;
using test::TestLedger;

class ClockStepTest : public testing::Test {
 protected:
  void SetUp() override {
    ledger_.clock = &clock_;
    ledger_.open();
    append();
  }
  void append() { ledger_.append(TestLedger::event({{"n", 1}})); }
  std::vector<json::object> steps() { return controls(ledger_.store(), "clock_step"); }

  test::TestClock clock_;
  TestLedger ledger_;
};

// LE-72
TEST_F(ClockStepTest, TimeThatPassesIsNoStep) {
  for (const auto passed : {0s, 1s, 3600s, 86400s}) {
    clock_.advance(passed);
    append();
  }
  clock_.step_wall(2s);
  append();
  clock_.step_wall(-1s);
  append();
  EXPECT_TRUE(steps().empty());
}

// LE-72
TEST_F(ClockStepTest, AWallClockThatJumpsIsRecordedWithBothReadingsBeforeTheNextEntry) {
  const WallTime before = clock_.wall();
  clock_.advance(5s);
  clock_.step_wall(3s);
  append();
  ASSERT_EQ(steps().size(), 1u);
  EXPECT_EQ(steps()[0].at("wall_before"), json::value(rfc3339(before)));
  EXPECT_EQ(steps()[0].at("wall_now"), json::value(rfc3339(clock_.wall())));
  EXPECT_EQ(steps()[0].at("steady_elapsed_us"), json::value(5'000'000));
  EXPECT_EQ(steps()[0].at("against"), "monotonic_clock");
  const auto entries = test::all_entries(ledger_.store());
  EXPECT_EQ(entries.at(entries.size() - 2).body.at("control"), "clock_step");
  append();
  EXPECT_EQ(steps().size(), 1u) << "once";
}

// LE-72
TEST_F(ClockStepTest, AWallClockBehindTheEntryBeforeIsRecorded) {
  clock_.step_wall(-1500ms);
  append();
  ASSERT_EQ(steps().size(), 1u);
  EXPECT_EQ(steps()[0].at("against"), "entry_before");
}

// LE-72
TEST_F(ClockStepTest, AStepWhileNobodyWroteIsFoundAgainstTheLastEntryAtStart) {
  ledger_.close();
  clock_.step_wall(-3600s);
  ledger_.open();
  ASSERT_EQ(steps().size(), 1u);
  EXPECT_EQ(steps()[0].at("against"), "entry_before");
}

// LE-3
TEST_F(ClockStepTest, SequenceDecidesOrderWhateverTheClockSays) {
  for (const auto step : {-3600s, 7200s, -10s}) {
    clock_.step_wall(step);
    append();
  }
  const auto entries = test::all_entries(ledger_.store());
  for (std::size_t i = 0; i < entries.size(); ++i) EXPECT_EQ(entries[i].stored.sequence, i);
  EXPECT_EQ(steps().size(), 3u);
  EXPECT_EQ(test::verdict(ledger_.store()), "ok");
}

}  // namespace
}  // namespace sallyport::ledger
