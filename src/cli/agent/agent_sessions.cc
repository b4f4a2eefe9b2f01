// `sallyport agent list|show|cancel|stop`: sessions from outside of the process that works on them.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "app/agents/agent_store.h"
#include "base/clock.h"
#include "base/try.h"
#include "base/visible_text.h"
#include "cli/command.h"
#include "cli/terminal/age.h"
#include "people/agent_ancestry.h"
#include "records/selection.h"
#include "sessions/session_store.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

struct AgentListOptions {
  std::optional<std::string> count;
};

struct AgentShowOptions {
  std::string session;
  bool transcript = false;
};

// Ask the process that works on a session. `Conflict`: there is none.
struct AgentAskOptions {
  std::string session;
};

using sessions::BackgroundTask;
using sessions::Run;
using sessions::RunStatus;
using sessions::Session;
using sessions::SessionStore;

constexpr std::uint64_t kUsualSessions = 20;
constexpr std::size_t kCommand = 60;

// Null: there are no sessions. Looking makes no file.
Result<std::unique_ptr<SessionStore>> open_sessions(const Context& context, const Clock& clock) {
  SALLYPORT_TRY(const std::filesystem::path folder, context.data_dir());
  const std::filesystem::path file = agents_file(folder);
  std::error_code code;
  if (!std::filesystem::exists(file, code)) return nullptr;
  return SessionStore::open({.file = file}, clock);
}

// True for a run that no process works on, although no process has closed it yet.
bool is_left(const SessionStore::Left& left, const Run& run) {
  return std::ranges::count(left.runs, run.id, &Run::id) != 0;
}

std::string status_of(const SessionStore::Left& left, const Run& run) {
  return is_left(left, run) ? "left behind" : std::string(to_string(run.status));
}

json::value or_null(const std::string& text) {
  return text.empty() ? json::value() : json::value(text);
}

json::object to_json(const Session& session) {
  return {{"session_id", session.id},         {"agent_id", session.agent_id},
          {"items", session.items},           {"revision", session.revision},
          {"created_at", session.created_at}, {"updated_at", session.updated_at}};
}

json::object to_json(const Run& run, const SessionStore::Left& left) {
  return {{"run_id", run.id},
          {"status", to_string(run.status)},
          {"left_behind", is_left(left, run)},
          {"reason", or_null(run.reason)},
          {"trace_id", or_null(run.trace_id)},
          {"started_at", run.started_at},
          {"ended_at", or_null(run.ended_at)}};
}

json::object to_json(const BackgroundTask& task) {
  return {{"task_id", task.id},
          {"run_id", or_null(task.run_id)},
          {"call_id", or_null(task.call_id)},
          {"command", task.command},
          {"cwd", task.cwd},
          {"status", to_string(task.status)},
          {"exit_code", task.exit_code ? json::value(*task.exit_code) : json::value()},
          {"signal", task.signal ? json::value(*task.signal) : json::value()},
          {"started_at", task.started_at},
          {"ended_at", or_null(task.ended_at)}};
}

void print_json(const json::value& value) {
  print_line(visible_json(canonical_json(value)));
}

std::string session_line(std::string_view session, std::string_view agent, std::string_view items,
                         std::string_view revision, std::string_view status, std::string_view age) {
  return fmt::format("{:<36} {} {:>6} {:>8}  {:<17} {:>5}", session, fitted(agent, 18), items,
                     revision, status, age);
}

std::string ended(const std::string& time) {
  return time.empty() ? "" : fmt::format(" to {}", visible(time));
}

void print_run(const Run& run, const SessionStore::Left& left) {
  print_line(fmt::format("run        {}  {}{}", visible(run.id), status_of(left, run),
                         run.reason.empty() ? "" : fmt::format(": {}", visible(run.reason))));
  print_line(fmt::format("           {}{}", visible(run.started_at), ended(run.ended_at)));
}

void print_task(const BackgroundTask& task) {
  const std::string how = task.exit_code ? fmt::format(", exit code {}", *task.exit_code)
                          : task.signal  ? fmt::format(", signal {}", *task.signal)
                                         : "";
  print_line(fmt::format("  task     {}  {}{}  {}", visible(task.id), to_string(task.status), how,
                         shortened(visible(task.command), kCommand)));
  print_line(fmt::format("           {}{}", visible(task.started_at), ended(task.ended_at)));
}

Result<int> print_transcript(SessionStore& store, const std::string& session) {
  SALLYPORT_CHECK_OK(store.lines(session, [](std::string_view line) -> Result<void> {
    print_line(visible_json(line));
    return {};
  }));
  return 0;
}

Result<int> ask(const Context& context, const AgentAskOptions& options, sessions::Request request,
                std::string_view verb, std::string_view then) {
  SALLYPORT_CHECK_OK(refuse_agents(context, fmt::format("agent {}", verb)));
  const SystemClock clock;
  SALLYPORT_TRY(const std::unique_ptr<SessionStore> store, open_sessions(context, clock));
  SALLYPORT_TRY(const Session session, find_session(store.get(), options.session));
  SALLYPORT_TRY(const std::vector<Run> runs, store->runs(session.id));
  SALLYPORT_TRY(const SessionStore::Left left, store->left_behind({}));
  const bool runs_now =
      !runs.empty() && runs.back().status == RunStatus::Running && !is_left(left, runs.back());
  if (!runs_now) {
    return fail(
        ErrorCode::Conflict,
        fmt::format("session `{}` has no run to {}; its last one {}", visible(session.id), verb,
                    runs.empty() ? "is still to come" : "is " + status_of(left, runs.back())));
  }
  SALLYPORT_CHECK_OK(store->request(session.id, request));
  if (context.json()) {
    print_json(
        json::object{{"session_id", session.id}, {"run_id", runs.back().id}, {"asked", verb}});
  } else {
    print_line(fmt::format("session {}: {}", visible(session.id), then));
  }
  return 0;
}

