// Runs a task to its end, for commands that do one thing after another.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "base/async.h"

namespace sallyport {

template <class T>
Result<T> run_on(boost::asio::io_context& loop, Task<T> task) {
  Result<T> answer = fail(ErrorCode::Internal, "a task ended without an answer");
  boost::asio::co_spawn(loop, std::move(task),
                        [&](const std::exception_ptr& thrown, Result<T> value) {
                          if (!thrown) answer = std::move(value);
                        });
  loop.restart();
  loop.run();
  return answer;
}

// The same, on a loop of its own.
template <class T>
Result<T> run_alone(Task<T> task) {
  boost::asio::io_context loop(1);
  return run_on(loop, std::move(task));
}

// Work that does not fail.
template <class T>
Task<T> as_task(Async<T> work) {
  co_return co_await std::move(work);
}

}  // namespace sallyport
