#include "store/sqlite/schema.h"

#include <fmt/format.h>

#include <array>

#include "base/try.h"
#include "ledger/store.h"

namespace sallyport::store {

namespace {

constexpr int kApplicationId = 0x53505254;  // "SPRT"

// An entry, its opening and the checkpoint that ended its commit share one row, so that a lone
// commit writes one page. Everything in `blocks` and `facets` can be made again from the entries.
constexpr const char* kSqliteTables = R"sql(
CREATE TABLE entries (
  sequence INTEGER PRIMARY KEY,
  bytes BLOB,
  leaf BLOB NOT NULL,
  openings BLOB,
  checkpoint TEXT,
  seal BLOB
) STRICT;
CREATE TABLE nodes (
  level INTEGER NOT NULL,
  position INTEGER NOT NULL,
  hash BLOB NOT NULL,
  PRIMARY KEY (level, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE blocks (
  block INTEGER PRIMARY KEY,
  first_time INTEGER NOT NULL,
  last_time INTEGER NOT NULL,
  least_id BLOB NOT NULL,
  greatest_id BLOB NOT NULL,
  seal BLOB
) STRICT;
CREATE TABLE facets (
  facet INTEGER NOT NULL,
  value TEXT NOT NULL,
  block INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (facet, value, block)
) STRICT, WITHOUT ROWID;
CREATE TABLE facts (
  space TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (space, key)
) STRICT, WITHOUT ROWID;
)sql";

// The two tables in a file of schema 1, and after its migration.
constexpr const char* kTablesWithoutSeals = R"sql(
CREATE TABLE entries (
  sequence INTEGER PRIMARY KEY,
  bytes BLOB,
  leaf BLOB NOT NULL,
  openings BLOB,
  checkpoint TEXT
) STRICT;
CREATE TABLE blocks (
  block INTEGER PRIMARY KEY,
  first_time INTEGER NOT NULL,
  last_time INTEGER NOT NULL,
  least_id BLOB NOT NULL,
  greatest_id BLOB NOT NULL
) STRICT;
)sql";
constexpr const char* kTablesWithSealsAdded = R"sql(
CREATE TABLE entries (
  sequence INTEGER PRIMARY KEY,
  bytes BLOB,
  leaf BLOB NOT NULL,
  openings BLOB,
  checkpoint TEXT
, seal BLOB) STRICT;
CREATE TABLE blocks (
  block INTEGER PRIMARY KEY,
  first_time INTEGER NOT NULL,
  last_time INTEGER NOT NULL,
  least_id BLOB NOT NULL,
  greatest_id BLOB NOT NULL
, seal BLOB) STRICT;
)sql";
// `probed` and `witnessed` were marks of time that no seal covered.
constexpr const char* kAddSeals = R"sql(
ALTER TABLE entries ADD COLUMN seal BLOB;
ALTER TABLE blocks ADD COLUMN seal BLOB;
DELETE FROM facts WHERE space = 'ledger' AND key IN ('probed', 'witnessed', 'seal');
)sql";

constexpr std::array kNames{"entries", "nodes", "blocks", "facets", "facts"};

// Reports damage before anything is read or written.
Result<void> check_tables(Connection& connection) {
  for (const char* const name : kNames) {
    Query query =
        connection.query("SELECT COUNT(*) FROM sqlite_schema WHERE type='table' AND name=?");
    SALLYPORT_TRY([[maybe_unused]] const bool row, query.bind_text(name).step());
    if (query.number(0) == 1) continue;
    return ledger::ledger_unavailable(
        "corrupt",
        fmt::format("the table `{}` is missing in {}; keep the file and restore a backup", name,
                    connection.file().string()));
  }
  return {};
}

Result<int> pragma(Connection& connection, const char* sql) {
  Query query = connection.query(sql);
  SALLYPORT_TRY(const bool row, query.step());
  return row ? static_cast<int>(query.number(0)) : 0;
}

}  // namespace

Result<int> schema_version(Connection& connection) {
  // In this order: one commit makes all three.
  SALLYPORT_TRY(const int tables, pragma(connection, "SELECT COUNT(*) FROM sqlite_schema"));
  if (tables == 0) return 0;
  SALLYPORT_TRY(const int version, pragma(connection, "PRAGMA user_version"));
  SALLYPORT_TRY(const int application, pragma(connection, "PRAGMA application_id"));
  if (application != kApplicationId || version < 1) {
    return ledger::ledger_unavailable(
        "corrupt", fmt::format("{} is a database, but not a ledger", connection.file().string()));
  }
  if (version <= kSchemaVersion) SALLYPORT_CHECK_OK(check_tables(connection));
  return version;
}

Result<void> check_nothing_else(Connection& connection, int version) {
  const std::string_view ours = kSqliteTables;
  const std::string_view as_well =
      version == kSchemaWithoutSeals ? kTablesWithoutSeals : kTablesWithSealsAdded;
  const bool is_newer = version > kSchemaVersion;
  Query query = connection.query("SELECT name, sql FROM sqlite_schema ORDER BY name");
  while (true) {
    SALLYPORT_TRY(const bool row, query.step());
    if (!row) break;
    // SQLite keeps the original statement, up to its semicolon.
    const std::string made = fmt::format("\n{};", query.bytes(1));
    const bool of_version = version != kSchemaWithoutSeals || !made.contains("seal BLOB");
    if (!query.bytes(1).empty() && of_version && (ours.contains(made) || as_well.contains(made))) {
      continue;
    }
    if (is_newer) return {};
    return ledger::ledger_unavailable(
        "corrupt", fmt::format("`{}` in {} is not of this program; find out who made it, and "
                               "remove it or restore a backup",
                               query.bytes(0), connection.file().string()));
  }
  if (!is_newer) return {};
  return ledger::ledger_unavailable(
      "corrupt", fmt::format("{} calls itself schema {}, but has the tables of schema {}",
                             connection.file().string(), version, kSchemaVersion));
}

Result<std::int64_t> schema_cookie(Connection& connection) {
  Query query = connection.query("PRAGMA schema_version");
  SALLYPORT_TRY([[maybe_unused]] const bool row, query.step());
  return query.number(0);
}

Result<void> bring_up_to_date(Connection& connection) {
  SALLYPORT_TRY(const int seen, schema_version(connection));
  if (seen >= kSchemaVersion) return {};
  SALLYPORT_CHECK_OK(connection.run("BEGIN IMMEDIATE"));
  // Another process may have been first.
  SALLYPORT_TRY(const int version, schema_version(connection));
  if (version == 0) {
    SALLYPORT_CHECK_OK(connection.run(kSqliteTables));
    SALLYPORT_CHECK_OK(
        connection.run(fmt::format("PRAGMA application_id={}", kApplicationId).c_str()));
  } else if (version == kSchemaWithoutSeals) {
    SALLYPORT_CHECK_OK(check_nothing_else(connection, version));
    SALLYPORT_CHECK_OK(connection.run(kAddSeals));
  }
  if (version < kSchemaVersion) {
    SALLYPORT_CHECK_OK(
        connection.run(fmt::format("PRAGMA user_version={}", kSchemaVersion).c_str()));
  }
  return connection.run("COMMIT");
}

}  // namespace sallyport::store
