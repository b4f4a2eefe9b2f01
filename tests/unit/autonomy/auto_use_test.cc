#include "autonomy/auto_use.h"

#include <gtest/gtest.h>

#include <random>

namespace sallyport::autonomy {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::minutes;

const WallTime kStart{std::chrono::seconds(1'800'000'000)};

// AT-18
TEST(AutoUseTest, AnHourEndsExactlyAnHourLater) {
  AutoUse use;
  const Budget one{.max_per_hour = 1};
  EXPECT_FALSE(use.weigh(one, kStart).exhausted);
  use.add_dispatch(kStart);
  EXPECT_TRUE(use.weigh(one, kStart).exhausted);
  EXPECT_TRUE(use.weigh(one, kStart + hours(1) - microseconds(1)).exhausted);
  EXPECT_FALSE(use.weigh(one, kStart + hours(1)).exhausted);
}

// AT-18
TEST(AutoUseTest, ADayEndsExactlyADayLater) {
  AutoUse use;
  const Budget one{.max_per_day = 1};
  use.add_dispatch(kStart);
  EXPECT_TRUE(use.weigh(one, kStart + hours(24) - microseconds(1)).exhausted);
  EXPECT_FALSE(use.weigh(one, kStart + hours(24)).exhausted);
}

// AT-18
TEST(AutoUseTest, NoWindowEverHoldsMoreThanTheBudget) {
  const Budget budget{.max_per_hour = 7, .max_per_day = 40};
  std::mt19937_64 random(3);
  std::vector<WallTime> ran;
  AutoUse use;
  WallTime now = kStart;
  for (int i = 0; i < 4000; ++i) {
    now += microseconds(random() % 600'000'000);
    if (use.weigh(budget, now).exhausted) continue;
    use.add_dispatch(now);
    ran.push_back(now);
    const auto within = [&](auto length) {
      return std::ranges::count_if(ran, [&](WallTime time) { return time > now - length; });
    };
    ASSERT_LE(within(hours(1)), 7);
    ASSERT_LE(within(hours(24)), 40);
  }
  EXPECT_GT(ran.size(), 300u);
}

// AT-18
TEST(AutoUseTest, WhatIsStoredReadsBackAndForeignTextDoesNot) {
  AutoUse use;
  EXPECT_EQ(AutoUse::parse(""), use);
  EXPECT_EQ(AutoUse::parse(use.text()), use);
  use.add_dispatch(kStart);
  use.add_dispatch(kStart + minutes(3));
  use.set_announced(Window::Day, kStart);
  EXPECT_EQ(AutoUse::parse(use.text()), use);
  for (const char* text : {"x", ";;a", ";", ";;;", "-4;;", "0;;", ";;0", ";;1,,2", ";;1,2x",
                           ";;99999999999999999999"}) {
    EXPECT_EQ(AutoUse::parse(text).error().code, ErrorCode::Corrupt) << text;
  }
}

TEST(AutoUseTest, AWindowHasItsNameAndItsLength) {
  EXPECT_EQ(to_string(Window::Hour), "hour");
  EXPECT_EQ(to_string(Window::Day), "day");
  EXPECT_EQ(length_of(Window::Hour), hours(1));
  EXPECT_EQ(length_of(Window::Day), hours(24));
}

// AT-18
TEST(AutoUseTest, AClockThatWasSetBackMakesNoRoom) {
  AutoUse use;
  use.add_dispatch(kStart);
  EXPECT_TRUE(use.weigh({.max_per_hour = 1}, kStart - hours(5)).exhausted);
}

// AT-18
TEST(AutoUseTest, WhatNoWindowSeesIsForgotten) {
  AutoUse use;
  for (int day = 0; day < 100; ++day) use.add_dispatch(kStart + hours(24) * day);
  EXPECT_LT(use.text().size(), 40u);
}

// AT-19
TEST(AutoUseTest, EachWindowIsAnnouncedOnce) {
  AutoUse use;
  const Budget budget{.max_per_hour = 1, .max_per_day = 2};
  use.add_dispatch(kStart);
  AutoUse::Excess over = use.weigh(budget, kStart + minutes(1));
  EXPECT_EQ(over.to_announce, std::vector<Window>{Window::Hour});
  use.set_announced(Window::Hour, kStart + minutes(1));
  over = use.weigh(budget, kStart + minutes(2));
  EXPECT_TRUE(over.exhausted);
  EXPECT_TRUE(over.to_announce.empty());

  use.add_dispatch(kStart + minutes(70));
  over = use.weigh(budget, kStart + minutes(71));
  EXPECT_EQ(over.to_announce, (std::vector<Window>{Window::Hour, Window::Day}));
  use.set_announced(Window::Hour, kStart + minutes(71));
  use.set_announced(Window::Day, kStart + minutes(71));
  EXPECT_TRUE(use.weigh(budget, kStart + hours(3)).to_announce.empty());
}

// AT-18
TEST(AutoUseTest, ABudgetOfNoneAllowsNoneAndNoBudgetAllowsAll) {
  AutoUse use;
  EXPECT_TRUE(use.weigh({.max_per_hour = 0}, kStart).exhausted);
  for (int i = 0; i < 1000; ++i) use.add_dispatch(kStart);
  EXPECT_FALSE(use.weigh({}, kStart).exhausted);
}

}  // namespace
}  // namespace sallyport::autonomy
