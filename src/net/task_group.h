// Owns coroutines that run beside the one that started them. Their owner joins them before it ends.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include "base/async.h"

namespace sallyport::net {

// On a strand, or on a context with one thread.
class TaskGroup {
 public:
  // `failed` is called for a coroutine that ended by an exception, which is a bug.
  TaskGroup(boost::asio::any_io_executor executor, std::function<void(std::string_view)> failed);
  TaskGroup(const TaskGroup&) = delete;
  ~TaskGroup();

  void start(Async<void> work);
  std::size_t size() const;

  // Cancels all coroutines where they wait.
  void cancel();
  // True: all have ended.
  Async<bool> join(std::chrono::milliseconds longest);

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with coroutines, which may outlive an unjoined group
};

}  // namespace sallyport::net
