// Wakes coroutines that wait for an event from another thread.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <stop_token>
#include <string>

#include "base/async.h"
#include "base/guarded.h"

namespace sallyport {

class Bell {
 public:
  // Returns when the bell rings for `key`, when `longest` has passed, or on cancel. The caller
  // checks which. A ring before the wait is lost: check first, and choose `longest` so that a late
  // wake-up does no harm.
  Async<void> wait(std::string key, std::chrono::milliseconds longest, std::stop_token cancel);

  // From any thread.
  void ring(const std::string& key);
  void ring_all();  // for every key
  void ring_one();  // for one waiting coroutine

 private:
  // Shared: a ring may reach a timer after its wait has ended.
  using Timer = std::shared_ptr<boost::asio::steady_timer>;
  Guarded<std::multimap<std::string, Timer>> waiting_;
};

}  // namespace sallyport
