// When to ask a provider again. The schedule only computes; `wait_for_retry` waits.
//
//   const RetrySchedule schedule;
//   if (auto wait = schedule.after(attempt, error, entropy)) {
//     SALLYPORT_CO_CHECK_OK(co_await wait_for_retry(*wait, clock.steady(), deadline, cancel));
//   }
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string_view>

#include "base/async.h"
#include "base/clock.h"
#include "base/entropy.h"
#include "core/provider_error.h"

namespace sallyport::core {

struct RetrySettings {
  std::uint64_t attempts = 6;  // the first one included
  double jitter = 0.25;        // the largest part of a wait that is added to it, from 0 to 0.25
};

class RetrySchedule {
 public:
  explicit RetrySchedule(RetrySettings settings = {}) : settings_(settings) {}

  // The wait before this attempt, counted from 1; nothing when it is one too many. `asked` is what
  // the provider wants: the longer of the two counts, up to 60 s of it.
  std::optional<std::chrono::milliseconds> before(std::uint64_t attempt,
                                                  std::optional<std::chrono::milliseconds> asked,
                                                  Entropy& entropy) const;

  // The same, from the text of a `Retry-After` header.
  std::optional<std::chrono::milliseconds> before(std::uint64_t attempt,
                                                  std::string_view retry_after, WallTime now,
                                                  Entropy& entropy) const;

  // The wait after an attempt that failed so; nothing also when the error is not transient.
  std::optional<std::chrono::milliseconds> after(std::uint64_t attempt, const ProviderError& error,
                                                 Entropy& entropy) const;

 private:
  RetrySettings settings_;
};

// `Retry-After`: whole seconds or an HTTP date (RFC 9110, all three forms). Negative or past is
// zero, unreadable is nothing. Not limited to 60 s: a proxy passes it on as it is.
std::optional<std::chrono::milliseconds> parse_retry_after(std::string_view text, WallTime now);

// Sits out `wait`. `Cancelled` at once when somebody cancels; `Deadline` without waiting when the
// wait would end after `deadline`. Their causes are `cancelled` and `deadline_exceeded`. On a
// strand, or on a context with one thread.
Task<void> wait_for_retry(std::chrono::milliseconds wait, SteadyTime now,
                          std::optional<SteadyTime> deadline, std::stop_token cancel);

}  // namespace sallyport::core
