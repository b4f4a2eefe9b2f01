#include "sessions/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/try.h"

namespace sallyport::sessions {

namespace {

constexpr int kApplicationId = 0x53505353;  // "SPSS"

// `items.sum` is a digest of the other columns but `position`, which a compaction changes.
// `request`: 1 cancel, 2 stop. Times of leases are microseconds since 1970.
constexpr const char* kTables = R"sql(
CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  revision INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0,
  request INTEGER NOT NULL DEFAULT 0,
  ingested INTEGER NOT NULL DEFAULT 0,
  compacted_from INTEGER NOT NULL DEFAULT 0,
  holder TEXT NOT NULL DEFAULT '',
  epoch INTEGER NOT NULL DEFAULT 0,
  expires INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX sessions_by_time ON sessions (updated_at);
CREATE TABLE items (
  session TEXT NOT NULL REFERENCES sessions (id),
  position INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  role TEXT NOT NULL,
  content TEXT NOT NULL,
  call TEXT,
  created_at TEXT NOT NULL,
  sum BLOB NOT NULL,
  PRIMARY KEY (session, position)
) STRICT;
CREATE TABLE runs (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  session TEXT NOT NULL REFERENCES sessions (id),
  agent TEXT NOT NULL,
  instance TEXT NOT NULL,
  trace TEXT NOT NULL,
  status TEXT NOT NULL,
  reason TEXT NOT NULL,
  continuation TEXT NOT NULL,
  started_at TEXT NOT NULL,
  ended_at TEXT NOT NULL
) STRICT;
CREATE INDEX runs_by_session ON runs (session, number);
CREATE INDEX runs_open ON runs (number) WHERE status = 'running';
CREATE TABLE tasks (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  session TEXT NOT NULL REFERENCES sessions (id),
  agent TEXT NOT NULL,
  run TEXT NOT NULL,
  call TEXT NOT NULL,
  trace TEXT NOT NULL,
  instance TEXT NOT NULL,
  command TEXT NOT NULL,
  cwd TEXT NOT NULL,
  status TEXT NOT NULL,
  exit_code INTEGER,
  signal INTEGER,
  output BLOB NOT NULL,
  output_dropped INTEGER NOT NULL,
  noticed INTEGER NOT NULL,
  started_at TEXT NOT NULL,
  ended_at TEXT NOT NULL
) STRICT;
CREATE INDEX tasks_open ON tasks (agent) WHERE status = 'running';
CREATE INDEX tasks_untold ON tasks (session, number) WHERE noticed = 0;
CREATE TABLE memory (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  agent TEXT NOT NULL,
  text TEXT NOT NULL,
  pinned INTEGER NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX memory_pins ON memory (agent) WHERE pinned = 1;
CREATE VIRTUAL TABLE memory_words USING fts5(text, content='memory', content_rowid='number',
  tokenize='unicode61 remove_diacritics 2');
)sql";

constexpr std::array<std::string_view, 6> kShadowTables{"memory_words_config",  "memory_words_data",
                                                        "memory_words_docsize", "memory_words_idx",
                                                        "sqlite_stat1",         "sqlite_sequence"};

// The number of objects that these statements make, without SQLite's own indexes.
constexpr int kMade = 12;

Result<std::int64_t> number_of(store::Connection& connection, const char* sql) {
  store::Query query = connection.query(sql);
  SALLYPORT_TRY(const bool row, query.step());
  return row ? query.number(0) : 0;
}

std::unexpected<Error> corrupt(std::string text) {
  return fail(ErrorCode::Corrupt, std::move(text), {}, "corrupt");
}

// SQLite stores the text of each statement up to its semicolon. A trigger or a view of another
// program would change what is read and written.
Result<void> check_statements(store::Connection& connection) {
  int made = 0;
  store::Query query = connection.query("SELECT name, sql FROM sqlite_schema ORDER BY name");
  while (true) {
    SALLYPORT_TRY(const bool row, query.step());
    if (!row) break;
    const std::string_view name = query.bytes(0);
    if (name.starts_with("sqlite_autoindex_")) continue;
    if (std::ranges::find(kShadowTables, name) != kShadowTables.end()) continue;
    if (!query.bytes(1).empty() &&
        std::string_view(kTables).contains(fmt::format("\n{};", query.bytes(1)))) {
      ++made;
      continue;
    }
    return corrupt(fmt::format("`{}` in it is not of this program", name));
  }
  if (made != kMade) return corrupt("a table or an index is missing");
  return {};
}

}  // namespace

Result<int> check_tables(store::Connection& connection) {
  SALLYPORT_TRY(const std::int64_t count,
                number_of(connection, "SELECT COUNT(*) FROM sqlite_schema"));
  if (count == 0) return 0;
  SALLYPORT_TRY(const std::int64_t application, number_of(connection, "PRAGMA application_id"));
  SALLYPORT_TRY(const std::int64_t version, number_of(connection, "PRAGMA user_version"));
  if (application != kApplicationId || version < 1) {
    return corrupt("it is a database, but no session store");
  }
  if (version > kSchemaVersion) {
    return fail(ErrorCode::Unavailable,
                fmt::format("a newer release wrote it (schema {}, this one knows {}); use that "
                            "release",
                            version, kSchemaVersion),
                {}, "newer_schema");
  }
  SALLYPORT_CHECK_OK(check_statements(connection));
  return static_cast<int>(version);
}

Result<void> make_tables(store::Connection& connection) {
  SALLYPORT_CHECK_OK(connection.run(kTables));
  SALLYPORT_CHECK_OK(
      connection.run(fmt::format("PRAGMA application_id={}", kApplicationId).c_str()));
  return connection.run(fmt::format("PRAGMA user_version={}", kSchemaVersion).c_str());
}

}  // namespace sallyport::sessions
