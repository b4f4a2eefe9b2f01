#include "sallyport/retry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "base/clock.h"
#include "base/entropy.h"

namespace sallyport::core {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

// Every byte is the same: 0 adds nothing to a wait, 255 the most.
class FixedEntropy final : public Entropy {
 public:
  explicit FixedEntropy(std::uint8_t byte) : byte_(byte) {}
  void fill(std::span<std::uint8_t> out) override { std::ranges::fill(out, byte_); }

 private:
  std::uint8_t byte_;
};

const WallTime kNow = *from_rfc3339("2026-11-15T08:00:00.000000Z");
const RetrySchedule kExact(RetrySettings{.jitter = 0});

// EV-99 EV-100
TEST(RetryTest, FiveRetriesWaitLongerEachTimeAndNoSixthIsMade) {
  FixedEntropy entropy(255);
  EXPECT_EQ(kExact.before(1, std::nullopt, entropy), 0ms);
  const milliseconds waits[] = {500ms, 1000ms, 2000ms, 4000ms, 5000ms};
  for (std::uint64_t attempt = 2; attempt <= 6; ++attempt) {
    EXPECT_EQ(kExact.before(attempt, std::nullopt, entropy), waits[attempt - 2]) << attempt;
  }
  EXPECT_EQ(kExact.before(7, std::nullopt, entropy), std::nullopt);
}

// EV-99
TEST(RetryTest, TheNumberOfAttemptsIsASetting) {
  FixedEntropy entropy(0);
  const RetrySchedule once(RetrySettings{.attempts = 1});
  EXPECT_EQ(once.before(2, std::nullopt, entropy), std::nullopt);
  const RetrySchedule many(RetrySettings{.attempts = 200});
  EXPECT_EQ(many.before(7, std::nullopt, entropy), 5000ms);
  EXPECT_EQ(many.before(200, std::nullopt, entropy), 5000ms);
}

// EV-99
TEST(RetryTest, OnlyTransientErrorsAreFollowedByAnotherAttempt) {
  const ProviderError busy{.kind = ProviderError::Kind::Http, .status = 503};
  const ProviderError refused{.kind = ProviderError::Kind::Http, .status = 401};
  EXPECT_EQ(kExact.after(1, busy), 500ms);
  EXPECT_EQ(kExact.after(5, busy), 5000ms);
  EXPECT_EQ(kExact.after(6, busy), std::nullopt);
  EXPECT_EQ(kExact.after(1, refused), std::nullopt);
}

// EV-101
TEST(RetryTest, TheLongerOfScheduleAndWhatIsAskedCountsUpTo60Seconds) {
  EXPECT_EQ(kExact.before(2, parse_retry_after("3", kNow)), 3000ms);
  EXPECT_EQ(kExact.before(6, parse_retry_after("3", kNow)), 5000ms);
  EXPECT_EQ(kExact.before(2, parse_retry_after("60", kNow)), 60000ms);
  EXPECT_EQ(kExact.before(2, parse_retry_after("61", kNow)), 60000ms);
  EXPECT_EQ(kExact.before(2, parse_retry_after("99999999999999999999999", kNow)), 60000ms);
  EXPECT_EQ(kExact.before(2, parse_retry_after("Sun, 15 Nov 2026 08:00:07 GMT", kNow)), 7000ms);
  EXPECT_EQ(kExact.before(2, parse_retry_after("Mon, 16 Nov 2026 08:00:07 GMT", kNow)), 60000ms);
  const ProviderError asked{
      .kind = ProviderError::Kind::Retryable, .message = "m", .delay_ms = 2500};
  EXPECT_EQ(kExact.after(1, asked), 2500ms);
}

// EV-102
TEST(RetryTest, ARandomPartOnlyLengthensAndByAQuarterAtMost) {
  FixedEntropy least(0);
  FixedEntropy middle(128);
  FixedEntropy most(255);
  const RetrySchedule schedule;
  EXPECT_EQ(schedule.before(2, std::nullopt, least), 500ms);
  EXPECT_EQ(schedule.before(2, std::nullopt, most), 625ms);
  EXPECT_EQ(schedule.before(2, 60s, most), 75s);
  const auto between = schedule.before(2, std::nullopt, middle);
  EXPECT_GT(between, 550ms);
  EXPECT_LT(between, 575ms);
  const RetrySchedule wild(RetrySettings{.jitter = 9});
  EXPECT_EQ(wild.before(2, std::nullopt, most), 625ms);
  const RetrySchedule shorter(RetrySettings{.jitter = -1});
  EXPECT_EQ(shorter.before(2, std::nullopt, most), 500ms);
}

// EV-102
TEST(RetryTest, RealRandomnessSpreadsTheWaits) {
  const RetrySchedule schedule;
  milliseconds least = 1h;
  milliseconds most = 0ms;
  for (int i = 0; i < 1000; ++i) {
    const milliseconds wait = *schedule.before(5);
    least = std::min(least, wait);
    most = std::max(most, wait);
  }
  EXPECT_GE(least, 4000ms);
  EXPECT_LT(least, 4200ms);
  EXPECT_GT(most, 4800ms);
  EXPECT_LE(most, 5000ms);
}

// EV-101
TEST(RetryTest, RetryAfterIsReadInAllFormsOfRfc9110) {
  EXPECT_EQ(parse_retry_after("0", kNow), 0ms);
  EXPECT_EQ(parse_retry_after(" 120\t", kNow), 120s);
  for (const std::string_view date :
       {"Sun, 15 Nov 2026 08:00:30 GMT", "Sunday, 15-Nov-26 08:00:30 GMT",
        "Sun Nov 15 08:00:30 2026"}) {
    EXPECT_EQ(parse_retry_after(date, kNow), 30s) << date;
  }
  const WallTime early = *from_rfc3339("1994-11-06T08:49:30.500000Z");
  EXPECT_EQ(parse_retry_after("Sun Nov  6 08:49:37 1994", early), 6500ms);
}

// EV-112
TEST(RetryTest, ANegativeOrPastRetryAfterIsZero) {
  for (const std::string_view past :
       {"-1", "-99999999999999999999", "Sun, 15 Nov 2026 07:59:59 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"}) {
    EXPECT_EQ(parse_retry_after(past, kNow), 0ms) << past;
    EXPECT_EQ(kExact.before(2, parse_retry_after(past, kNow)), 500ms) << past;
  }
}

// EV-112
TEST(RetryTest, AnUnreadableRetryAfterIsIgnored) {
  for (const std::string_view text :
       {"", " ", "-", "soon", "1.5", "1e3", "+5", "5s", "0x10", "Sun, 15 Nov 2026 08:00:30",
        "Sun, 15 Nov 2026 08:00:30 CET", "Sun, 31 Feb 2026 08:00:30 GMT",
        "Sun, 9999 Nov 2026 08:00:30 GMT", "Sun, 15 Nov 2026 25:00:30 GMT",
        "Sun, 15 Foo 2026 08:00:30 GMT", "2026-11-15T08:00:30Z", "Sun Nov 15 08:00 2026"}) {
    EXPECT_EQ(parse_retry_after(text, kNow), std::nullopt) << text;
    EXPECT_EQ(kExact.before(3, parse_retry_after(text, kNow)), 1000ms) << text;
  }
}

// EV-103
TEST(RetryTest, AWaitThatNobodyDisturbsIsSatOut) {
  const SteadyTime began = std::chrono::steady_clock::now();
  EXPECT_TRUE(wait_for_retry(20ms, began + 10s));
  EXPECT_GE(std::chrono::steady_clock::now() - began, 20ms);
}

// EV-103
TEST(RetryTest, ACancelEndsAWaitAtOnce) {
  std::stop_source cancel;
  const SteadyTime began = std::chrono::steady_clock::now();
  std::optional<Result<void>> ended;
  std::jthread waiting([&] { ended = wait_for_retry(1h, std::nullopt, cancel.get_token()); });
  cancel.request_stop();
  waiting.join();
  ASSERT_FALSE(*ended);
  EXPECT_EQ(ended->error().code, ErrorCode::Cancelled);
  EXPECT_EQ(ended->error().cause, "cancelled");
  EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
  EXPECT_EQ(wait_for_retry(1h, std::nullopt, cancel.get_token()).error().code,
            ErrorCode::Cancelled);
}

// EV-103
TEST(RetryTest, AWaitThatWouldPassTheDeadlineIsNotBegun) {
  const SteadyTime began = std::chrono::steady_clock::now();
  const Result<void> ended = wait_for_retry(1h, began + 30min);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::Deadline);
  EXPECT_EQ(ended.error().cause, "deadline_exceeded");
  EXPECT_LT(std::chrono::steady_clock::now() - began, 1s);
}

}  // namespace
}  // namespace sallyport::core
