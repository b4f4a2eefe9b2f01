// Runs a task to its end, for commands that do one thing after another.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "base/async.h"

namespace sallyport::app {

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

}  // namespace sallyport::app
