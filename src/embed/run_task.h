// Runs tasks on the engine's loop.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <future>

#include "base/async.h"

namespace sallyport::embed {

// Runs the task on its own strand and blocks this thread until the result is there.
template <class T>
Result<T> run_task(boost::asio::io_context& loop, Task<T> task) {
  std::promise<Result<T>> promise;
  std::future<Result<T>> answer = promise.get_future();
  boost::asio::co_spawn(
      boost::asio::make_strand(loop), std::move(task),
      // The handler owns the promise: the waiting thread may return before `set_value` does.
      [promise = std::move(promise)](const std::exception_ptr& thrown, Result<T> result) mutable {
        promise.set_value(thrown ? Result<T>(fail(ErrorCode::Internal, "the engine failed"))
                                 : std::move(result));
      });
  return answer.get();
}

// Starts a task without waiting, for work whose outcome is not needed.
inline void start_task(boost::asio::io_context& loop, Task<void> task) {
  boost::asio::co_spawn(boost::asio::make_strand(loop), std::move(task), boost::asio::detached);
}

}  // namespace sallyport::embed
