// The event stream to a client. A separate coroutine writes the events as they come, so that the
// stream stays alive while a person is asked. The last frame waits for `send_last`.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "base/running_digest.h"
#include "llm/answer_adapter.h"
#include "net/http_server.h"
#include "net/task_group.h"

namespace sallyport::proxy {

// Used on the loop of its request. The request must call `drain` before it is destroyed.
class ClientStream final : public llm::EventSink {
 public:
  static constexpr std::chrono::seconds kQuiet{10};       // pause before a keep-alive (MP-15)
  static constexpr std::size_t kMostWaiting = 64u << 10;  // bytes that wait for the client

  // `keep_alive` writes a keep-alive event into this stream. Both must outlive it.
  ClientStream(net::ServerExchange& client, boost::asio::any_io_executor executor,
               net::ServerResponse head, std::function<void()> keep_alive,
               std::chrono::steady_clock::duration quiet = kQuiet);

  void event(std::string_view name, std::string_view data) override;
  void last(std::string_view name, std::string_view data) override;

  bool has_last() const { return !last_.empty(); }
  bool waits() const { return !waiting_.empty(); }
  bool begun() const { return begun_; }  // bytes have left
  bool client_reads() const { return reads_; }
  std::uint64_t bytes() const { return bytes_; }
  std::optional<std::chrono::steady_clock::time_point> first_byte() const { return first_byte_; }
  std::string digest() const;  // of all bytes that were sent

  // Waits while too many bytes wait for the client.
  Async<void> make_room();
  // Writes what waits and ends the writer. Add no event after this.
  Async<void> drain();
  // Sends the last frame.
  Async<void> send_last();
  // Drops the last frame, so that another one can take its place.
  void replace_last() { last_.clear(); }
  void change_last(const std::function<std::string(std::string)>& change) {
    last_ = change(std::move(last_));
  }

 private:
  Async<void> write_all();
  Async<void> write(std::string piece);

  net::ServerExchange& client_;
  net::ServerResponse head_;
  std::function<void()> keep_alive_;
  std::chrono::steady_clock::duration quiet_;
  boost::asio::steady_timer wake_;     // wakes the writer
  boost::asio::steady_timer written_;  // wakes waiters for the writer
  net::TaskGroup writer_;
  std::string waiting_;
  std::size_t usual_ = 0;  // usual bytes of a write
  std::string last_;
  bool begun_ = false;
  bool reads_ = true;
  bool ending_ = false;
  std::uint64_t bytes_ = 0;
  RunningDigest digest_;
  std::optional<std::chrono::steady_clock::time_point> first_byte_;
};

}  // namespace sallyport::proxy
