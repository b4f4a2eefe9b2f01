#include <fmt/format.h>

#include <array>

#include "base/try.h"
#include "sessions/sqlite_sessions.h"

namespace sallyport::sessions {

namespace {

using store::Connection;
using store::Query;

constexpr std::array<std::pair<TaskStatus, std::string_view>, 4> kTaskStatuses{
    {{TaskStatus::Running, "running"},
     {TaskStatus::Finished, "finished"},
     {TaskStatus::Failed, "failed"},
     {TaskStatus::Interrupted, "interrupted"}}};

constexpr std::string_view kUnknownStatus = "the task `{}` has no known status";

Result<BackgroundTask> task_of(const Query& row) {
  const std::optional<TaskStatus> status = task_status_from(row.bytes(9));
  if (!status) {
    return fail(ErrorCode::Corrupt, fmt::format(kUnknownStatus, row.bytes(0)), {}, "corrupt");
  }
  BackgroundTask task{.id = std::string(row.bytes(0)),
                      .session_id = std::string(row.bytes(1)),
                      .agent_id = std::string(row.bytes(2)),
                      .run_id = std::string(row.bytes(3)),
                      .call_id = std::string(row.bytes(4)),
                      .trace_id = std::string(row.bytes(5)),
                      .instance_id = std::string(row.bytes(6)),
                      .command = std::string(row.bytes(7)),
                      .cwd = std::string(row.bytes(8)),
                      .status = *status,
                      .output = std::string(row.bytes(12)),
                      .output_dropped = static_cast<std::uint64_t>(row.number(13)),
                      .noticed = row.number(14) != 0,
                      .started_at = std::string(row.bytes(15)),
                      .ended_at = std::string(row.bytes(16))};
  if (!row.is_null(10)) task.exit_code = static_cast<int>(row.number(10));
  if (!row.is_null(11)) task.signal = static_cast<int>(row.number(11));
  return task;
}

constexpr const char* kOneTask =
    "SELECT id, session, agent, run, call, trace, instance, command, cwd, status, exit_code, "
    "signal, output, output_dropped, noticed, started_at, ended_at FROM tasks WHERE id = ? AND "
    "agent = ?";
constexpr const char* kTasks =
    "SELECT id, session, agent, run, call, trace, instance, command, cwd, status, exit_code, "
    "signal, x'', output_dropped, noticed, started_at, ended_at FROM tasks WHERE session = ? "
    "ORDER BY number LIMIT ?";
constexpr const char* kUntoldTasks =
    "SELECT id, session, agent, run, call, trace, instance, command, cwd, status, exit_code, "
    "signal, output, output_dropped, noticed, started_at, ended_at FROM tasks WHERE session = ? "
    "AND noticed = 0 AND status != 'running' ORDER BY number LIMIT 256";
constexpr const char* kOpenTasks =
    "SELECT id, session, agent, run, call, trace, instance, command, cwd, status, exit_code, "
    "signal, output, output_dropped, noticed, started_at, ended_at, EXISTS (SELECT 1 FROM sessions "
    "s WHERE s.holder = tasks.instance AND s.expires > ?) FROM tasks WHERE status = 'running' "
    "ORDER BY number";

Result<void> read_tasks(Query& query, std::vector<BackgroundTask>& out) {
  while (true) {
    SALLYPORT_TRY(const bool row, query.step());
    if (!row) return {};
    SALLYPORT_TRY(out.emplace_back(), task_of(query));
  }
}

void bind_or_null(Query& query, const std::optional<int>& number) {
  if (number) {
    query.bind(*number);
  } else {
    query.bind_null();
  }
}

// Counts in the transaction that adds a task, so two processes never exceed the limit together.
Result<void> check_room(Connection& connection, const std::string& session_id, std::uint64_t most) {
  Query query = connection.query(
      "SELECT COUNT(*) FROM tasks WHERE status = 'running' AND agent = (SELECT agent FROM sessions "
      "WHERE id = ?)");
  SALLYPORT_TRY([[maybe_unused]] const bool row, query.bind_text(session_id).step());
  const auto running = static_cast<std::uint64_t>(query.number(0));
  if (running < most) return {};
  return fail(ErrorCode::Exhausted,
              fmt::format("{} background commands run, and {} may; stop one first", running, most),
              {}, kTooManyTasks);
}

}  // namespace

std::string_view to_string(TaskStatus status) {
  for (const auto& [value, word] : kTaskStatuses) {
    if (value == status) return word;
  }
  return {};
}

std::optional<TaskStatus> task_status_from(std::string_view word) {
  for (const auto& [value, text] : kTaskStatuses) {
    if (text == word) return value;
  }
  return std::nullopt;
}

Result<void> SqliteSessions::begin_task(const Lease& lease, const BackgroundTask& task,
                                        std::uint64_t most) {
  SALLYPORT_CHECK_OK(check_id("task", task.id));
  constexpr std::size_t kCommandBytes = 1024 * 1024;
  if (task.command.size() > kCommandBytes || task.cwd.size() > kCommandBytes) {
    return fail(ErrorCode::Exhausted, "the command of a task has over 1 MiB");
  }
  return database_->write([&](Connection& connection) -> Result<void> {
    SALLYPORT_CHECK_OK(check_lease(connection, lease));
    SALLYPORT_CHECK_OK(check_room(connection, lease.session_id, most));
    const std::string moment = now();
    return connection
        .query(
            "INSERT INTO tasks (id, session, agent, run, call, trace, instance, command, cwd, "
            "status, output, output_dropped, noticed, started_at, ended_at) "
            "SELECT ?, id, agent, ?, ?, ?, ?, ?, ?, 'running', x'', 0, 0, ?, '' FROM sessions "
            "WHERE id = ?")
        .bind_text(task.id)
        .bind_text(task.run_id)
        .bind_text(task.call_id)
        .bind_text(task.trace_id)
        .bind_text(lease.instance_id)
        .bind_text(task.command)
        .bind_text(task.cwd)
        .bind_text(task.started_at.empty() ? moment : task.started_at)
        .bind_text(lease.session_id)
        .run();
  });
}

Result<void> SqliteSessions::end_task(const BackgroundTask& task) {
  if (task.status == TaskStatus::Running) {
    return fail(ErrorCode::InvalidInput, fmt::format("the task `{}` has not ended", task.id));
  }
  if (task.output.size() > kTaskOutputBytes) {
    return fail(ErrorCode::Exhausted,
                fmt::format("the output of the task `{}` has over 1 MiB", task.id));
  }
  return database_->write([&](Connection& connection) -> Result<void> {
    const std::string moment = now();
    Query query = connection.query(
        "UPDATE tasks SET status = ?, exit_code = ?, signal = ?, output = ?, output_dropped = ?, "
        "ended_at = ? WHERE id = ? AND status = 'running'");
    query.bind_text(to_string(task.status));
    bind_or_null(query, task.exit_code);
    bind_or_null(query, task.signal);
    query.bind_blob(task.output).bind(task.output_dropped);
    query.bind_text(task.ended_at.empty() ? moment : task.ended_at).bind_text(task.id);
    SALLYPORT_CHECK_OK(query.run());
    if (connection.changes() == 1) return {};
    return fail(ErrorCode::Conflict, fmt::format("the task `{}` is not running", task.id), {},
                "already_closed");
  });
}

Result<std::optional<BackgroundTask>> SqliteSessions::task(const std::string& agent_id,
                                                           const std::string& task_id) {
  std::optional<BackgroundTask> found;
  SALLYPORT_CHECK_OK(database_->read([&](Connection& connection) -> Result<void> {
    Query query = connection.query(kOneTask);
    SALLYPORT_TRY(const bool row, query.bind_text(task_id).bind_text(agent_id).step());
    if (!row) return {};
    SALLYPORT_TRY(found, task_of(query));
    return {};
  }));
  return found;
}

Result<std::vector<BackgroundTask>> SqliteSessions::tasks(const std::string& session_id) {
  std::vector<BackgroundTask> found;
  SALLYPORT_CHECK_OK(database_->read([&](Connection& connection) -> Result<void> {
    Query query = connection.query(kTasks);
    query.bind_text(session_id).bind(static_cast<std::uint64_t>(kListed));
    return read_tasks(query, found);
  }));
  return found;
}

Result<std::vector<BackgroundTask>> SqliteSessions::unnoticed_tasks(const std::string& session_id) {
  std::vector<BackgroundTask> found;
  SALLYPORT_CHECK_OK(database_->read([&](Connection& connection) -> Result<void> {
    Query query = connection.query(kUntoldTasks);
    query.bind_text(session_id);
    return read_tasks(query, found);
  }));
  return found;
}

Result<std::vector<BackgroundTask>> SqliteSessions::open_tasks(Connection& connection,
                                                               const Dead& dead) const {
  std::vector<BackgroundTask> left;
  Query query = connection.query(kOpenTasks);
  query.bind(microseconds());
  while (true) {
    SALLYPORT_TRY(const bool row, query.step());
    if (!row) return left;
    SALLYPORT_TRY(BackgroundTask task, task_of(query));
    if (query.number(17) == 0 || (dead && dead(task.instance_id))) left.push_back(std::move(task));
  }
}

Result<bool> SqliteSessions::close_task(const BackgroundTask& task) {
  bool closed = false;
  SALLYPORT_CHECK_OK(database_->write([&](Connection& connection) -> Result<void> {
    SALLYPORT_CHECK_OK(connection
                           .query("UPDATE tasks SET status = 'interrupted', ended_at = ? WHERE id "
                                  "= ? AND instance = ? AND status = 'running'")
                           .bind_text(now())
                           .bind_text(task.id)
                           .bind_text(task.instance_id)
                           .run());
    closed = connection.changes() == 1;
    return {};
  }));
  return closed;
}

}  // namespace sallyport::sessions
