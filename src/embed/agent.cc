#include "sallyport/agent.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/strand.hpp>

#include "agent/model/open_model.h"
#include "agent/run/recovery.h"
#include "agent/run/run.h"
#include "agent/run/settings.h"
#include "base/try.h"
#include "embed/either_stop.h"
#include "embed/engine_body.h"
#include "embed/engine_tools.h"
#include "ledger/read/last_record.h"

namespace sallyport {

namespace {

agent::Settings settings_of(const AgentOptions& options) {
  agent::Settings settings{
      .id = options.id,
      .system = options.system,
      .model = {.provider = static_cast<agent::Provider>(options.model.provider),
                .base_url = options.model.base_url,
                .model = options.model.name,
                .script = options.model.script,
                .api_key_env = options.model.key.empty() ? "" : "key",
                .max_output_tokens = options.model.max_output_tokens}};
  for (const AgentRoot& root : options.roots) {
    settings.roots.push_back({root.path, root.write, root.deny});
  }
  if (options.shell) settings.shell = agent::ShellSettings{.env = options.shell_variables};
  settings.memory.recall = options.recall;
  settings.limits = {options.limits.deadline, options.limits.model_requests,
                     options.limits.tool_calls, options.limits.tokens};
  return settings;
}

Result<void> check(const AgentOptions& options) {
  const auto wrong = [](const char* where, const char* message) {
    return fail(ErrorCode::InvalidInput, message, where);
  };
  if (options.id.empty()) return wrong("id", "`id` is empty, name the agent");
  if (options.model.name.empty()) return wrong("model.name", "`model.name` is empty");
  const AgentLimits& limits = options.limits;
  if (limits.deadline.count() <= 0 || limits.model_requests == 0 || limits.tool_calls == 0 ||
      limits.tokens == 0) {
    return wrong("limits", "a limit is 0; give a positive number");
  }
  return {};
}

class Watch final : public agent::RunView {
 public:
  explicit Watch(const AgentWatch& watch) : watch_(watch) {}
  void text(std::string_view piece) override {
    if (watch_.on_text) watch_.on_text(piece);
  }
  void calling(const Call& call) override {
    if (watch_.on_call) watch_.on_call(call);
  }
  void answered(const Call& call, const Answer& answer) override {
    if (watch_.on_answer) watch_.on_answer(call, answer);
  }

 private:
  const AgentWatch& watch_;
};

AgentStatus status_of(sessions::RunStatus status) {
  switch (status) {
    case sessions::RunStatus::Finished:
      return AgentStatus::Finished;
    case sessions::RunStatus::Aborted:
      return AgentStatus::Aborted;
    case sessions::RunStatus::AwaitingApproval:
      return AgentStatus::AwaitingApproval;
    case sessions::RunStatus::Running:
    case sessions::RunStatus::Failed:
      return AgentStatus::Failed;
  }
  return AgentStatus::Failed;
}

}  // namespace

std::string_view to_string(AgentStatus status) {
  switch (status) {
    case AgentStatus::Finished:
      return "finished";
    case AgentStatus::Failed:
      return "failed";
    case AgentStatus::Aborted:
      return "aborted";
    case AgentStatus::AwaitingApproval:
      return "awaiting_approval";
  }
  return "failed";
}

struct Agent::Body {
  Body(Engine::Body& given, AgentOptions agent_options)
      : engine(given),
        options(std::move(agent_options)),
        settings(settings_of(options)),
        fail_open(*engine.ledger) {}

  // The parts of one run, on a strand of its own.
  agent::RuntimeParts parts(const boost::asio::any_io_executor& executor) {
    return {
        .executor = executor,
        .pool = pool,
        .governor = *engine.governor,
        .recorder = *engine.ledger,
        .events = *engine.host_events,
        .fail_open = fail_open,
        .plans = *engine.plans,
        .redactor = *engine.redactor,
        .clock = engine.clock,
        .entropy = engine.entropy,
        .digest = engine.ledger->digest(),
        .store = *store,
        .last_record =
            [this](const std::string& session_id, const std::string& tool_call_id, WallTime since) {
              return ledger::last_record(*engine.store, session_id, tool_call_id, since);
            },
        .data_folder = engine.folder,
        .log =
            [this](std::string_view line) {
              if (options.log) options.log(line);
            }};
  }

  std::optional<std::string> variable(const std::string& name) const {
    return options.variable ? options.variable(name) : std::nullopt;
  }

