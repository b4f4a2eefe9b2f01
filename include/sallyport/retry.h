// When to send a request to a model provider again (EV-99 to EV-104).
//
//   const RetrySchedule schedule;
//   for (std::uint64_t attempt = 1;; ++attempt) {
//     const std::optional<ProviderError> error = send_request(attempt);
//     if (!error) break;
//     const auto wait = schedule.after(attempt, *error);
//     if (!wait || !wait_for_retry(*wait)) break;
//   }
//
// The schedule only computes; `wait_for_retry` waits. The waits before attempts 2 to 6 are 500,
// 1,000, 2,000, 4,000 and 5,000 ms, or what the provider asks for, at most 60 s. A random part of
// up to a quarter is added.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string_view>

#include "sallyport/model_error.h"
#include "sallyport/result.h"

namespace sallyport {

class Entropy;

// The settings of a schedule.
struct RetrySettings {
  std::uint64_t attempts = 6;  // including the first one
  double jitter = 0.25;        // the largest random part of a wait, from 0 to 0.25
};

// A value. Its methods may be called from any thread.
class RetrySchedule {
 public:
  explicit RetrySchedule(RetrySettings settings = {}) : settings_(settings) {}

  // The wait before this attempt, counted from 1. No value: there are no more attempts. `asked` is
  // the wait that the provider asks for.
  std::optional<std::chrono::milliseconds> before(
      std::uint64_t attempt, std::optional<std::chrono::milliseconds> asked = {}) const;
  // The wait after an attempt that failed with `error`. No value: there are no more attempts, or
  // the error is not transient.
  std::optional<std::chrono::milliseconds> after(std::uint64_t attempt,
                                                 const ProviderError& error) const;

  // As above, with given randomness, for tests.
  std::optional<std::chrono::milliseconds> before(std::uint64_t attempt,
                                                  std::optional<std::chrono::milliseconds> asked,
                                                  Entropy& entropy) const;

 private:
  RetrySettings settings_;
};

// Parses `Retry-After`: whole seconds or an HTTP date (RFC 9110, all three forms). A negative
// number or a past date is zero. No value: the text is unreadable. The result is not limited to 60
// s, because a proxy passes it on unchanged.
std::optional<std::chrono::milliseconds> parse_retry_after(
    std::string_view text, std::chrono::sys_time<std::chrono::microseconds> now);

// Blocks this thread for `wait`. Returns `Cancelled` (cause `cancelled`) as soon as `cancel` is
// triggered. Returns `Deadline` (cause `deadline_exceeded`) without waiting if the wait would end
// after `deadline`.
Result<void> wait_for_retry(std::chrono::milliseconds wait,
                            std::optional<std::chrono::steady_clock::time_point> deadline = {},
                            std::stop_token cancel = {});

}  // namespace sallyport
