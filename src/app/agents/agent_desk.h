// Puts our own agent together: its gate, its model, its sessions and its tools.
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <optional>
#include <string>

#include "agent/model/open_model.h"
#include "agent/run/run.h"
#include "agent/run/settings.h"
#include "app/gate.h"

namespace sallyport::app {

// One for each process. Before it opens, it closes what dead processes left open (RT-83).
class AgentDesk {
 public:
  // Removes the key of the model from the environment of this process, so that no child process
  // sees it (RT-16).
  static Result<std::unique_ptr<AgentDesk>> open(const Context& context, std::string policy,
                                                 agent::Settings settings);
  AgentDesk(const AgentDesk&) = delete;
  ~AgentDesk();

  Gate& gate() { return *gate_; }
  const agent::Settings& settings() const { return settings_; }
  agent::Model& model() { return *model_; }
  agent::RuntimeParts& parts() { return *parts_; }
  std::optional<std::string> variable(const std::string& name) const;  // never the key

 private:
  explicit AgentDesk(agent::Settings settings) : settings_(std::move(settings)) {}
  Result<void> prepare(Gate& gate);

  agent::Settings settings_;
  std::string key_;  // of the model; empty: none
  std::unique_ptr<sessions::SessionStore> store_;
  std::unique_ptr<core::HostEvents> events_;
  std::unique_ptr<core::FailOpenLog> fail_open_;
  std::unique_ptr<agent::Model> model_;
  std::unique_ptr<agent::RuntimeParts> parts_;
  std::unique_ptr<Gate> gate_;
  boost::asio::thread_pool pool_{4};  // joined before the other members are destroyed
};

// A session that this process works on: its lease and its tools, for any number of runs.
class AgentSession {
 public:
  // `Conflict`, cause `lease_unavailable`: another process works on it. `InvalidInput`: a root or a
  // tool server is not available.
  static Task<std::unique_ptr<AgentSession>> open(AgentDesk& desk, std::string session_id);
  AgentSession(const AgentSession&) = delete;

  const std::string& id() const { return hold_->session_id(); }

  struct RunOptions {
    agent::RunView& view;
    std::shared_ptr<core::Attendant> attendant{};
    bool interactive = false;
    bool parks = false;
    std::stop_token cancel{};
  };
  Task<agent::RunReport> run(std::optional<std::string> message, RunOptions options);

  // Ends background tasks, and releases the session (RT-52).
  Async<void> close();

 private:
  AgentSession(AgentDesk& desk, std::unique_ptr<agent::SessionLease> hold)
      : desk_(desk), hold_(std::move(hold)) {}

  AgentDesk& desk_;
  std::unique_ptr<agent::SessionLease> hold_;
  std::unique_ptr<agent::Toolbox> tools_;
};

}  // namespace sallyport::app