Result<int> agent_list(const Context& context, const AgentListOptions& options) {
  SALLYPORT_CHECK_OK(refuse_agents(context, "agent list"));
  SALLYPORT_TRY(const std::uint64_t count,
                count_from(options.count.value_or(std::to_string(kUsualSessions)), "-n"));
  if (count == 0 || count > sessions::kListed) {
    return fail(ErrorCode::InvalidInput, "-n must be from 1 to 10000");
  }
  const SystemClock clock;
  SALLYPORT_TRY(const std::unique_ptr<SessionStore> store, open_sessions(context, clock));
  std::vector<Session> all;
  SessionStore::Left left;
  if (store) {
    SALLYPORT_TRY(all, store->sessions(count));
    SALLYPORT_TRY(left, store->left_behind({}));
  }
  if (!context.json()) {
    print_line(all.empty() ? "no sessions"
                           : context.terminal.paint(Paint::Strong,
                                                    session_line("session", "agent", "items",
                                                                 "revision", "last run", "age")));
  }
  for (const Session& session : all) {
    SALLYPORT_TRY(const std::vector<Run> runs, store->runs(session.id));
    if (context.json()) {
      json::object row = to_json(session);
      row["last_run"] = runs.empty() ? json::value() : json::value(to_json(runs.back(), left));
      print_json(row);
      continue;
    }
    print_line(session_line(visible(session.id), visible(session.agent_id),
                            std::to_string(session.items), std::to_string(session.revision),
                            runs.empty() ? "none" : status_of(left, runs.back()),
                            age_of(session.updated_at, clock.wall())));
  }
  return 0;
}

Result<int> agent_show(const Context& context, const AgentShowOptions& options) {
  SALLYPORT_CHECK_OK(refuse_agents(context, "agent show"));
  const SystemClock clock;
  SALLYPORT_TRY(const std::unique_ptr<SessionStore> store, open_sessions(context, clock));
  SALLYPORT_TRY(const Session session, find_session(store.get(), options.session));
  if (options.transcript) return print_transcript(*store, session.id);
  SALLYPORT_TRY(const std::vector<Run> runs, store->runs(session.id));
  SALLYPORT_TRY(const std::vector<BackgroundTask> tasks, store->tasks(session.id));
  SALLYPORT_TRY(const SessionStore::Left left, store->left_behind({}));
  if (context.json()) {
    json::object page = to_json(session);
    json::array run_list;
    for (const Run& run : runs) run_list.push_back(to_json(run, left));
    json::array task_list;
    for (const BackgroundTask& task : tasks) task_list.push_back(to_json(task));
    page["runs"] = std::move(run_list);
    page["tasks"] = std::move(task_list);
    print_json(page);
    return 0;
  }
  print_line(fmt::format("session    {}", visible(session.id)));
  print_line(fmt::format("agent      {}", visible(session.agent_id)));
  print_line(fmt::format("transcript {} items, revision {}", session.items, session.revision));
  print_line(fmt::format("since      {}, last changed {}", visible(session.created_at),
                         visible(session.updated_at)));
  for (const Run& run : runs) {
    print_run(run, left);
    for (const BackgroundTask& task : tasks) {
      if (task.run_id == run.id) print_task(task);
    }
  }
  return 0;
}

Result<int> agent_cancel(const Context& context, const AgentAskOptions& options) {
  return ask(context, options, sessions::Request::Cancel, "cancel", "its run is asked to end now");
}

Result<int> agent_stop(const Context& context, const AgentAskOptions& options) {
  return ask(context, options, sessions::Request::Stop, "stop",
             "its run is asked to end after this round");
}

const Command kAgentList("agent list", "list sessions, newest first", agent_list,
                         [](Syntax& syntax, AgentListOptions& options) {
                           syntax.text("-n,--limit", options.count, "how many sessions [20]", "N");
                         });

const Command kAgentShow(
    "agent show", "show the runs and background tasks of a session", agent_show,
    [](Syntax& syntax, AgentShowOptions& options) {
      syntax.text("session", options.session, "the session", "SESSION").required();
      syntax.flag("--transcript", options.transcript,
                  "print the transcript instead, one line of JSON for each item");
    });

const Command kAgentCancel(
    "agent cancel", "end the run of a session now", agent_cancel,
    [](Syntax& syntax, AgentAskOptions& options) {
      syntax.text("session", options.session, "the session", "SESSION").required();
    });

const Command kAgentStop(
    "agent stop", "end the run of a session after its round", agent_stop,
    [](Syntax& syntax, AgentAskOptions& options) {
      syntax.text("session", options.session, "the session", "SESSION").required();
    });

}  // namespace

}  // namespace sallyport::app
