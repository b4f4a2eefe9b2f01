// A tool server that speaks over its standard streams: started, kept running, asked, and ended.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async.h"
#include "mcp/limits.h"
#include "mcp/message.h"
#include "net/child_process.h"
#include "net/line_reader.h"
#include "net/line_writer.h"
#include "net/task_group.h"

namespace sallyport::mcp {

// What came of a request: a message, bytes that are none, or neither.
struct Reply {
  std::optional<Message> message{};
  std::optional<std::string> malformed{};
  Error error{};  // where there is neither: why
};

// Waits for an answer, and is told exactly once. Shared: the request may be abandoned meanwhile.
class Waiter {
 public:
  virtual ~Waiter() = default;
  virtual Async<void> answered(Reply reply) = 0;
};

// Everything runs on one strand, or on a context with one thread.
class Server {
 public:
  // Hears of the server in the order in which things happened; the next thing waits meanwhile.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual Async<void> server_asks(Message request) = 0;
    virtual Async<void> server_tells(Message notification) = 0;
    // A process was started, `again` where another one ran before. Must not wait.
    virtual void server_started(bool again) = 0;
    virtual void server_ended(const std::string& how) = 0;
  };

  using Log = std::function<void(std::string_view line)>;
  using Compose = std::function<std::string(std::string_view id)>;

  Server(boost::asio::any_io_executor executor, std::vector<std::string> command, Limits limits,
         Listener& listener, Log log, Log server_log);

  // Starts it, and starts it again when it ends, until `stop`. `Unavailable`: it never was ready
  // and was tried often enough.
  Task<void> run();
  Async<void> stop();

  bool up() const { return connection_ != nullptr; }
  // It has answered an opening.
  void ready() {
    was_ready_ = true;
    is_ready_ = true;
  }

  // The text is made for the id that the request gets. An error: it was not sent.
  Result<std::uint64_t> request(const Compose& compose, std::shared_ptr<Waiter> waiter);
  // Nobody waits for it any more; the server is told, unless `quietly`.
  void abandon(std::uint64_t id, std::string_view reason, bool quietly = false);
  // Asks and waits.
  Task<Message> ask(std::string method, std::string params, std::chrono::milliseconds longest);

  // False: too much waits, or nobody reads.
  bool send(std::string text);

 private:
  struct Connection {
    Connection(std::unique_ptr<net::ChildProcess> child, const Limits& limits);
    std::unique_ptr<net::ChildProcess> process;
    net::LineReader reader;
    net::LineReader error_reader;
    net::LineWriter writer;
  };

  Async<void> serve();
  Async<void> hear(net::Line line);
  Async<void> hear_answer(Message answer);
  Async<void> hear_wreck(std::string bytes, std::string id, std::string_view why);
  Async<void> copy_errors();
  Async<void> fail_pending(std::string how);
  Async<void> pause(std::chrono::milliseconds longest);
  void complain(std::string_view what, std::string_view about);

  boost::asio::any_io_executor executor_;
  std::vector<std::string> command_;
  Limits limits_;
  Listener& listener_;
  Log log_;
  Log server_log_;
  std::unique_ptr<Connection> connection_;
  std::map<std::uint64_t, std::shared_ptr<Waiter>> pending_;  // shared with those who wait
  std::deque<std::uint64_t> abandoned_;  // the newest, whose answers may still come
  std::uint64_t last_id_ = 0;
  std::uint64_t complaints_ = 0;
  bool was_ready_ = false;
  bool is_ready_ = false;  // the process that runs now
  bool useful_ = false;    // it has answered something since
  bool stopping_ = false;
  boost::asio::steady_timer pause_;
};

}  // namespace sallyport::mcp
