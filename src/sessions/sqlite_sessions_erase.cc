#include <fmt/format.h>

#include "base/try.h"
#include "sessions/snapshots.h"
#include "sessions/sqlite_sessions.h"

namespace sallyport::sessions {

namespace {

using store::Connection;
using store::Query;

void bind_owner(Query& query, const std::optional<std::string>& name) {
  name ? query.bind_text(*name) : query.bind_null();
}

// Sessions and their agents. `Conflict`: a process works on one of them.
Result<std::vector<Session>> idle_sessions_of(Connection& connection, const Owner& owner,
                                              std::int64_t moment) {
  std::vector<Session> found;
  Query query = connection.query(
      "SELECT id, agent, holder, expires FROM sessions WHERE (?1 IS NULL OR id = ?1) AND (?2 IS "
      "NULL OR agent = ?2) ORDER BY id");
  bind_owner(query, owner.session_id);
  bind_owner(query, owner.agent_id);
  while (true) {
    SALLYPORT_TRY(const bool row, query.step());
    if (!row) return found;
    if (!query.bytes(2).empty() && query.number(3) > moment) {
      return fail(ErrorCode::Conflict,
                  fmt::format("instance `{}` works on the session `{:.80}`; end its run first",
                              query.bytes(2), query.bytes(0)),
                  {}, "lease_unavailable");
    }
    found.push_back({.id = std::string(query.bytes(0)), .agent_id = std::string(query.bytes(1))});
  }
}

// An episode is named `episode:<agent>:<session>:<revision>`, and ids may hold colons.
Result<void> delete_episodes(Connection& connection, const Session& session) {
  return connection
      .query(
          "DELETE FROM memory WHERE agent = ?1 AND substr(id, 1, length(?2)) = ?2 AND "
          "instr(substr(id, length(?2) + 1), ':') = 0")
      .bind_text(session.agent_id)
      .bind_text(fmt::format("episode:{}:{}:", session.agent_id, session.id))
      .run();
}

Result<void> delete_session(Connection& connection, const Session& session) {
  for (const char* const statement :
       {"DELETE FROM items WHERE session = ?", "DELETE FROM tasks WHERE session = ?",
        "DELETE FROM runs WHERE session = ?", "DELETE FROM sessions WHERE id = ?"}) {
    SALLYPORT_CHECK_OK(connection.query(statement).bind_text(session.id).run());
  }
  return delete_episodes(connection, session);
}

}  // namespace

Result<std::size_t> SqliteSessions::idle_sessions(const Owner& owner) {
  std::size_t count = 0;
  SALLYPORT_CHECK_OK(database_->read([&](Connection& connection) -> Result<void> {
    SALLYPORT_TRY(const std::vector<Session> found,
                  idle_sessions_of(connection, owner, microseconds()));
    count = found.size();
    return {};
  }));
  return count;
}

Result<std::size_t> SqliteSessions::erase(const Owner& owner, const std::filesystem::path& folder) {
  std::vector<Session> found;
  SALLYPORT_CHECK_OK(database_->write([&](Connection& connection) -> Result<void> {
    SALLYPORT_TRY(found, idle_sessions_of(connection, owner, microseconds()));
    // Before the rows, so that a run after a failure finds them again.
    for (const Session& session : found) SALLYPORT_CHECK_OK(erase_snapshots(folder, session.id));
    for (const Session& session : found) SALLYPORT_CHECK_OK(delete_session(connection, session));
    if (owner.agent_id && !owner.session_id) {
      SALLYPORT_CHECK_OK(
          connection.query("DELETE FROM memory WHERE agent = ?").bind_text(*owner.agent_id).run());
    }
    // Deleting from the index only marks words in it. A new index has no trace of them.
    return connection.run("INSERT INTO memory_words (memory_words) VALUES ('rebuild')");
  }));
  SALLYPORT_CHECK_OK(database_->scrub());
  return found.size();
}

}  // namespace sallyport::sessions
