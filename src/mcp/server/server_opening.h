// Finds the era of a server and opens it: with `initialize` if it is stateful, with
// `server/discover` if it is stateless. A server that is restarted is opened again.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/bell.h"
#include "base/clock.h"
#include "mcp/message/era.h"
#include "mcp/server/server_tools.h"
#include "mcp/server/standing_requests.h"
#include "net/task_group.h"

namespace sallyport::mcp {

// Receives the messages of a tool server, on the strand of its session.
class ServerListener {
 public:
  virtual ~ServerListener() = default;
  // The next message of the server waits until these return.
  virtual Async<void> server_asks(Message request) = 0;
  virtual Async<void> server_tells(Message notification) = 0;
  // The server was restarted and opened: its lists may have changed.
  virtual void server_returned() = 0;
};

// Owned by a `ServerSession` and used on its strand.
class ServerOpening {
 public:
  struct Parts {
    Server& server;
    ServerListener& listener;
    ServerTools& tools;
    StandingRequests& standing;
    const ClientProfile& client;
    const Clock& clock;
    net::TaskGroup& tasks;
  };
  struct Settings {
    EraHint era{};
    bool offers_all =
        false;  // several clients share the server, and later ones may be able to more
    Limits limits{};
    Server::Log log;
  };
  ServerOpening(Parts parts, Settings settings) : parts_(parts), settings_(std::move(settings)) {}

  Era era() const { return era_; }
  bool ready() const { return ready_; }
  // True if `notifications/initialized` was sent to the server, or will be.
  bool initialized() const { return initialized_; }
  void set_initialized() { initialized_ = true; }
  // The params of `initialize`, and the result of a server of sessions.
  const std::string& params() const { return params_; }
  const std::string& opening() const { return opening_; }
  const std::string& discovery() const { return discovery_; }  // the result of a stateless server
  // The server's `initialize` or `server/discover` result.
  const std::string& said() const { return era_ == Era::Modern ? discovery_ : opening_; }
  std::uint64_t generation() const { return generation_; }  // counts the server's processes
  // True if the server will not open by itself: it was abandoned, or requires a login.
  bool hopeless() const { return gave_up_ || not_let_in_; }

  // Opens it for a client of sessions, with the params of its `initialize`. Returns the answer of a
  // server of sessions as the client may see it, which may be an error; no value: the server is
  // stateless. The inner error: a guard withholds the answer. The outer one: it did not open.
  Task<std::optional<Result<Message>>> open(std::string params);
  // A request of the client has come: a server that has not opened is opened for it.
  void wake();

  // Returns once it can be asked.
  Task<void> wait_ready(std::chrono::milliseconds longest);

  // Returns once a process or a session of it has begun.
  Task<void> wait_up();
  // A client of sessions wants to hear of what a stateless server tells.
  void listen_for_client();

  // The server's process or session has begun, has ended, or will not be started again.
  void started(bool again);
  void ended();
  void give_up(Error why);

 private:
  Async<void> open_late();
  Async<void> open_stateless();
  Task<void> probe();
  Task<void> open_session(std::string params);
  Async<void> reopen();
  std::string own_params() const;
  void learn_era(Era era) const;
  void set_ready();

  Parts parts_;
  Settings settings_;
  Bell bell_;
  Era era_ = Era::Unknown;
  bool ready_ = false;
  bool initialized_ = false;
  bool opening_now_ = false;
  std::string params_;
  std::string opening_;
  std::string discovery_;
  std::uint64_t generation_ = 0;
  std::optional<Error> gave_up_;
  std::optional<Error> not_let_in_;  // the server wanted a login when it was opened last
  std::optional<Error> unopened_;    // why it could not be opened for a client of sessions
};

}  // namespace sallyport::mcp
