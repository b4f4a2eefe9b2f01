#include "core/plan/budgets.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/fake_recorder.h"
#include "support/governed.h"

namespace sallyport::core {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

class BudgetsTest : public testing::Test {
 protected:
  static WallTime at(double second) {
    return WallTime(seconds(1'000'000) + microseconds(std::int64_t(second * 1e6)));
  }

  // Returns `done`, or the word of the limit that is reached.
  std::string change(std::shared_ptr<const FactChange> change) {
    std::vector<Draft> drafts;
    drafts.push_back({.kind = Kind::Grant, .changes = {std::move(change)}});
    const auto written = test::run_now(recorder.append(std::move(drafts), Urgency::Announces));
    return written ? "done" : written.error().cause;
  }
  std::string hold(const Spending& spending, const std::string& call, double second = 0) {
    return change(budgets::reserve(spending, {call, "i"}, at(second)));
  }
  std::string charge(const Spending& spending, const std::string& call, double second = 0) {
    return change(budgets::charge(spending, {call, "i"}, at(second)));
  }
  std::string reverse(const std::string& call) { return change(budgets::reverse(call)); }

  std::string count(const std::string& key = "k") {
    const auto count = budgets::count(recorder, key);
    return std::to_string(count->used) + " used, " + std::to_string(count->held) + " held";
  }

  static Spending at_most(std::uint64_t max) { return {.limits = {{"k", max}}}; }
  static Spending rate(std::uint64_t max, std::uint64_t per_seconds) {
    return {.limits = {{"k", std::nullopt, Rate{max, per_seconds}}}};
  }

