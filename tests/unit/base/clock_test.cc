#include "base/clock.h"

#include <gtest/gtest.h>

namespace sallyport {
namespace {

using namespace std::chrono;

WallTime at(std::int64_t us) {
  return WallTime{microseconds{us}};
}

// LE-1
TEST(ClockTest, TimesAreWrittenInUtcWithSixFractionalDigits) {
  EXPECT_EQ(rfc3339(at(0)), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(rfc3339(at(1)), "1970-01-01T00:00:00.000001Z");
  EXPECT_EQ(rfc3339(at(-1)), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(rfc3339(at(1'794'708'000'000'000)), "2026-11-15T02:00:00.000000Z");
  EXPECT_EQ(rfc3339(at(951'827'696'120'000)), "2000-02-29T12:34:56.120000Z");
  EXPECT_EQ(rfc3339(at(253'402'300'799'999'999)), "9999-12-31T23:59:59.999999Z");
}

// LE-1
TEST(ClockTest, WhatIsWrittenIsReadBack) {
  for (std::int64_t us = -5'000'000'000'000'000; us < 250'000'000'000'000'000;
       us += 1'234'567'890'123'457) {
    EXPECT_EQ(from_rfc3339(rfc3339(at(us))), at(us)) << us;
  }
}

// LE-62
TEST(ClockTest, EveryFormOfRfc3339IsRead) {
  const WallTime noon = *from_rfc3339("2026-11-15T12:00:00Z");
  for (const std::string_view text :
       {"2026-11-15t12:00:00z", "2026-11-15 12:00:00Z", "2026-11-15T12:00:00.0Z",
        "2026-11-15T14:00:00+02:00", "2026-11-15T06:30:00-05:30", "2026-11-15T12:00:00-00:00",
        "2026-11-16T11:59:00+23:59", "2026-11-15T12:00:00.0000009Z", "2026-11-15T11:59:60Z"}) {
    EXPECT_EQ(from_rfc3339(text), noon) << text;
  }
  EXPECT_EQ(from_rfc3339("2026-11-15T12:00:00.5Z"), noon + milliseconds{500});
  EXPECT_EQ(from_rfc3339("2026-11-15T12:00:00.123456789Z"), noon + microseconds{123'456});
}

// LE-82
TEST(ClockTest, MalformedTimesAreNoTimes) {
  for (const std::string_view text : {"",
                                      "now",
                                      "2026",
                                      "2026-11-15",
                                      "2026-11-15T12:00:00",
                                      "2026-11-15T12:00Z",
                                      "2026-11-15T12:00:00.Z",
                                      "2026-13-01T00:00:00Z",
                                      "2026-00-01T00:00:00Z",
                                      "2026-02-29T00:00:00Z",
                                      "2026-11-31T00:00:00Z",
                                      "2026-11-15T24:00:00Z",
                                      "2026-11-15T12:60:00Z",
                                      "2026-11-15T12:00:61Z",
                                      "2026-11-15T12:00:00+24:00",
                                      "2026-11-15T12:00:00+01:60",
                                      "2026-11-15T12:00:00+0100",
                                      "2026-11-15T12:00:00ZZ",
                                      " 2026-11-15T12:00:00Z",
                                      "2026-11-15T12:00:00Z ",
                                      "+2026-11-15T12:00:00Z",
                                      "2026-11-15_12:00:00Z",
                                      "2026/11/15T12:00:00Z",
                                      "1763172000",
                                      "-026-11-15T12:00:00Z"}) {
    EXPECT_EQ(from_rfc3339(text), std::nullopt) << text;
  }
}

// LE-1
TEST(ClockTest, TheSystemsClockIsTheTimeOfDay) {
  const auto before = floor<microseconds>(system_clock::now());
  const SystemClock clock;
  const WallTime wall = clock.wall();
  const SteadyTime steady = clock.steady();
  EXPECT_GE(wall, before);
  EXPECT_LE(wall, system_clock::now());
  EXPECT_LE(steady, clock.steady());
}

}  // namespace
}  // namespace sallyport
