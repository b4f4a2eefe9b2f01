// The queue of messages for one stream of an HTTP client. If the client may reconnect, the newest
// delivered messages are kept for it.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "base/async.h"

namespace sallyport::mcp {

struct OutletLimits {
  std::size_t waiting_bytes = 8u << 20;  // beyond that only the last message is taken
  std::size_t kept_events = 0;           // delivered messages that are kept
  std::size_t kept_bytes = 0;
};

// On the strand of its gateway.
class Outlet {
 public:
  struct Event {
    std::uint64_t number = 0;  // from 1, within this stream
    std::string text{};
    bool last = false;  // nothing follows
  };

  Outlet(const boost::asio::any_io_executor& executor, std::uint64_t number, OutletLimits limits);

  std::uint64_t number() const { return number_; }
  std::uint64_t delivered() const { return delivered_; }  // number of the newest delivered message

  // False: the text was dropped, because the queue is full or no client will read it.
  bool put(std::string text, bool last);
  void close();  // nothing more will be put

  // A reader gets its number. It takes the place of an earlier one, whose connection may be dead
  // without a sign of it.
  std::uint64_t take_over();
  bool is_read_by(std::uint64_t reader) const { return reader == reader_; }
  // The next message for this reader. No value: none came in time, `wake` was called, it is done, or
  // another reader has its place.
  Async<std::optional<Event>> next(std::uint64_t reader, std::chrono::milliseconds longest);
  void wake();
  // Continues after the message of this number, or after the newest that is no longer kept.
  void rewind(std::uint64_t delivered);

  std::size_t bytes() const { return waiting_bytes_ + kept_bytes_; }
  bool closed() const { return closed_; }
  bool waits() const { return delivered_ < last_; }  // some message is not delivered yet
  bool ended() const { return ended_; }              // its last message is there
  // Nothing is left to deliver, and nothing more comes.
  bool done() const { return (closed_ || ended_) && !waits(); }

 private:
  void forget();

  std::uint64_t number_;
  OutletLimits limits_;
  std::deque<Event> events_;
  std::size_t waiting_bytes_ = 0;
  std::size_t kept_bytes_ = 0;
  std::uint64_t last_ = 0;
  std::uint64_t delivered_ = 0;
  std::uint64_t reader_ = 0;
  bool ended_ = false;
  bool closed_ = false;
  bool woken_ = false;
  boost::asio::steady_timer bell_;
};

}  // namespace sallyport::mcp
