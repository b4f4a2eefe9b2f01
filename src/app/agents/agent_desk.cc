#include "app/agents/agent_desk.h"

#include <stdlib.h>

#include "agent/run/recovery.h"
#include "app/agents/agent_servers.h"
#include "app/agents/agent_store.h"
#include "base/run_on.h"
#include "base/try.h"
#include "ledger/read/last_record.h"

namespace sallyport::app {

Result<std::unique_ptr<AgentDesk>> AgentDesk::open(const Context& context, std::string policy,
                                                   agent::Settings settings) {
  std::unique_ptr<AgentDesk> desk(new AgentDesk(std::move(settings)));
  const std::string& name = desk->settings_.model.api_key_env;
  if (!name.empty()) {
    desk->key_ = variable_of_this_process(name).value_or("");
    unsetenv(name.c_str());
  }
  SALLYPORT_TRY(
      desk->gate_,
      Gate::open(context, {.role = "agent",
                           .front = "agent",
                           .policy = std::move(policy),
                           .before_start = [&desk](Gate& gate) { return desk->prepare(gate); }}));
  return desk;
}

AgentDesk::~AgentDesk() {
  pool_.join();
}

std::optional<std::string> AgentDesk::variable(const std::string& name) const {
  if (name == settings_.model.api_key_env) return std::nullopt;
  return variable_of_this_process(name);
}

Result<void> AgentDesk::prepare(Gate& gate) {
  Workspace& workspace = gate.workspace();
  const std::filesystem::path& folder = workspace.place().data_dir;
  SALLYPORT_TRY(store_,
                sessions::SessionStore::open({.file = agents_file(folder)}, workspace.clock()));
  events_ = std::make_unique<core::HostEvents>(gate.governor().emitter(), gate.recorder(),
                                               gate.recorder());
  fail_open_ = std::make_unique<core::FailOpenLog>(
      gate.recorder(), [&gate](std::string_view line) { gate.log(line); });
  parts_ = std::unique_ptr<agent::RuntimeParts>(new agent::RuntimeParts{
      .executor = gate.loop().get_executor(),
      .pool = pool_,
      .governor = gate.governor(),
      .recorder = gate.recorder(),
      .events = *events_,
      .fail_open = *fail_open_,
      .plans = gate.plans(),
      .redactor = workspace.redactor(),
      .clock = workspace.clock(),
      .entropy = workspace.entropy(),
      .digest = gate.ledger().digest(),
      .store = *store_,
      .last_record =
          [&workspace](const std::string& session_id, const std::string& tool_call_id,
                       WallTime since) {
            return ledger::last_record(workspace.store(), session_id, tool_call_id, since);
          },
      .data_folder = folder,
      .log = [&gate](std::string_view line) { gate.log(line); }});
  // Before anything is closed: a script with a bad turn, or a missing key, changes nothing.
  SALLYPORT_TRY(model_, agent::open_model(settings_.model,
                                          {.executor = gate.loop().get_executor(),
                                           .redactor = workspace.redactor(),
                                           .clock = workspace.clock(),
                                           .variable = [this](const std::string& name) {
                                             const bool key = name == settings_.model.api_key_env;
                                             if (!key) return variable_of_this_process(name);
                                             return key_.empty() ? std::nullopt
                                                                 : std::optional(key_);
                                           }}));
  return run_on(gate.loop(), agent::close_left_behind(*parts_));
}

Task<std::unique_ptr<AgentSession>> AgentSession::open(AgentDesk& desk, std::string session_id) {
  agent::RuntimeParts& parts = desk.parts();
  SALLYPORT_CO_TRY(
      std::unique_ptr<agent::SessionLease> hold,
      co_await agent::SessionLease::take(parts, std::move(session_id), desk.settings().id));
  std::unique_ptr<AgentSession> session(new AgentSession(desk, std::move(hold)));
  agent::SessionLease& held = *session->hold_;
  Result<std::unique_ptr<agent::Toolbox>> tools = agent::Toolbox::open(
      desk.settings(),
      {.executor = parts.executor,
       .pool = parts.pool,
       .events = parts.events,
       .store = parts.store,
       .clock = parts.clock,
       .entropy = parts.entropy,
       .redactor = parts.redactor,
       .instance_id = parts.recorder.instance_id(),
       .data_folder = parts.data_folder,
       .lease = [&held] { return held.lease(); },
       .variable = [&desk](const std::string& name) { return desk.variable(name); },
       .log = parts.log});
  if (!tools) {
    co_await held.release();
    co_return std::unexpected(tools.error());
  }
  session->tools_ = std::move(*tools);
  if (desk.settings().servers.empty()) co_return std::move(session);
  Result<std::unique_ptr<ServerTools>> joined =
      co_await ServerTools::open(std::move(session->tools_), desk.settings().servers,
                                 {.executor = parts.executor,
                                  .pins = desk.gate().parts().pins,
                                  .login = {parts.data_folder, parts.clock, parts.entropy},
                                  .log = parts.log});
  if (!joined) {
    co_await held.release();
    co_return std::unexpected(joined.error());
  }
  session->tools_ = std::move(*joined);
  co_return std::move(session);
}

Task<agent::RunReport> AgentSession::run(std::optional<std::string> message, RunOptions options) {
  agent::Run run({.runtime = desk_.parts(),
                  .settings = desk_.settings(),
                  .model = desk_.model(),
                  .tools = *tools_,
                  .lease = *hold_,
                  .view = options.view,
                  .attendant = std::move(options.attendant),
                  .interactive = options.interactive,
                  .parks = options.parks},
                 std::move(options.cancel));
  co_return co_await run.go(std::move(message));
}

Async<void> AgentSession::close() {
  co_await tools_->stop();
  co_await hold_->release();
}

}  // namespace sallyport::app
