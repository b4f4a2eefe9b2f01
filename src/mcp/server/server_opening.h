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
  virtual Async<void> on_server_request(Message request) = 0;
  virtual Async<void> on_server_notification(Message notification) = 0;
  // The server was restarted and opened: its lists may have changed.
  virtual void server_returned() = 0;
  virtual void server_ended() = 0;
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
        false;  // several clients share the server; later ones may have more capabilities
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
  const std::string& description() const { return era_ == Era::Modern ? discovery_ : opening_; }
  std::uint64_t generation() const { return generation_; }  // counts the server's processes
  // True if the server does not open without help: it was given up, or requires a login.
  bool hopeless() const { return gave_up_ || login_required_; }

  // Opens it for a client of sessions, with the params of its `initialize`. Returns the answer of a
  // server of sessions as the client may see it, which may be an error; no value: the server is
  // stateless. The inner error: a guard withholds the answer. The outer one: it did not open.
  Task<std::optional<Result<Message>>> open(std::string params);
  // Opens a server that is not open yet, because the client has sent a request.
  void wake();

  // Returns once it can be asked.
  Task<void> wait_ready(std::chrono::milliseconds longest);

  // Returns once a process or a session of it has begun.
  Task<void> wait_up();
  // Subscribes to notifications of a stateless server for a client of sessions.
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
  void report_era(Era era) const;
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
  std::optional<Error> login_required_;  // the server wanted a login when it was opened last
  std::optional<Error> unopened_;        // why it could not be opened for a client of sessions
};

}  // namespace sallyport::mcp
