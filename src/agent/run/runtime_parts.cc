#include "agent/run/runtime_parts.h"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/race.h"

namespace sallyport::agent {

namespace {

Async<bool> wait_out(std::chrono::milliseconds time) {
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, time);
  boost::system::error_code ignored;
  co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
  co_return true;
}

}  // namespace

Async<bool> wait_by_timer(std::chrono::milliseconds time, std::stop_token cancel) {
  if (cancel.stop_requested()) co_return false;
  const Raced<bool> raced = co_await race(wait_out(time), SteadyTime::max(), std::move(cancel));
  co_return raced.value.has_value();
}

}  // namespace sallyport::agent
