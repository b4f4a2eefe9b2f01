// Remembers requests that a client may repeat because it got no answer: the repeat gets the first
// answer, and nothing happens twice (CO-37).
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/async.h"
#include "base/clock.h"
#include "base/digest.h"
#include "net/server_request.h"

namespace sallyport::api {

// Used on the loop of the server.
class Idempotency {
 public:
  static constexpr std::chrono::minutes kKept{10};
  struct Limits {
    std::size_t answers = 1024;
    std::size_t bytes = 16u << 20;
    std::chrono::milliseconds wait{30'000};  // for the first request to end
  };
  explicit Idempotency(const Clock& clock) : Idempotency(clock, Limits()) {}
  Idempotency(const Clock& clock, Limits limits) : clock_(clock), limits_(limits) {}

  static bool is_key(std::string_view key);  // 8 to 128 visible ASCII characters

  // No value: this is the first request, and the caller calls `finish` later. A value: the answer
  // of the first request. `InvalidInput`, `idempotency_key_reused`: the first one had another body.
  // `Unavailable`, `busy`: there is no room, or the first one still runs.
  Task<std::optional<net::ServerResponse>> begin(std::string name, std::string_view body);
  // Stores the answer of the first request. Answers that ask the client to retry are not stored.
  void finish(const std::string& name, const net::ServerResponse& response);

 private:
  struct Slot {
    explicit Slot(const boost::asio::any_io_executor& executor) : done(executor) {}
    Hash body{};
    SteadyTime at{};
    std::optional<net::ServerResponse> response{};
    boost::asio::steady_timer done;  // cancelled when the response is there
  };
  bool make_room();

  const Clock& clock_;
  Limits limits_;
  std::size_t bytes_ = 0;
  // Shared with requests that wait for the first one.
  std::map<std::string, std::shared_ptr<Slot>> slots_;
};

}  // namespace sallyport::api
