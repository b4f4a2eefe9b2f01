// Rate limits: requests a second from one session, and logins a minute from one address.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>

#include "base/clock.h"

namespace sallyport::api {

// Counts within a sliding window. Bounded: if there is no room for one more name, the oldest name
// is forgotten. Used on the loop of the server.
class Rate {
 public:
  struct Limits {
    std::size_t most = 50;
    std::chrono::milliseconds window{1000};
    std::size_t names = 4096;
  };
  Rate(const Clock& clock, Limits limits) : clock_(clock), limits_(limits) {}

  struct Room {
    bool ok = true;
    std::size_t left = 0;           // requests that are still allowed now
    std::chrono::seconds retry{0};  // until the next request is allowed
  };
  // Counts one request if there is room for it.
  Room take(const std::string& name);

 private:
  void forget();

  const Clock& clock_;
  Limits limits_;
  std::map<std::string, std::deque<SteadyTime>> times_;
};

}  // namespace sallyport::api