  test::FakeRecorder recorder;
};

// CG-48
TEST_F(BudgetsTest, InvocationsAreCountedUpToTheirNumber) {
  EXPECT_EQ(charge(at_most(2), "a"), "done");
  EXPECT_EQ(charge(at_most(2), "b"), "done");
  EXPECT_EQ(charge(at_most(2), "c"), "grant_budget");
  EXPECT_EQ(count(), "2 used, 0 held");
  EXPECT_EQ(charge(at_most(0), "d"), "grant_budget");
}

// CG-48
TEST_F(BudgetsTest, TheSixthOfFivePerMinuteWaitsUntilAMinuteAfterTheFirst) {
  const Spending five = rate(5, 60);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(charge(five, std::to_string(i), i * 10), "done");
  EXPECT_EQ(charge(five, "5", 59.999999), "grant_rate");
  EXPECT_EQ(charge(five, "5", 60), "done");
  EXPECT_EQ(charge(five, "6", 69.999999), "grant_rate");
  EXPECT_EQ(charge(five, "6", 70), "done");
}

// CG-48: compared with a list of all dispatches, in every window.
TEST_F(BudgetsTest, NoWindowEverHoldsMoreThanTheRate) {
  const Spending three = rate(3, 10);
  std::vector<double> times;
  std::uint32_t seed = 7;
  double now = 0;
  for (int i = 0; i < 500; ++i) {
    seed = seed * 1664525 + 1013904223;
    now += (seed >> 24) % 5;
    const auto in_window =
        std::ranges::count_if(times, [&](double time) { return time > now - 10; });
    EXPECT_EQ(charge(three, std::to_string(i), now), in_window < 3 ? "done" : "grant_rate") << i;
    if (in_window < 3) times.push_back(now);
  }
}

// CG-49 CG-51
TEST_F(BudgetsTest, AHoldKeepsRoomAndBecomesACharge) {
  EXPECT_EQ(hold(at_most(1), "a"), "done");
  EXPECT_EQ(count(), "0 used, 1 held");
  EXPECT_EQ(charge(at_most(1), "b"), "grant_budget");
  EXPECT_EQ(hold(at_most(1), "a"), "done");
  EXPECT_EQ(count(), "0 used, 1 held");
  EXPECT_EQ(charge(at_most(1), "a"), "done");
  EXPECT_EQ(count(), "1 used, 0 held");
  EXPECT_EQ(reverse("a"), "done");
  EXPECT_EQ(count(), "1 used, 0 held");
}

// CG-50
TEST_F(BudgetsTest, AHoldIsReversedOnce) {
  EXPECT_EQ(hold(at_most(2), "a"), "done");
  EXPECT_EQ(hold(at_most(2), "b"), "done");
  EXPECT_EQ(reverse("a"), "done");
  EXPECT_EQ(reverse("a"), "done");
  EXPECT_EQ(count(), "0 used, 1 held");
  EXPECT_TRUE(budgets::reserved_by(recorder, "a")->empty());
  EXPECT_EQ(budgets::reserved_by(recorder, "b")->size(), 1u);
  EXPECT_EQ(reverse("nobody"), "done");
}

// CG-48 CG-49
TEST_F(BudgetsTest, WhatIsHeldStandsInEveryWindowAndCountsFromItsCharge) {
  const Spending one = rate(1, 60);
  EXPECT_EQ(hold(one, "a", 0), "done");
  EXPECT_EQ(charge(one, "b", 1000), "grant_rate");
  EXPECT_EQ(charge(one, "a", 1000), "done");
  EXPECT_EQ(charge(one, "b", 1059), "grant_rate");
  EXPECT_EQ(charge(one, "b", 1060), "done");
}

// CG-32 CG-22
TEST_F(BudgetsTest, WithoutRoomInOneCounterNothingIsTakenFromAny) {
  const Spending two{.limits = {{"child", 5}, {"parent", 1}}};
  EXPECT_EQ(charge(two, "a"), "done");
  EXPECT_EQ(charge(two, "b"), "grant_budget");
  EXPECT_EQ(hold(two, "b"), "grant_budget");
  EXPECT_EQ(count("child"), "1 used, 0 held");
  EXPECT_EQ(count("parent"), "1 used, 0 held");
}

// CG-56
TEST_F(BudgetsTest, AClockThatGoesBackAddsNoRoom) {
  const Spending two = rate(2, 60);
  EXPECT_EQ(charge(two, "a", 100), "done");
  EXPECT_EQ(charge(two, "b", 50), "done");
  EXPECT_EQ(charge(two, "c", 50), "grant_rate");
  EXPECT_EQ(charge(two, "c", 111), "grant_rate");
  EXPECT_EQ(charge(two, "c", 159), "grant_rate");
  EXPECT_EQ(charge(two, "c", 160), "done");
}

// CG-39
TEST_F(BudgetsTest, AHoldOnAnotherGrantIsGivenBackWhenThisOneIsCharged) {
  const Spending other{.limits = {{"other", 1}}};
  EXPECT_EQ(hold(other, "a"), "done");
  EXPECT_EQ(charge(at_most(1), "a"), "done");
  EXPECT_EQ(count("other"), "0 used, 0 held");
  EXPECT_EQ(count("k"), "1 used, 0 held");
}

TEST_F(BudgetsTest, WithoutLimitsItOnlyCounts) {
  const Spending free{.limits = {{"k"}}, .introduces = {{"grant", "g", "first"}}};
  EXPECT_FALSE(free.limited());
  EXPECT_EQ(charge(free, "a"), "done");
  EXPECT_EQ(charge({.limits = {{"k"}}, .introduces = {{"grant", "g", "second"}}}, "b"), "done");
  EXPECT_EQ(count(), "2 used, 0 held");
  EXPECT_EQ(*recorder.fact("grant", "g"), "first");
}

// CG-34
TEST_F(BudgetsTest, RoomCanBeAskedForWithoutTakingIt) {
  EXPECT_FALSE(*budgets::full(recorder, {"k", 1}, at(0)));
  EXPECT_EQ(charge(at_most(1), "a"), "done");
  EXPECT_EQ(*budgets::full(recorder, {"k", 1}, at(0)), "grant_budget");
  EXPECT_EQ(*budgets::full(recorder, {"k", 9, Rate{0, 1}}, at(0)), "grant_rate");
  EXPECT_FALSE(*budgets::full(recorder, {"k"}, at(0)));
}

}  // namespace
}  // namespace sallyport::core
