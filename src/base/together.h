// Runs several pieces of work at the same time and waits for all of them.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include "base/async.h"

namespace sallyport {

// Starts `works` in order and returns their values in that order. An exception is rethrown after
// all have ended. Call this on a strand or on a context with one thread.
template <class T>
Async<std::vector<T>> together(std::vector<Async<T>> works) {
  namespace asio = boost::asio;
  struct State {
    State(const asio::any_io_executor& executor, std::size_t count)
        : all_done(executor, asio::steady_timer::time_point::max()),
          values(count),
          running(count) {}
    asio::steady_timer all_done;
    std::vector<std::optional<T>> values;
    std::size_t running;
    std::exception_ptr thrown;
  };
  const auto executor = co_await asio::this_coro::executor;
  // Shared with the running work.
  const auto state = std::make_shared<State>(executor, works.size());
  for (std::size_t i = 0; i < works.size(); ++i) {
    asio::co_spawn(executor, std::move(works[i]),
                   [state, i](std::exception_ptr thrown, std::optional<T> value) {
                     if (thrown) state->thrown = std::move(thrown);
                     state->values[i] = std::move(value);
                     if (--state->running == 0) state->all_done.cancel();
                   });
  }
  boost::system::error_code ignored;
  while (state->running > 0) {
    co_await state->all_done.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  if (state->thrown) std::rethrow_exception(state->thrown);
  std::vector<T> values;
  for (std::optional<T>& value : state->values) values.push_back(std::move(*value));
  co_return values;
}

}  // namespace sallyport