  Result<std::unique_ptr<agent::Model>> model(const boost::asio::any_io_executor& executor) const {
    return agent::open_model(settings.model, {.executor = executor,
                                              .redactor = *engine.redactor,
                                              .clock = engine.clock,
                                              .variable = [this](const std::string& name) {
                                                return name == settings.model.api_key_env
                                                           ? std::optional(options.model.key)
                                                           : variable(name);
                                              }});
  }

  Task<AgentRun> go(std::string session_id, std::optional<std::string> message, AgentWatch watch);

  Engine::Body& engine;
  AgentOptions options;
  agent::Settings settings;
  core::FailOpenLog fail_open;
  std::unique_ptr<sessions::SessionStore> store;
  boost::asio::thread_pool pool{4};
};

Task<AgentRun> Agent::Body::go(std::string session_id, std::optional<std::string> message,
                               AgentWatch watch) {
  const boost::asio::any_io_executor executor = co_await boost::asio::this_coro::executor;
  agent::RuntimeParts runtime = parts(executor);
  SALLYPORT_CO_TRY(const std::unique_ptr<agent::Model> talker, model(executor));
  SALLYPORT_CO_TRY(const std::unique_ptr<agent::SessionLease> hold,
                   co_await agent::SessionLease::take(runtime, session_id, settings.id));
  agent::ToolParts tool_parts{
      .executor = executor,
      .pool = pool,
      .events = runtime.events,
      .store = *store,
      .clock = runtime.clock,
      .entropy = runtime.entropy,
      .redactor = runtime.redactor,
      .instance_id = runtime.recorder.instance_id(),
      .data_folder = engine.folder,
      .lease = [&hold] { return hold->lease(); },
      .variable = [this](const std::string& name) { return variable(name); },
      .log = runtime.log};
  Result<std::unique_ptr<agent::Toolbox>> own =
      agent::Toolbox::open(settings, std::move(tool_parts));
  if (!own) {
    co_await hold->release();
    co_return std::unexpected(own.error());
  }
  embed::EngineTools tools(
      {[this](const Call& call) { return engine.find_tool(call); }, *engine.plans, options.tools},
      std::move(*own));
  Watch view(watch);
  const EitherStop stop(watch.cancel, engine.visitors.leaving());
  Result<agent::RunReport> report = fail(ErrorCode::Internal, "the run did not begin");
  {
    agent::Run run({.runtime = runtime,
                    .settings = settings,
                    .model = *talker,
                    .tools = tools,
                    .lease = *hold,
                    .view = view,
                    .parks = watch.park},
                   stop.token());
    report = co_await run.go(std::move(message));
  }
  co_await tools.stop();
  co_await hold->release();
  if (!report) co_return std::unexpected(report.error());
  co_return AgentRun{.session_id = report->session_id,
                     .run_id = report->run_id,
                     .status = status_of(report->status),
                     .reason = report->reason,
                     .text = report->text,
                     .rounds = report->rounds,
                     .tool_calls = report->tool_calls,
                     .usage = report->usage};
}

Agent::Agent(std::unique_ptr<Body> body) : body_(std::move(body)) {}

Agent::~Agent() {
  body_->pool.join();
}

Result<std::unique_ptr<Agent>> Agent::open(Engine& engine, AgentOptions options) {
  SALLYPORT_CHECK_OK(check(options));
  Engine::Body& inside = *engine.body_;
  auto body = std::make_unique<Body>(inside, std::move(options));
  for (const AgentTool& tool : body->options.tools) {
    if (inside.tools.contains({"", tool.name})) continue;
    return fail(ErrorCode::InvalidInput, "the engine has no tool `" + tool.name + "`", "tools");
  }
  SALLYPORT_TRY(body->store,
                sessions::SessionStore::open({.file = inside.folder / "agents.db"}, inside.clock));
  const boost::asio::any_io_executor strand = boost::asio::make_strand(inside.loop);
  SALLYPORT_CHECK_OK(body->model(strand));  // a key, an address or a script that is wrong
  agent::RuntimeParts parts = body->parts(strand);
  SALLYPORT_CHECK_OK(inside.run(agent::close_left_behind(parts)));
  return std::unique_ptr<Agent>(new Agent(std::move(body)));
}

Result<AgentRun> Agent::run(const std::string& session_id, const std::string& message,
                            AgentWatch watch) {
  return body_->engine.run(body_->go(session_id, message, std::move(watch)));
}

Result<AgentRun> Agent::resume(const std::string& session_id, AgentWatch watch) {
  return body_->engine.run(body_->go(session_id, std::nullopt, std::move(watch)));
}

}  // namespace sallyport
