#include <fmt/format.h>

#include <algorithm>

#include "base/try.h"
#include "sallyport/json.h"
#include "sessions/memory_query.h"
#include "sessions/sqlite_sessions.h"

namespace sallyport::sessions {

namespace {

using store::Connection;
using store::Query;

Result<void> check_record(const MemoryRecord& record) {
  SALLYPORT_CHECK_OK(check_id("agent", record.agent_id));
  // `episode:<agent>:<session>:<revision>` holds two ids.
  constexpr std::size_t kRecordIdBytes = 1024;
  if (record.id.empty() || record.id.size() > kRecordIdBytes || !is_utf8(record.id)) {
    return fail(ErrorCode::InvalidInput, "the id of a memory record has 1 to 1024 bytes of UTF-8");
  }
  if (!is_utf8(record.text)) {
    return fail(ErrorCode::InvalidInput, "the text of a memory record is not UTF-8");
  }
  if (record.text.size() <= kMemoryBytes) return {};
  return fail(ErrorCode::Exhausted, "the text of a memory record has over 1 MiB");
}

// False: there is a record with this id.
Result<bool> remember(Connection& connection, const MemoryRecord& record,
                      const std::string& created_at) {
  SALLYPORT_CHECK_OK(connection
                         .query("INSERT INTO memory (id, agent, text, pinned, created_at) VALUES "
                                "(?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING")
                         .bind_text(record.id)
                         .bind_text(record.agent_id)
                         .bind_text(record.text)
                         .bind(record.pinned ? 1 : 0)
                         .bind_text(created_at)
                         .run());
  if (connection.changes() == 0) return false;
  SALLYPORT_CHECK_OK(connection
                         .query("INSERT INTO memory_words (rowid, text) SELECT number, text FROM "
                                "memory WHERE id = ?")
                         .bind_text(record.id)
                         .run());
  return true;
}

Result<std::uint64_t> ingested(Connection& connection, const std::string& session_id) {
  Query query = connection.query("SELECT ingested FROM sessions WHERE id = ?");
  SALLYPORT_TRY(const bool row, query.bind_text(session_id).step());
  if (!row) return fail(ErrorCode::NotFound, fmt::format("there is no session `{}`", session_id));
  return static_cast<std::uint64_t>(query.number(0));
}

}  // namespace

Result<std::size_t> SqliteSessions::ingest(const std::string& session_id, std::uint64_t revision,
                                           const MemoryRecord& record) {
  SALLYPORT_CHECK_OK(check_record(record));
  std::size_t stored = 0;
  SALLYPORT_CHECK_OK(database_->write([&](Connection& connection) -> Result<void> {
    SALLYPORT_TRY(const std::uint64_t before, ingested(connection, session_id));
    if (before >= revision) return {};
    SALLYPORT_TRY(
        const bool is_new,
        remember(connection, record, record.created_at.empty() ? now() : record.created_at));
    SALLYPORT_CHECK_OK(connection.query("UPDATE sessions SET ingested = ? WHERE id = ?")
                           .bind(revision)
                           .bind_text(session_id)
                           .run());
    stored = is_new ? 1 : 0;
    return {};
  }));
  return stored;
}

Result<std::uint64_t> SqliteSessions::ingested_revision(const std::string& session_id) {
  std::uint64_t revision = 0;
  SALLYPORT_CHECK_OK(database_->read([&](Connection& connection) -> Result<void> {
    SALLYPORT_TRY(revision, ingested(connection, session_id));
    return {};
  }));
  return revision;
}

Result<std::vector<MemoryRecord>> SqliteSessions::search(const std::string& agent_id,
                                                         const std::string& query,
                                                         std::size_t limit,
                                                         std::chrono::milliseconds timeout,
                                                         std::stop_token cancel) {
  std::vector<MemoryRecord> found;
  const std::string words = memory_query(query);
  if (words.empty() || limit == 0) return found;
  constexpr std::size_t kMostFound = 1000;
  constexpr std::chrono::milliseconds kLongest{60'000};
  SALLYPORT_CHECK_OK(database_->read_within(
      std::clamp(timeout, std::chrono::milliseconds(0), kLongest), cancel,
      [&](Connection& connection) -> Result<void> {
        Query rows = connection.query(
            "SELECT m.id, m.agent, m.text, m.pinned, m.created_at FROM memory_words JOIN memory m "
            "ON m.number = memory_words.rowid WHERE memory_words MATCH ? AND m.agent = ? ORDER BY "
            "memory_words.rank, m.created_at DESC, m.number DESC LIMIT ?");
        rows.bind_text(words).bind_text(agent_id);
        rows.bind(static_cast<std::uint64_t>(std::min(limit, kMostFound)));
        while (true) {
          SALLYPORT_TRY(const bool row, rows.step());
          if (!row) return {};
          found.push_back({.id = std::string(rows.bytes(0)),
                           .agent_id = std::string(rows.bytes(1)),
                           .text = std::string(rows.bytes(2)),
                           .pinned = rows.number(3) != 0,
                           .created_at = std::string(rows.bytes(4))});
        }
      }));
  return found;
}

Result<void> SqliteSessions::pin(const MemoryRecord& record) {
  SALLYPORT_CHECK_OK(check_record(record));
  return database_->write([&](Connection& connection) -> Result<void> {
    Query count = connection.query("SELECT COUNT(*) FROM memory WHERE agent = ? AND pinned = 1");
    SALLYPORT_TRY([[maybe_unused]] const bool row, count.bind_text(record.agent_id).step());
    if (static_cast<std::size_t>(count.number(0)) >= kPins) {
      return fail(ErrorCode::Exhausted,
                  fmt::format("the agent `{}` has {} pinned records, which is the most; forget one "
                              "first",
                              record.agent_id, kPins));
    }
    MemoryRecord pinned = record;
    pinned.pinned = true;
    SALLYPORT_TRY(
        const bool is_new,
        remember(connection, pinned, record.created_at.empty() ? now() : record.created_at));
    if (is_new) return {};
    return fail(ErrorCode::Conflict, fmt::format("there is a memory record `{}`", record.id));
  });
}

Result<bool> SqliteSessions::forget(const std::string& agent_id, const std::string& record_id) {
  bool forgotten = false;
  SALLYPORT_CHECK_OK(database_->write([&](Connection& connection) -> Result<void> {
    // The index needs the old text, so delete from it before the record.
    SALLYPORT_CHECK_OK(connection
                           .query("INSERT INTO memory_words (memory_words, rowid, text) SELECT "
                                  "'delete', number, text FROM memory WHERE id = ? AND agent = ?")
                           .bind_text(record_id)
                           .bind_text(agent_id)
                           .run());
    SALLYPORT_CHECK_OK(connection.query("DELETE FROM memory WHERE id = ? AND agent = ?")
                           .bind_text(record_id)
                           .bind_text(agent_id)
                           .run());
    forgotten = connection.changes() == 1;
    return {};
  }));
  return forgotten;
}

}  // namespace sallyport::sessions
