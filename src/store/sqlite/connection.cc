#include "store/sqlite/connection.h"

#include <fmt/format.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <thread>

#include "base/try.h"
#include "ledger/store.h"

namespace sallyport::store {

namespace {

// Our statements are correct, so the named table is missing from the file.
bool misses_a_table(int code, std::string_view text) {
  return (code & 0xff) == SQLITE_ERROR &&
         (text.starts_with("no such table") || text.starts_with("no such column") ||
          text.find(" has no column ") != std::string_view::npos);
}

// Groups SQLite's codes by what a person can do about them.
std::string_view cause_of(int code, int system_error) {
  if (system_error == ENOSPC || system_error == EDQUOT) return "no_space";
  if (system_error == EROFS) return "read_only";
  switch (code & 0xff) {
    case SQLITE_FULL:
      return "no_space";
    case SQLITE_READONLY:
      return "read_only";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return "busy";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return "corrupt";
    case SQLITE_INTERRUPT:
      return "interrupted";
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return "not_owner";
    case SQLITE_CANTOPEN:
      return system_error == EACCES || system_error == EPERM ? "not_owner" : "io";
    default:
      return "io";
  }
}

std::string frozen_uri(const std::filesystem::path& file) {
  std::string uri = "file:";
  for (const char c : file.string()) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) ||
                       std::string_view("/._-").find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return uri + "?immutable=1";
}

}  // namespace

Query::~Query() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

Query& Query::bind(std::int64_t number) {
  sqlite3_bind_int64(statement_, next_++, number);
  return *this;
}

