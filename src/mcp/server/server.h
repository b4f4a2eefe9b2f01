// A tool server as the gateway sees it.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/async.h"
#include "mcp/message/limits.h"
#include "mcp/message/message.h"

namespace sallyport::mcp {

// The cause of an error: the server requires a login of a person first.
inline constexpr std::string_view kLoginRequired = "not_let_in";

// The reply to a request: a message, bytes that are not a message, or an error.
struct Response {
  std::optional<Message> message{};
  std::optional<std::string> malformed{};
  Error error{};  // set if there is neither
};
Response failed(std::string reason);

// Waits for an answer and receives it exactly once. Shared, because the request may be abandoned
// meanwhile.
class Waiter {
 public:
  virtual ~Waiter() = default;
  virtual Async<void> answered(Response reply) = 0;

  // True: after the request was abandoned, it still receives the answer, or `no_answer_came`.
  virtual bool wants_late_answer() const { return false; }
  virtual void no_answer_came() {}
};

// A connection to a tool server. The gateway owns it. All methods run on one strand, or on a
// context with one thread.
class Server {
 public:
  // Receives what the server sends. Messages of one stream come in their order; the next one waits
  // until the listener returns.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual Async<void> on_server_request(Message request) = 0;
    virtual Async<void> on_server_notification(Message notification) = 0;
    // A process or a session begins; `again`: there was one before. Must not block.
    virtual void server_started(bool again) = 0;
    virtual void server_ended(const std::string& reason) = 0;
  };

  using Log = std::function<void(std::string_view line)>;
  using Compose = std::function<std::string(std::string_view id)>;

  // The dependencies of every kind of server.
  struct Parts {
    boost::asio::any_io_executor executor;
    Limits limits;
    Listener& listener;
    Log log;         // our lines about the server
    Log server_log;  // the server's own lines, for operators
  };

  virtual ~Server() = default;

  // Keeps the server running, or reachable, until `stop`. `Unavailable`: it was never ready, and
  // all attempts are used up.
  virtual Task<void> run() = 0;
  virtual Async<void> stop() = 0;

  virtual bool up() const = 0;
  virtual void ready() = 0;  // it has answered `initialize` or `server/discover`
  // True while a person logs in. That time does not count as time of the server.
  virtual bool logging_in() const { return false; }

  // Sends a request. `compose` makes its text for the id that it gets. An error: it was not sent.
  virtual Result<std::uint64_t> request(const Compose& compose, std::shared_ptr<Waiter> waiter) = 0;
  // Abandons the request and cancels it at the server. `reason` is JSON text.
  virtual void abandon(std::uint64_t id, std::string_view reason) = 0;
  // Sends an answer or a notification. False: the queue is full, or the server no longer reads.
  virtual bool send(std::string text) = 0;

  // Sends a request and waits for the answer.
  Task<Message> ask(std::string method, std::string params, std::chrono::milliseconds longest);
};

using ServerMaker = std::function<std::unique_ptr<Server>(Server::Parts parts)>;

}  // namespace sallyport::mcp
