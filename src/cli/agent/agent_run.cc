// `sallyport agent run`, `chat` and `resume`.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/json.hpp>
#include <filesystem>

#include "agent/run/runtime_parts.h"
#include "app/agents/agent_config.h"
#include "app/agents/agent_desk.h"
#include "app/agents/agent_store.h"
#include "base/try.h"
#include "base/uuid.h"
#include "cli/agent/agent_terminal.h"
#include "cli/command.h"
#include "people/agent_ancestry.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

// Which agent, and behind which policy.
struct AgentOptions {
  std::optional<std::filesystem::path> agent;  // its configuration
  std::optional<std::string> model;
  std::optional<std::string> base_url;
  std::optional<std::string> policy;
  bool park = false;  // end where a person is asked (RT-87)
};

// 0: the run finished; 1: it ended in another way (RT-3).
struct AgentRunOptions {
  AgentOptions agent;
  std::string task;
  std::optional<std::string> session;
};

// Until the input ends.
struct AgentChatOptions {
  AgentOptions agent;
  std::optional<std::string> session;
};

struct AgentResumeOptions {
  AgentOptions agent;
  std::string session;
  std::optional<std::string> message;
};

namespace asio = boost::asio;

constexpr int kInterrupted = 130;
constexpr const char* kUsualPolicy = "ask-before-effects";

Result<agent::Settings> settings_of(const AgentOptions& options) {
  agent::Settings settings = default_agent(std::filesystem::current_path());
  if (options.agent) {
    SALLYPORT_TRY(settings, read_agent_config(*options.agent));
  } else if (!options.model) {
    return fail(ErrorCode::InvalidInput,
                "no model is named; give `--model anthropic/NAME`, `--model openai/NAME` or a "
                "configuration with `--agent FILE`",
                "--model");
  }
  if (options.model) {
    SALLYPORT_CHECK_OK(use_model(settings, *options.model, options.base_url.value_or("")));
  } else if (options.base_url) {
    settings.model.base_url = *options.base_url;
  }
  SALLYPORT_CHECK_OK(check_key(settings, variable_of_this_process));
  return settings;
}

// The first interrupt ends the run in order, the second one the process at once (RT-76).
class Interrupts {
 public:
  explicit Interrupts(asio::io_context& loop) : signals_(loop, SIGINT, SIGTERM, SIGHUP) { wait(); }

  std::stop_token token() const { return cancel_.get_token(); }
  bool ends() const { return ends_; }
  // Between runs: from here on one more cancels the next run.
  void renew() { cancel_ = std::stop_source(); }
  void stop() { signals_.cancel(); }
  std::function<void()> on_idle{};  // an interrupt while nothing runs

 private:
  void wait() {
    signals_.async_wait([this](const boost::system::error_code& error, int number) {
      if (error) return;
      if (cancel_.stop_requested()) _exit(kInterrupted);
      if (number != SIGINT) ends_ = true;
      cancel_.request_stop();
      if (on_idle) on_idle();
      wait();
    });
  }

  asio::signal_set signals_;
  std::stop_source cancel_;
  bool ends_ = false;
};

// Runs `work` on the loop of the desk, with its policy watched, until it ends.
template <class Work>
Result<int> run_beside_watch(AgentDesk& desk, Interrupts& interrupts, Work work) {
  Gate& gate = desk.gate();
  Result<int> ended = fail(ErrorCode::Internal, "the agent failed");
  asio::co_spawn(gate.loop(), work(), [&](const std::exception_ptr& thrown, Result<int> result) {
    if (!thrown) ended = std::move(result);
    interrupts.stop();
    gate.stop_watching();
  });
  gate.start_watching();
  gate.run_loop();
  if (!ended) return std::unexpected(gate.without_secrets(std::move(ended.error())));
  return ended;
}

// True if a person at the keyboard may answer questions there. False if an agent has started this
// process (AP-29). Call it before the gate marks this process itself.
bool person_answers(const Context& context, const char* command) {
  const bool terminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
  return terminal && !context.json() && refuse_agents(context, command).has_value();
}

// Prints nothing: only the report is printed.
class Silent final : public agent::RunView {};

// Whether the session must be there already. The lease of a run creates it.
enum class SessionMay { BeNew, ExistOnly };

Task<std::unique_ptr<AgentSession>> open_session(AgentDesk& desk, std::string id, SessionMay may) {
  if (may == SessionMay::ExistOnly) {
    const Result<sessions::Session> found = co_await agent::on_store(
        desk.parts(), [id](sessions::SessionStore& store) { return find_session(&store, id); });
    if (!found) co_return std::unexpected(found.error());
  }
  co_return co_await AgentSession::open(desk, std::move(id));
}

