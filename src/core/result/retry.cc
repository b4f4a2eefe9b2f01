#include "sallyport/retry.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <span>

#include "base/clock.h"
#include "base/entropy.h"

namespace sallyport {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds kFirstWait{500};
constexpr milliseconds kLongestWait{5'000};
constexpr milliseconds kMostOfWhatIsAsked{60'000};
constexpr double kLargestJitter = 0.25;

milliseconds scheduled(std::uint64_t attempt) {
  const std::uint64_t doublings = std::min<std::uint64_t>(attempt - 2, 4);
  return std::min(kFirstWait * (1 << doublings), kLongestWait);
}

// Evenly from 0 to 1.
double random_part(Entropy& entropy) {
  std::uint32_t bits = 0;
  entropy.fill(std::span(reinterpret_cast<std::uint8_t*>(&bits), sizeof bits));
  return static_cast<double>(bits) / static_cast<double>(0xFFFFFFFFu);
}

}  // namespace

std::optional<milliseconds> RetrySchedule::before(std::uint64_t attempt,
                                                  std::optional<milliseconds> asked,
                                                  Entropy& entropy) const {
  if (attempt > settings_.attempts) return std::nullopt;
  if (attempt < 2) return milliseconds(0);
  const milliseconds wait =
      std::max(scheduled(attempt), std::min(asked.value_or(milliseconds(0)), kMostOfWhatIsAsked));
  const double jitter = std::clamp(settings_.jitter, 0.0, kLargestJitter);
  if (jitter == 0.0) return wait;
  const double longer = static_cast<double>(wait.count()) * jitter * random_part(entropy);
  return wait + milliseconds(static_cast<std::int64_t>(longer));
}

std::optional<milliseconds> RetrySchedule::before(std::uint64_t attempt,
                                                  std::optional<milliseconds> asked) const {
  SystemEntropy entropy;
  return before(attempt, asked, entropy);
}

std::optional<milliseconds> RetrySchedule::after(std::uint64_t attempt,
                                                 const ProviderError& error) const {
  if (!is_transient(error)) return std::nullopt;
  return before(attempt + 1, asked_wait(error));
}

Result<void> wait_for_retry(milliseconds wait, std::optional<SteadyTime> deadline,
                            std::stop_token cancel) {
  const SteadyTime until = std::chrono::steady_clock::now() + wait;
  if (deadline && until > *deadline && !cancel.stop_requested()) {
    return fail(ErrorCode::Deadline,
                fmt::format("the next attempt is due in {} ms, after the deadline", wait.count()),
                {}, "deadline_exceeded");
  }
  std::mutex mutex;
  std::condition_variable_any bell;
  std::unique_lock lock(mutex);
  bell.wait_until(lock, cancel, until, [] { return false; });
  if (!cancel.stop_requested()) return {};
  return fail(ErrorCode::Cancelled, "cancelled while waiting for the next attempt", {},
              "cancelled");
}

}  // namespace sallyport
