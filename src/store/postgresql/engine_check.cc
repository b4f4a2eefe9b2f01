#include "store/postgresql/engine_check.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>

#include "base/try.h"
#include "ledger/store.h"

namespace sallyport::store::postgresql {

namespace {

// No log has a number below zero, and no two backends have the same.
constexpr const char* kTake = "SELECT pg_try_advisory_lock(1397772884, -($1::int8)::int4)";
constexpr const char* kLetGo = "SELECT pg_advisory_unlock(1397772884, -($1::int8)::int4)";

std::unexpected<Error> unfit(std::string_view what) {
  return fail(ErrorCode::Conflict, fmt::format("this database cannot keep a log: {}", what),
              "ledger.store");
}

Result<void> check_settings(Link& link, int replicas) {
  SALLYPORT_TRY(const Rows rows,
                link.ask("SELECT current_setting('server_version_num')::int8, pg_is_in_recovery(), "
                         "current_setting('fsync'), current_setting('full_page_writes'), "
                         "current_setting('synchronous_commit'), "
                         "current_setting('synchronous_standby_names'), "
                         "current_setting('server_encoding')"));
  constexpr int kOldest = 150000;
  if (rows.number(0, 0) < kOldest) return unfit("it is older than PostgreSQL 15");
  if (rows.number(0, 1) != 0) return unfit("it is a standby; give the address of the primary");
  if (rows.bytes(0, 2) != "on") return unfit("fsync is off, so a commit may be lost");
  if (rows.bytes(0, 3) != "on") return unfit("full_page_writes is off, so a page may be torn");
  if (rows.bytes(0, 4) == "off" || rows.bytes(0, 4) == "local") {
    return unfit("it does not let this role ask for synchronous commits");
  }
  if (rows.bytes(0, 6) != "UTF8") return unfit("its encoding is not UTF8");
  const int waited_for = standbys_waited_for(rows.bytes(0, 5));
  if (waited_for >= replicas) return {};
  return unfit(
      fmt::format("synchronous_standby_names asks for {} standbys, ledger.store.replicas "
                  "for {}",
                  waited_for, replicas));
}

std::unexpected<Error> stands_behind_a_pooler() {
  return unfit(
      "a pooler in transaction mode stands before it; connect to the database itself, or to a "
      "pooler in session mode");
}

// If a backend does not know the prepared statements of this connection, or knows those of another
// one, a pooler is between.
Result<std::int64_t> backend_of(Link& link) {
  Result<Rows> rows = link.ask("SELECT pg_backend_pid()::int8");
  if (rows) return rows->number(0, 0);
  const std::string& message = rows.error().message;
  if (message.contains("(26000)") || message.contains("(42P05)")) return stands_behind_a_pooler();
  return std::unexpected(rows.error());
}

// Detects a pooler that gives each transaction another backend, or two connections the same one.
Result<void> check_no_pooler(Link& first, Link& second) {
  SALLYPORT_TRY(const std::int64_t before, backend_of(first));
  SALLYPORT_TRY(const std::int64_t other, backend_of(second));
  SALLYPORT_TRY(const std::int64_t after, backend_of(first));
  if (before == after && before != other) return {};
  return stands_behind_a_pooler();
}

Result<void> check_locks(Link& first, Link& second) {
  SALLYPORT_TRY(const Rows backend, first.ask("SELECT pg_backend_pid()::int8"));
  const Param key = number(static_cast<std::uint64_t>(backend.number(0, 0)));
  SALLYPORT_TRY(const Rows taken, first.ask(kTake, {key}));
  SALLYPORT_TRY(const Rows refused, second.ask(kTake, {key}));
  const bool locks = taken.number(0, 0) != 0 && refused.number(0, 0) == 0;
  for (Link* const each : {&first, &second}) SALLYPORT_CHECK_OK(each->ask(kLetGo, {key}));
  if (locks) return {};
  return unfit("its advisory locks do not lock: a second connection got what the first holds");
}

}  // namespace

int standbys_waited_for(std::string_view names) {
  while (!names.empty() && std::isspace(static_cast<unsigned char>(names.front())) != 0) {
    names.remove_prefix(1);
  }
  if (names.empty()) return 0;
  const std::size_t bracket = names.find('(');
  if (bracket == std::string_view::npos) return 1;  // a plain list: the first of them
  const std::size_t digit = names.substr(0, bracket).find_first_of("0123456789");
  if (digit == std::string_view::npos) return 1;
  int count = 0;
  std::from_chars(names.data() + digit, names.data() + bracket, count);
  return count;
}

Result<std::string> system_identifier(Link& link) {
  SALLYPORT_TRY(const Rows allowed,
                link.ask("SELECT has_function_privilege('pg_control_system()', 'EXECUTE')"));
  if (allowed.number(0, 0) == 0) return std::string();
  SALLYPORT_TRY(const Rows rows,
                link.ask("SELECT system_identifier::text FROM pg_control_system()"));
  return std::string(rows.bytes(0, 0));
}

Result<void> check_engine(Link& first, Link& second, int replicas) {
  SALLYPORT_CHECK_OK(check_no_pooler(first, second));
  SALLYPORT_CHECK_OK(check_settings(first, replicas));
  return check_locks(first, second);
}

}  // namespace sallyport::store::postgresql