Result<int> run_once(const Context& context, const AgentOptions& options, std::string session_id,
                     std::optional<std::string> message, SessionMay may) {
  SALLYPORT_TRY(agent::Settings settings, settings_of(options));
  signal(SIGPIPE, SIG_IGN);
  const bool person = person_answers(context, "agent run");
  SALLYPORT_TRY(
      const std::unique_ptr<AgentDesk> desk,
      AgentDesk::open(context, options.policy.value_or(kUsualPolicy), std::move(settings)));
  if (session_id.empty()) {
    session_id = "s-" + uuid7_text(desk->parts().clock, desk->parts().entropy);
  }
  Interrupts interrupts(desk->gate().loop());
  std::optional<LineReader> lines;
  if (person) lines.emplace(desk->gate().loop());
  const auto terminal = std::make_shared<AgentTerminal>(context, *desk, lines ? &*lines : nullptr);
  Silent silent;
  const auto work = [&]() -> Task<int> {
    SALLYPORT_CO_TRY(const std::unique_ptr<AgentSession> session,
                     co_await open_session(*desk, session_id, may));
    const bool json = context.json();
    Result<agent::RunReport> report = co_await session->run(
        message, {.view = json ? static_cast<agent::RunView&>(silent) : *terminal,
                  .attendant = json ? nullptr : terminal,
                  .interactive = person,
                  .parks = options.park,
                  .cancel = interrupts.token()});
    co_await session->close();
    if (!report) co_return std::unexpected(report.error());
    if (json) {
      print_line(visible_json(canonical_json(to_json(*report))));
    } else {
      terminal->print_end(*report);
    }
    co_return report->status == sessions::RunStatus::Finished ? 0 : 1;
  };
  return run_beside_watch(*desk, interrupts, work);
}

Result<int> agent_run(const Context& context, const AgentRunOptions& options) {
  return run_once(context, options.agent, options.session.value_or(""), options.task,
                  SessionMay::BeNew);
}

Result<int> agent_resume(const Context& context, const AgentResumeOptions& options) {
  return run_once(context, options.agent, options.session, options.message, SessionMay::ExistOnly);
}

Result<int> agent_chat(const Context& context, const AgentChatOptions& options) {
  SALLYPORT_TRY(agent::Settings settings, settings_of(options.agent));
  signal(SIGPIPE, SIG_IGN);
  const bool person = person_answers(context, "agent chat");
  SALLYPORT_TRY(
      const std::unique_ptr<AgentDesk> desk,
      AgentDesk::open(context, options.agent.policy.value_or(kUsualPolicy), std::move(settings)));
  Interrupts interrupts(desk->gate().loop());
  LineReader lines(desk->gate().loop());
  const auto terminal = std::make_shared<AgentTerminal>(context, *desk, person ? &lines : nullptr);
  const std::string session_id =
      options.session.value_or("s-" + uuid7_text(desk->parts().clock, desk->parts().entropy));
  const auto work = [&]() -> Task<int> {
    SALLYPORT_CO_TRY(const std::unique_ptr<AgentSession> session,
                     co_await AgentSession::open(*desk, session_id));
    terminal->note(
        fmt::format("session {}; an empty line or the end of input leaves, ctrl-C ends "
                    "what runs",
                    session_id));
    while (!interrupts.ends()) {
      terminal->prompt();
      interrupts.renew();
      interrupts.on_idle = [&] { lines.stop(); };
      const std::optional<std::string> line = co_await lines.line();
      interrupts.on_idle = nullptr;
      if (!line || line->find_first_not_of(" \t") == std::string::npos) break;
      const Result<agent::RunReport> report =
          co_await session->run(*line, {.view = *terminal,
                                        .attendant = terminal,
                                        .interactive = person,
                                        .cancel = interrupts.token()});
      if (!report) {
        terminal->note(report.error().message);
        continue;
      }
      terminal->print_end(*report);
    }
    co_await session->close();
    co_return 0;
  };
  return run_beside_watch(*desk, interrupts, work);
}

void agent_options(Syntax& syntax, AgentOptions& options) {
  syntax.file("--agent", options.agent,
              "configuration of the agent [the default agent, in this folder]");
  syntax.text("--model", options.model, "the model, as anthropic/NAME, openai/NAME or script:FILE",
              "MODEL");
  syntax.text("--base-url", options.base_url, "address of the model's API [the provider's]", "URL");
  syntax.text("--policy", options.policy,
              "policy file, or the name of a shipped policy [ask-before-effects]", "POLICY");
}

const Command kAgentRun("agent run", "run one task", agent_run,
                        [](Syntax& syntax, AgentRunOptions& options) {
                          syntax.text("task", options.task, "the task", "TASK").required();
                          agent_options(syntax, options.agent);
                          syntax.text("--session", options.session,
                                      "begin or continue this session [a new one]", "SESSION");
                          syntax.flag("--park", options.agent.park,
                                      "end the run if a call needs approval; `agent resume` "
                                      "continues it");
                        });

const Command kAgentChat("agent chat", "talk with the agent at the terminal", agent_chat,
                         [](Syntax& syntax, AgentChatOptions& options) {
                           agent_options(syntax, options.agent);
                           syntax.text("--session", options.session,
                                       "begin or continue this session [a new one]", "SESSION");
                         });

const Command kAgentResume(
    "agent resume", "continue the open run of a session", agent_resume,
    [](Syntax& syntax, AgentResumeOptions& options) {
      syntax.text("session", options.session, "the session", "SESSION").required();
      agent_options(syntax, options.agent);
      syntax.text("--message", options.message, "also send this message", "TEXT");
      syntax.flag("--park", options.agent.park,
                  "end the run if a call needs approval; `agent resume` continues it");
    });

}  // namespace

}  // namespace sallyport::app
