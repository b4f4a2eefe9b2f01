#include "core/retry.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <span>
#include <utility>

namespace sallyport::core {

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
                                                  std::string_view retry_after, WallTime now,
                                                  Entropy& entropy) const {
  return before(attempt, parse_retry_after(retry_after, now), entropy);
}

std::optional<milliseconds> RetrySchedule::after(std::uint64_t attempt, const ProviderError& error,
                                                 Entropy& entropy) const {
  if (!is_transient(error)) return std::nullopt;
  return before(attempt + 1, asked_wait(error), entropy);
}

Task<void> wait_for_retry(milliseconds wait, SteadyTime now, std::optional<SteadyTime> deadline,
                          std::stop_token cancel) {
  namespace asio = boost::asio;
  const auto cancelled = [] {
    return fail(ErrorCode::Cancelled, "cancelled while waiting for the next attempt", {},
                "cancelled");
  };
  if (cancel.stop_requested()) co_return cancelled();
  if (deadline && now + wait > *deadline) {
    co_return fail(
        ErrorCode::Deadline,
        fmt::format("the next attempt is due in {} ms, after the deadline", wait.count()), {},
        "deadline_exceeded");
  }
  const auto executor = co_await asio::this_coro::executor;
  // Shared: a cancel that comes as the wait ends is posted to a timer that nobody waits for.
  const auto timer = std::make_shared<asio::steady_timer>(executor, wait);
  const std::stop_callback on_cancel(
      cancel, [timer, executor] { asio::post(executor, [timer] { timer->cancel(); }); });
  boost::system::error_code ended_early;
  co_await timer->async_wait(asio::redirect_error(asio::use_awaitable, ended_early));
  if (ended_early || cancel.stop_requested()) co_return cancelled();
  co_return Result<void>{};
}

}  // namespace sallyport::core
