#include "store/postgresql/tables.h"

#include <fmt/format.h>

#include "base/try.h"
#include "ledger/store.h"
#include "store/tables_sql.h"

namespace sallyport::store::postgresql {

namespace {

// A gateway adds rows to `commits`, `entries` and `nodes`, and never changes one. A commit names
// the size before it, so each has one successor, even without locks. Names of facts and values of
// facets come from agents and may hold any byte.
constexpr const char* kTables = R"sql(CREATE SCHEMA IF NOT EXISTS sallyport;
SET LOCAL search_path = sallyport;
CREATE TABLE schema_version (version int8 NOT NULL);
CREATE TABLE logs (
  log int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text UNIQUE NOT NULL
);
CREATE TABLE log_keys (
  log int8 NOT NULL,
  file text NOT NULL,
  id text NOT NULL,
  PRIMARY KEY (log, file)
);
CREATE TABLE commits (
  log int8 NOT NULL,
  previous int8 NOT NULL,
  size int8 NOT NULL CHECK (size > previous),
  leaves bytea NOT NULL CHECK (length(leaves) = 32 * (size - previous)),
  checkpoint text NOT NULL,
  PRIMARY KEY (log, previous)
);
CREATE TABLE entries (
  log int8 NOT NULL,
  sequence int8 NOT NULL,
  bytes bytea,
  openings bytea,
  seal bytea,
  PRIMARY KEY (log, sequence)
);
CREATE TABLE reseals (
  log int8 NOT NULL,
  sequence int8 NOT NULL,
  seal bytea NOT NULL,
  PRIMARY KEY (log, sequence)
);
CREATE TABLE nodes (
  log int8 NOT NULL,
  level int2 NOT NULL,
  position int8 NOT NULL,
  hash bytea NOT NULL,
  PRIMARY KEY (log, level, position)
);
CREATE TABLE blocks (
  log int8 NOT NULL,
  block int8 NOT NULL,
  first_time int8 NOT NULL,
  last_time int8 NOT NULL,
  least_id uuid NOT NULL,
  greatest_id uuid NOT NULL,
  seal bytea,
  PRIMARY KEY (log, block)
);
CREATE TABLE facets (
  log int8 NOT NULL,
  facet int2 NOT NULL,
  value bytea NOT NULL,
  block int8 NOT NULL,
  count int8 NOT NULL,
  PRIMARY KEY (log, facet, value, block)
);
CREATE TABLE facts (
  log int8 NOT NULL,
  space bytea NOT NULL,
  key bytea NOT NULL,
  value bytea NOT NULL,
  PRIMARY KEY (log, space, key)
) WITH (fillfactor = 50);
CREATE TABLE beats (
  log int8 NOT NULL,
  instance uuid NOT NULL,
  host text NOT NULL,
  beat int8 NOT NULL,
  PRIMARY KEY (log, instance)
) WITH (fillfactor = 50);
ALTER TABLE commits ALTER leaves SET STORAGE EXTERNAL;
ALTER TABLE entries ALTER bytes SET STORAGE EXTERNAL, ALTER openings SET STORAGE EXTERNAL;
)sql";

constexpr const char* kGatewayRights = R"sql(GRANT USAGE ON SCHEMA sallyport TO {0};
GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA sallyport TO {0};
REVOKE INSERT ON sallyport.schema_version FROM {0};
GRANT UPDATE, DELETE ON sallyport.facts, sallyport.reseals, sallyport.beats TO {0};
GRANT UPDATE (seal) ON sallyport.blocks TO {0};
)sql";

constexpr const char* kKeeperRights =
    "GRANT UPDATE (bytes, openings) ON sallyport.entries TO {0};\n";

std::string role_name(std::string_view role) {
  std::string out = "\"";
  for (const char c : role) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string make_sql() {
  return fmt::format("{}INSERT INTO schema_version VALUES ({});\n", kTables, kSchemaVersion);
}

}  // namespace

Result<int> schema_version(Link& link) {
  SALLYPORT_TRY(const Rows known,
                link.ask("SELECT to_regclass('sallyport.schema_version') IS NOT NULL"));
  if (known.number(0, 0) == 0) return 0;
  SALLYPORT_TRY(const Rows rows, link.ask("SELECT max(version) FROM sallyport.schema_version"));
  if (rows.is_null(0, 0)) {
    return ledger::ledger_unavailable("corrupt", "the schema `sallyport` does not say its version");
  }
  return static_cast<int>(rows.number(0, 0));
}

Result<void> make_tables(Link& link) {
  // Of the session: what another has made meanwhile is seen by a transaction that begins after it.
  SALLYPORT_CHECK_OK(link.ask("SELECT pg_advisory_lock(1397772884, 0)"));
  const Result<void> made = [&]() -> Result<void> {
    SALLYPORT_TRY(const int version, schema_version(link));
    if (version > 0) return {};  // another gateway was first
    return link.run("BEGIN;" + make_sql() + "COMMIT;");
  }();
  if (!link.broken()) {
    SALLYPORT_CHECK_OK(link.run("ROLLBACK"));
    SALLYPORT_CHECK_OK(link.ask("SELECT pg_advisory_unlock(1397772884, 0)"));
  }
  if (made) return {};
  if (!link.broken()) (void)link.run("ROLLBACK");
  if (made.error().cause != "not_owner") return made;
  return ledger::ledger_unavailable(
      "not_owner",
      "the database has no tables for a log yet, and this role may not make them; have its owner "
      "run what `sallyport ledger tables` prints");
}

Result<std::uint64_t> number_of_log(Link& link, const std::string& name, bool makes) {
  if (makes) {
    SALLYPORT_CHECK_OK(
        link.ask("INSERT INTO logs (name) SELECT $1::text WHERE NOT EXISTS "
                 "(SELECT 1 FROM logs WHERE name = $1::text) ON CONFLICT DO NOTHING",
                 {bytes(name)}));
  }
  SALLYPORT_TRY(const Rows rows,
                link.ask("SELECT log FROM logs WHERE name = $1::text", {bytes(name)}));
  if (rows.size() == 1) return static_cast<std::uint64_t>(rows.number(0, 0));
  return fail(ErrorCode::NotFound, fmt::format("the database has no log `{}` yet", name),
              "ledger.store");
}

}  // namespace sallyport::store::postgresql

namespace sallyport::store {

std::string tables_sql(const std::string& gateway, const std::string& keeper) {
  using namespace postgresql;
  std::string sql = "BEGIN;\n" + make_sql();
  for (const std::string& role : {gateway, keeper}) {
    if (!role.empty()) sql += fmt::format(fmt::runtime(kGatewayRights), role_name(role));
  }
  if (!keeper.empty()) sql += fmt::format(fmt::runtime(kKeeperRights), role_name(keeper));
  return sql + "COMMIT;\n";
}

}  // namespace sallyport::store
