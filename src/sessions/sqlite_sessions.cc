#include "sessions/sqlite_sessions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/try.h"
#include "sallyport/continuation.h"
#include "sallyport/json.h"

namespace sallyport::sessions {

namespace {

using store::Connection;
using store::Query;

constexpr std::array<std::pair<RunStatus, std::string_view>, 5> kRunStatuses{
    {{RunStatus::Running, "running"},
     {RunStatus::Finished, "finished"},
     {RunStatus::Failed, "failed"},
     {RunStatus::Aborted, "aborted"},
     {RunStatus::AwaitingApproval, "awaiting_approval"}}};

constexpr const char* kSessionColumns =
    "SELECT id, agent, revision, (SELECT COUNT(*) FROM items WHERE session = id), created_at, "
    "updated_at FROM sessions WHERE id = ?";
constexpr const char* kNewestSessions =
    "SELECT id, agent, revision, (SELECT COUNT(*) FROM items WHERE session = id), created_at, "
    "updated_at FROM sessions ORDER BY updated_at DESC, id LIMIT ?";

Session session_of(const Query& row) {
  return {.id = std::string(row.bytes(0)),
          .agent_id = std::string(row.bytes(1)),
          .revision = static_cast<std::uint64_t>(row.number(2)),
          .items = static_cast<std::uint64_t>(row.number(3)),
          .created_at = std::string(row.bytes(4)),
          .updated_at = std::string(row.bytes(5))};
}

Result<Run> run_of(const Query& row) {
  const std::optional<RunStatus> status = run_status_from(row.bytes(5));
  if (!status) {
    return fail(ErrorCode::Corrupt, fmt::format("the run `{}` has no known status", row.bytes(0)),
                {}, "corrupt");
  }
  return Run{.id = std::string(row.bytes(0)),
             .session_id = std::string(row.bytes(1)),
             .agent_id = std::string(row.bytes(2)),
             .instance_id = std::string(row.bytes(3)),
             .trace_id = std::string(row.bytes(4)),
             .status = *status,
             .reason = std::string(row.bytes(6)),
             .continuation = std::string(row.bytes(7)),
             .started_at = std::string(row.bytes(8)),
             .ended_at = std::string(row.bytes(9))};
}

// Who holds a session's lease, and until when.
struct Holding {
  std::string agent;
  std::string holder;
  std::uint64_t epoch = 0;
  std::int64_t expires = 0;
};

Result<std::optional<Holding>> holding_of(Connection& connection, const std::string& session_id) {
  Query query = connection.query("SELECT agent, holder, epoch, expires FROM sessions WHERE id = ?");
  SALLYPORT_TRY(const bool row, query.bind_text(session_id).step());
  if (!row) return std::nullopt;
  return Holding{.agent = std::string(query.bytes(0)),
                 .holder = std::string(query.bytes(1)),
                 .epoch = static_cast<std::uint64_t>(query.number(2)),
                 .expires = query.number(3)};
}

WallTime time_of(std::int64_t microseconds) {
  return WallTime{std::chrono::microseconds{microseconds}};
}

std::int64_t end_of_lease(std::int64_t now, std::chrono::seconds length) {
  return now + std::chrono::microseconds(length).count();
}

Result<void> check_run(const Run& run) {
  SALLYPORT_CHECK_OK(check_id("run", run.id));
  constexpr std::size_t kReasonBytes = 1024 * 1024;
  if (run.reason.size() <= kReasonBytes && run.continuation.size() <= kContinuationBytes) return {};
  return fail(ErrorCode::Exhausted,
              fmt::format("the reason of run `{}` exceeds {} MiB, or its continuation {} MiB",
                          run.id, kReasonBytes >> 20, kContinuationBytes >> 20));
}

}  // namespace

std::string_view to_string(RunStatus status) {
  for (const auto& [value, word] : kRunStatuses) {
    if (value == status) return word;
  }
  return {};
}

std::optional<RunStatus> run_status_from(std::string_view word) {
  for (const auto& [value, text] : kRunStatuses) {
    if (text == word) return value;
  }
  return std::nullopt;
}

Result<void> check_id(std::string_view what, std::string_view id) {
  constexpr std::size_t kIdBytes = 256;
  const bool is_plain = std::ranges::all_of(
      id, [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != '\x7f'; });
  if (!id.empty() && id.size() <= kIdBytes && is_plain && is_utf8(id)) return {};
  return fail(ErrorCode::InvalidInput,
              fmt::format("the id of a {} has 1 to {} bytes of UTF-8 without control characters",
                          what, kIdBytes));
}

std::unexpected<Error> lease_lost(const Lease& lease) {
  return fail(ErrorCode::Conflict,
              fmt::format("the lease `session:{}` of instance `{}` is lost", lease.session_id,
                          lease.instance_id),
              {}, "lease_lost");
}

Result<std::unique_ptr<SessionStore>> SessionStore::open(Options options, const Clock& clock) {
  SALLYPORT_TRY(std::unique_ptr<Database> database, Database::open(options.file));
  return std::make_unique<SqliteSessions>(std::move(database), clock);
}

Result<void> SqliteSessions::check_lease(Connection& connection, const Lease& lease) const {
  SALLYPORT_TRY(const std::optional<Holding> holding, holding_of(connection, lease.session_id));
  const bool holds = holding && holding->holder == lease.instance_id &&
                     holding->epoch == lease.epoch && holding->expires > microseconds();
  if (!holds) return lease_lost(lease);
  return {};
}

Result<Lease> SqliteSessions::take_lease(const std::string& session_id, const std::string& agent_id,
                                         const std::string& instance_id,
                                         std::chrono::seconds length, const Dead& dead) {
  SALLYPORT_CHECK_OK(check_id("session", session_id));
  SALLYPORT_CHECK_OK(check_id("agent", agent_id));
  SALLYPORT_CHECK_OK(check_id("instance", instance_id));
  Lease lease{.session_id = session_id, .instance_id = instance_id};
  SALLYPORT_CHECK_OK(database_->write([&](Connection& connection) -> Result<void> {
    SALLYPORT_TRY(const std::optional<Holding> before, holding_of(connection, session_id));
    const std::int64_t moment = microseconds();
    if (before && before->agent != agent_id) {
      return fail(ErrorCode::Conflict,
                  fmt::format("the session `{}` belongs to the agent `{}`, this is `{}`",
                              session_id, before->agent, agent_id),
                  {}, "other_agent");
    }
    if (before && !before->holder.empty() && before->expires > moment &&
        !(dead && dead(before->holder))) {
      return fail(ErrorCode::Conflict,
                  fmt::format("instance `{}` works on the session `{}`; its lease ends at {}",
                              before->holder, session_id, rfc3339(time_of(before->expires))),
                  {}, "lease_unavailable");
    }
    if (!before) {
      SALLYPORT_CHECK_OK(connection
                             .query("INSERT INTO sessions (id, agent, created_at, updated_at) "
                                    "VALUES (?1, ?2, ?3, ?3)")
                             .bind_text(session_id)
                             .bind_text(agent_id)
                             .bind_text(now())
                             .run());
    }
    lease.epoch = before ? before->epoch + 1 : 1;
    const std::int64_t expires = end_of_lease(moment, length);
    lease.expires_at = time_of(expires);
    return connection.query("UPDATE sessions SET holder = ?, epoch = ?, expires = ? WHERE id = ?")
        .bind_text(instance_id)
        .bind(lease.epoch)
        .bind(expires)
        .bind_text(session_id)
        .run();
  }));
  return lease;
}

Result<Lease> SqliteSessions::renew(const Lease& lease, std::chrono::seconds length) {
  Lease renewed = lease;
  SALLYPORT_CHECK_OK(database_->write([&](Connection& connection) -> Result<void> {
    SALLYPORT_CHECK_OK(check_lease(connection, lease));
    const std::int64_t expires = end_of_lease(microseconds(), length);
    renewed.expires_at = time_of(expires);
    return connection.query("UPDATE sessions SET expires = ? WHERE id = ?")
        .bind(expires)
        .bind_text(lease.session_id)
        .run();
  }));
  return renewed;
}

Result<void> SqliteSessions::release(const Lease& lease) {
  return database_->write([&](Connection& connection) -> Result<void> {
    SALLYPORT_CHECK_OK(check_lease(connection, lease));
    return connection.query("UPDATE sessions SET holder = '', expires = 0 WHERE id = ?")
        .bind_text(lease.session_id)
        .run();
  });
}

Result<std::optional<Session>> SqliteSessions::session(const std::string& session_id) {
  std::optional<Session> found;
  SALLYPORT_CHECK_OK(database_->read([&](Connection& connection) -> Result<void> {
    Query query = connection.query(kSessionColumns);
    SALLYPORT_TRY(const bool row, query.bind_text(session_id).step());
    if (row) found = session_of(query);
    return {};
  }));
  return found;
}

Result<std::vector<Session>> SqliteSessions::sessions(std::size_t limit) {
  std::vector<Session> found;
  SALLYPORT_CHECK_OK(database_->read([&](Connection& connection) -> Result<void> {
    Query query = connection.query(kNewestSessions);
    query.bind(static_cast<std::uint64_t>(std::min(limit, kListed)));
    while (true) {
      SALLYPORT_TRY(const bool row, query.step());
      if (!row) return {};
      found.push_back(session_of(query));
    }
  }));
  return found;
}

Result<void> SqliteSessions::request(const std::string& session_id, Request request) {
  return database_->write([&](Connection& connection) -> Result<void> {
    // A cancel stays: it is not replaced by a stop.
    SALLYPORT_CHECK_OK(connection
                           .query("UPDATE sessions SET request = CASE WHEN request = 1 THEN 1 "
                                  "ELSE ? END WHERE id = ?")
                           .bind(static_cast<int>(request))
                           .bind_text(session_id)
                           .run());
    if (connection.changes() == 1) return {};
    return fail(ErrorCode::NotFound, fmt::format("there is no session `{}`", session_id));
  });
}

Result<Request> SqliteSessions::requested(const std::string& session_id) {
  Request pending = Request::None;
  SALLYPORT_CHECK_OK(database_->read([&](Connection& connection) -> Result<void> {
    Query query = connection.query("SELECT request FROM sessions WHERE id = ?");
    SALLYPORT_TRY(const bool row, query.bind_text(session_id).step());
    if (row && query.number(0) == 1) pending = Request::Cancel;
    if (row && query.number(0) == 2) pending = Request::Stop;
    return {};
  }));
  return pending;
}

Result<void> SqliteSessions::begin_run(const Lease& lease, const Run& run) {
  SALLYPORT_CHECK_OK(check_run(run));
  return database_->write([&](Connection& connection) -> Result<void> {
    SALLYPORT_CHECK_OK(check_lease(connection, lease));
    const std::string moment = now();
    SALLYPORT_CHECK_OK(
        connection
            .query("INSERT INTO runs (id, session, agent, instance, trace, status, reason, "
                   "continuation, started_at, ended_at) "
                   "SELECT ?, id, agent, ?, ?, 'running', '', '', ?, '' FROM sessions WHERE id = ?")
            .bind_text(run.id)
            .bind_text(lease.instance_id)
            .bind_text(run.trace_id)
            .bind_text(run.started_at.empty() ? moment : run.started_at)
            .bind_text(lease.session_id)
            .run());
    return connection.query("UPDATE sessions SET request = 0, updated_at = ? WHERE id = ?")
        .bind_text(moment)
        .bind_text(lease.session_id)
        .run();
  });
}

Result<void> SqliteSessions::end_run(const Lease& lease, const Run& run) {
  SALLYPORT_CHECK_OK(check_run(run));
  return database_->write([&](Connection& connection) -> Result<void> {
    if (run.status != RunStatus::Aborted) SALLYPORT_CHECK_OK(check_lease(connection, lease));
    const std::string moment = now();
    SALLYPORT_CHECK_OK(connection
                           .query("UPDATE runs SET status = ?, reason = ?, continuation = ?, "
                                  "ended_at = ? WHERE id = ? AND session = ? AND instance = ? "
                                  "AND status = 'running'")
                           .bind_text(to_string(run.status))
                           .bind_text(run.reason)
                           .bind_text(run.continuation)
                           .bind_text(run.ended_at.empty() ? moment : run.ended_at)
                           .bind_text(run.id)
                           .bind_text(lease.session_id)
                           .bind_text(lease.instance_id)
                           .run());
    if (connection.changes() == 1) return {};
    return fail(ErrorCode::Conflict, fmt::format("the run `{}` is not open", run.id), {},
                "already_closed");
  });
}

Result<std::vector<Run>> SqliteSessions::runs(const std::string& session_id) {
  std::vector<Run> found;
  SALLYPORT_CHECK_OK(database_->read([&](Connection& connection) -> Result<void> {
    Query query = connection.query(
        "SELECT id, session, agent, instance, trace, status, reason, continuation, started_at, "
        "ended_at FROM runs WHERE session = ? ORDER BY number DESC LIMIT ?");
    query.bind_text(session_id).bind(static_cast<std::uint64_t>(kListed));
    while (true) {
      SALLYPORT_TRY(const bool row, query.step());
      if (!row) return {};
      SALLYPORT_TRY(found.emplace_back(), run_of(query));
    }
  }));
  std::ranges::reverse(found);
  return found;
}

Result<std::vector<Run>> SqliteSessions::open_runs(Connection& connection, const Dead& dead) const {
  std::vector<Run> left;
  Query query = connection.query(
      "SELECT r.id, r.session, r.agent, r.instance, r.trace, r.status, r.reason, r.continuation, "
      "r.started_at, r.ended_at, s.holder = r.instance AND s.expires > ? FROM runs r JOIN sessions "
      "s ON s.id = r.session WHERE r.status = 'running' ORDER BY r.number");
  query.bind(microseconds());
  while (true) {
    SALLYPORT_TRY(const bool row, query.step());
    if (!row) return left;
    SALLYPORT_TRY(Run run, run_of(query));
    if (query.number(10) == 0 || (dead && dead(run.instance_id))) left.push_back(std::move(run));
  }
}

Result<SessionStore::Left> SqliteSessions::left_behind(const Dead& dead) {
  Left left;
  SALLYPORT_CHECK_OK(database_->read([&](Connection& connection) -> Result<void> {
    SALLYPORT_TRY(left.runs, open_runs(connection, dead));
    SALLYPORT_TRY(left.tasks, open_tasks(connection, dead));
    return {};
  }));
  return left;
}

Result<bool> SqliteSessions::close_run(const Run& run, const std::string& reason) {
  bool closed = false;
  SALLYPORT_CHECK_OK(database_->write([&](Connection& connection) -> Result<void> {
    SALLYPORT_CHECK_OK(connection
                           .query("UPDATE runs SET status = 'aborted', reason = ?, ended_at = ? "
                                  "WHERE id = ? AND instance = ? AND status = 'running'")
                           .bind_text(reason)
                           .bind_text(now())
                           .bind_text(run.id)
                           .bind_text(run.instance_id)
                           .run());
    closed = connection.changes() == 1;
    return {};
  }));
  return closed;
}

}  // namespace sallyport::sessions
