// Wakes coroutines that wait for something that another thread may do.
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
  // Returns when the bell rings for `key`, when `longest` has passed or on cancel, whatever is
  // first; the caller looks which. A ring that came before the wait is not heard: look first, and
  // wait only as long as being late is no harm.
  Async<void> wait(std::string key, std::chrono::milliseconds longest, std::stop_token cancel);

  // From any thread.
  void ring(const std::string& key);
  void ring_all();  // for every key
  void ring_one();  // for one of those who wait

 private:
  // Shared: a ring may be on its way to a timer whose wait has just ended.
  using Timer = std::shared_ptr<boost::asio::steady_timer>;
  Guarded<std::multimap<std::string, Timer>> waiting_;
};

}  // namespace sallyport