Query& Query::bind_text(std::string_view text) {
  // Not copied: in every caller the bound text outlives the step.
  sqlite3_bind_text64(statement_, next_++, text.data() == nullptr ? "" : text.data(), text.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

Query& Query::bind_blob(std::string_view bytes) {
  sqlite3_bind_blob64(statement_, next_++, bytes.data() == nullptr ? "" : bytes.data(),
                      bytes.size(), SQLITE_STATIC);
  return *this;
}

Query& Query::bind_null() {
  sqlite3_bind_null(statement_, next_++);
  return *this;
}

Result<bool> Query::step() {
  if (statement_ == nullptr) {
    return connection_.failure(sqlite3_extended_errcode(connection_.handle_), "prepare");
  }
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return connection_.failure(code, sqlite3_sql(statement_));
}

Result<void> Query::run() {
  SALLYPORT_TRY([[maybe_unused]] const bool row, step());
  return {};
}

std::int64_t Query::number(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string_view Query::bytes(int column) const {
  const void* const data = sqlite3_column_blob(statement_, column);
  if (data == nullptr) return {};
  return {static_cast<const char*>(data),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

bool Query::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

// SQLite's own waiting sleeps up to 100 ms at a time; two writers that alternate want far less.
int Connection::wait_for_lock(void* self, int tries) {
  auto& connection = *static_cast<Connection*>(self);
  const auto now = std::chrono::steady_clock::now();
  if (tries == 0) connection.waiting_since_ = now;
  if (now - connection.waiting_since_ >= connection.longest_wait_) return 0;
  const int step = std::min(tries, 20);
  std::this_thread::sleep_for(std::chrono::microseconds(50 + 50 * step * step / 4));
  return 1;
}

int Connection::note_log(void* self, sqlite3*, const char*, int pages) {
  static_cast<Connection*>(self)->log_pages_ = pages;
  return SQLITE_OK;
}

Result<bool> Connection::copy_log() {
  int pages = 0;
  int copied = 0;
  const int code =
      sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_PASSIVE, &pages, &copied);
  if (code != SQLITE_OK) return failure(code, "checkpoint");
  return copied == pages;
}

Result<std::unique_ptr<Connection>> Connection::open(Options options) {
  std::unique_ptr<Connection> connection(new Connection(std::move(options)));
  const Options& o = connection->options_;
  const std::string name = o.file.empty() ? ":memory:"
                           : o.frozen     ? frozen_uri(o.file)
                                          : o.file.string();
  const int flags = (o.writable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) |
                    SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE |
                    (o.frozen ? SQLITE_OPEN_URI : 0);
  const int code = sqlite3_open_v2(name.c_str(), &connection->handle_, flags,
                                   o.vfs.empty() ? nullptr : o.vfs.c_str());
  if (code != SQLITE_OK) return connection->failure(code, "open");
  sqlite3_extended_result_codes(connection->handle_, 1);
  sqlite3_busy_handler(connection->handle_, &wait_for_lock, connection.get());
  sqlite3_limit(connection->handle_, SQLITE_LIMIT_ATTACHED, 0);
  SALLYPORT_CHECK_OK(connection->run("PRAGMA trusted_schema=OFF"));
  SALLYPORT_CHECK_OK(connection->run("PRAGMA temp_store=MEMORY"));
  SALLYPORT_CHECK_OK(connection->run("PRAGMA cache_size=-16384"));
  if (o.writable) {
    SALLYPORT_CHECK_OK(connection->run("PRAGMA secure_delete=ON"));
    SALLYPORT_CHECK_OK(
        connection->run(o.sync ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=OFF"));
    // Replaces SQLite's own copying of the log, which would delay some commit.
    sqlite3_wal_hook(connection->handle_, &note_log, connection.get());
    SALLYPORT_CHECK_OK(connection->run("PRAGMA journal_size_limit=33554432"));
  }
  return connection;
}

Connection::~Connection() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  constexpr int kShortLog = 128;
  if (options_.passing && log_pages_ < kShortLog) {
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  }
  sqlite3_close_v2(handle_);
}

Query Connection::query(const char* sql) {
  sqlite3_stmt*& statement = statements_[sql];
  if (statement == nullptr) {
    sqlite3_prepare_v3(handle_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  }
  return Query(*this, statement);
}

Result<void> Connection::run(const char* sql) {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return failure(code, sql);
  return {};
}

bool Connection::in_transaction() const {
  return sqlite3_get_autocommit(handle_) == 0;
}

std::int64_t Connection::changes() const {
  return sqlite3_changes64(handle_);
}

void Connection::interrupt() {
  sqlite3_interrupt(handle_);
}

Result<void> Connection::sync_commits(bool on) {
  if (on == syncs_commits_) return {};
  // SQLite then syncs the log only before it is copied.
  if (options_.sync) {
    SALLYPORT_CHECK_OK(run(on ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL"));
  }
  syncs_commits_ = on;
  return {};
}

std::unexpected<Error> Connection::failure(int code, std::string_view doing) const {
  const int system_error = handle_ == nullptr ? 0 : sqlite3_system_errno(handle_);
  const bool system_matters = (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN ||
                              (code & 0xff) == SQLITE_FULL;
  const std::string_view text = handle_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle_);
  if ((code & 0xff) == SQLITE_NOTADB) {
    return ledger::ledger_unavailable("corrupt",
                                      fmt::format("{} {}", options_.file.string(), kNotADatabase));
  }
  const bool misses = misses_a_table(code, text);
  if (misses && options_.schema > 0) {
    return ledger::ledger_unavailable(
        "read_only", fmt::format("{} was written by a newer release (schema {}), and this one "
                                 "cannot read it ({}); use that release",
                                 options_.file.string(), options_.schema, text));
  }
  return ledger::ledger_unavailable(
      misses ? "corrupt" : cause_of(code, system_matters ? system_error : 0),
      fmt::format("{} ({}{}) at `{:.60}` in {}", text, code,
                  system_matters && system_error != 0
                      ? fmt::format(", {}", std::strerror(system_error))
                      : "",
                  doing, options_.file.empty() ? "memory" : options_.file.string()));
}

}  // namespace sallyport::store
