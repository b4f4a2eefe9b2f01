// When to ask a model provider again (EV-99 to EV-104).
//
//   const RetrySchedule schedule;
//   for (std::uint64_t attempt = 1;; ++attempt) {
//     const std::optional<ProviderError> error = send_request(attempt);
//     if (!error) break;
//     const auto wait = schedule.after(attempt, *error);
//     if (!wait || !wait_for_retry(*wait)) break;
//   }
//
// The schedule only computes. It waits 500, 1,000, 2,000, 4,000 and 5,000 ms before attempts 2 to
// 6, or as long as the provider asks, at most 60 s; then a random part of up to a quarter is added.
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

struct RetrySettings {
  std::uint64_t attempts = 6;  // the first one included
  double jitter = 0.25;        // the largest part of a wait that is added to it, from 0 to 0.25
};

// A value, from any thread.
class RetrySchedule {
 public:
  explicit RetrySchedule(RetrySettings settings = {}) : settings_(settings) {}

  // The wait before this attempt, counted from 1; nothing: it is one too many. `asked` is what the
  // provider asks for.
  std::optional<std::chrono::milliseconds> before(
      std::uint64_t attempt, std::optional<std::chrono::milliseconds> asked = {}) const;
  // The wait after an attempt that failed so; nothing also where the error is not transient.
  std::optional<std::chrono::milliseconds> after(std::uint64_t attempt,
                                                 const ProviderError& error) const;

  // The same with given randomness, for tests.
  std::optional<std::chrono::milliseconds> before(std::uint64_t attempt,
                                                  std::optional<std::chrono::milliseconds> asked,
                                                  Entropy& entropy) const;

 private:
  RetrySettings settings_;
};

// `Retry-After`: whole seconds or an HTTP date (RFC 9110, all three forms). Negative or past is
// zero, unreadable is nothing. Not limited to 60 s: a proxy passes it on as it is.
std::optional<std::chrono::milliseconds> parse_retry_after(
    std::string_view text, std::chrono::sys_time<std::chrono::microseconds> now);

// Waits on this thread. `Cancelled` at once when `cancel` is triggered; `Deadline`, without
// waiting, where the wait would end after `deadline`. Their causes are `cancelled` and
// `deadline_exceeded`.
Result<void> wait_for_retry(std::chrono::milliseconds wait,
                            std::optional<std::chrono::steady_clock::time_point> deadline = {},
                            std::stop_token cancel = {});

}  // namespace sallyport
