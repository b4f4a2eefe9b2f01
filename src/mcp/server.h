// A tool server as the gateway sees it: something that is there or not, is asked, and ends.
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
#include "mcp/limits.h"
#include "mcp/message.h"

namespace sallyport::mcp {

// The cause of an error: the server requires a login of a person first.
inline constexpr std::string_view kNotLetIn = "not_let_in";

// What came of a request: a message, bytes that are none, or neither.
struct Reply {
  std::optional<Message> message{};
  std::optional<std::string> malformed{};
  Error error{};  // where there is neither: why
};
Reply failed(std::string how);

// Waits for an answer, and is told exactly once. Shared: the request may be abandoned meanwhile.
class Waiter {
 public:
  virtual ~Waiter() = default;
  virtual Async<void> answered(Reply reply) = 0;

  // True: is told of an answer also when the request was abandoned before it came, or of none.
  virtual bool hears_late() const { return false; }
  virtual void hears_nothing() {}
};

// Everything runs on one strand, or on a context with one thread.
class Server {
 public:
  // Hears of the server. What comes on one stream is told in its order; the next thing on that
  // stream waits meanwhile.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual Async<void> server_asks(Message request) = 0;
    virtual Async<void> server_tells(Message notification) = 0;
    // A process or a session begins, `again` where another one was before. Must not wait.
    virtual void server_started(bool again) = 0;
    virtual void server_ended(const std::string& how) = 0;
  };

  using Log = std::function<void(std::string_view line)>;
  using Compose = std::function<std::string(std::string_view id)>;

  // What each kind of server is made with.
  struct Means {
    boost::asio::any_io_executor executor;
    Limits limits;
    Listener& listener;
    Log log;         // what we say about it
    Log server_log;  // what it says itself, for people
  };

  virtual ~Server() = default;

  // Keeps it running, or reachable, until `stop`. `Unavailable`: it never was ready and was tried
  // often enough.
  virtual Task<void> run() = 0;
  virtual Async<void> stop() = 0;

  virtual bool up() const = 0;
  virtual void ready() = 0;  // it has answered an opening
  // True while a person logs in. That time does not count as time of the server.
  virtual bool logging_in() const { return false; }

  // The text is made for the id that the request gets. An error: it was not sent.
  virtual Result<std::uint64_t> request(const Compose& compose, std::shared_ptr<Waiter> waiter) = 0;
  // Gives up the request; the server is told. `reason` is JSON text.
  virtual void abandon(std::uint64_t id, std::string_view reason) = 0;
  // Sends an answer or a notification. False: the queue is full, or the server no longer reads.
  virtual bool send(std::string text) = 0;

  // Asks and waits.
  Task<Message> ask(std::string method, std::string params, std::chrono::milliseconds longest);
};

using ServerMaker = std::function<std::unique_ptr<Server>(Server::Means means)>;

}  // namespace sallyport::mcp
