// Runs blocking or long work on a pool, and resumes the waiting coroutine with its result.
#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <optional>

#include "base/async.h"

namespace sallyport {

// `work` must own everything that it uses: the caller may be gone when it ends. An exception of
// `work` is rethrown in the waiting coroutine.
template <class T, class Work>
Async<T> on_pool(boost::asio::thread_pool& pool, Work work) {
  namespace asio = boost::asio;
  using Signature = void(std::exception_ptr, std::optional<T>);
  const auto initiate = [&pool](auto handler, Work given) {
    const auto executor = asio::get_associated_executor(handler);
    asio::post(pool, [handler = std::move(handler), given = std::move(given),
                      guard = asio::make_work_guard(executor)]() mutable {
      std::exception_ptr thrown;
      std::optional<T> value;
      try {
        value = given();
      } catch (...) {
        thrown = std::current_exception();
      }
      asio::post(guard.get_executor(),
                 [handler = std::move(handler), thrown, value = std::move(value)]() mutable {
                   std::move(handler)(thrown, std::move(value));
                 });
    });
  };
  std::optional<T> value = co_await asio::async_initiate<const asio::use_awaitable_t<>&, Signature>(
      initiate, asio::use_awaitable, std::move(work));
  co_return std::move(*value);
}

}  // namespace sallyport
