#include "base/bell.h"

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace sallyport {

namespace asio = boost::asio;

namespace {

void end_wait(const std::shared_ptr<asio::steady_timer>& timer) {
  asio::post(timer->get_executor(), [timer] { timer->cancel(); });
}

}  // namespace

Async<void> Bell::wait(std::string key, std::chrono::milliseconds longest, std::stop_token cancel) {
  const auto timer = std::make_shared<asio::steady_timer>(co_await asio::this_coro::executor);
  timer->expires_after(longest);
  const auto place = waiting_.with([&](auto& waiting) { return waiting.emplace(key, timer); });
  {
    const std::stop_callback on_cancel(cancel, [timer] { end_wait(timer); });
    boost::system::error_code ignored;
    co_await timer->async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  waiting_.with([&](auto& waiting) { waiting.erase(place); });
}

// Under the lock, so that the waiting coroutine cannot end meanwhile and its timer's loop with it.
void Bell::ring(const std::string& key) {
  waiting_.with([&](auto& waiting) {
    const auto [begin, end] = waiting.equal_range(key);
    for (auto place = begin; place != end; ++place) end_wait(place->second);
  });
}

void Bell::ring_all() {
  waiting_.with([](auto& waiting) {
    for (const auto& [key, timer] : waiting) end_wait(timer);
  });
}

void Bell::ring_one() {
  waiting_.with([](auto& waiting) {
    if (!waiting.empty()) end_wait(waiting.begin()->second);
  });
}

}  // namespace sallyport
