// One SQLite connection and its prepared statements. Belongs to one thread at a time.
#pragma once

#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "sallyport/result.h"

namespace sallyport::store {

class Connection;

// The end of the error about a file of another kind.
inline constexpr std::string_view kNotADatabase = "is not a database";

// A prepared statement in use: bind in order, step, read columns. Resets itself when destroyed.
class Query {
 public:
  Query(Connection& connection, sqlite3_stmt* statement)
      : connection_(connection), statement_(statement) {}
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query();

  Query& bind(std::int64_t number);
  Query& bind(std::uint64_t number) { return bind(static_cast<std::int64_t>(number)); }
  Query& bind(int number) { return bind(static_cast<std::int64_t>(number)); }
  Query& bind_text(std::string_view text);
  Query& bind_blob(std::string_view bytes);
  Query& bind_null();

  Result<bool> step();  // true: there is a row
  Result<void> run();   // for statements without rows

  std::int64_t number(int column) const;
  std::string_view bytes(int column) const;  // valid until the next step
  bool is_null(int column) const;

 private:
  Connection& connection_;
  sqlite3_stmt* statement_;  // null when preparing failed; step() then says why
  int next_ = 1;
};

class Connection {
 public:
  struct Options {
    std::filesystem::path file;  // empty: in memory
    bool writable = true;
    bool sync = true;
    std::chrono::milliseconds lock_wait{5000};
    std::string vfs;
    bool frozen = false;    // the folder is read-only, lock files included
    bool passing = false;   // the last to close need not copy a short log
    int schema = 0;         // above zero: newer than ours
    bool unsealed = false;  // of schema 1: no column holds seals
  };

  static Result<std::unique_ptr<Connection>> open(Options options);
  ~Connection();

  Query query(const char* sql);  // the same pointer gives the same prepared statement
  Result<void> run(const char* sql);

  // The last error of this connection as an error of LE-73.
  std::unexpected<Error> failure(int code, std::string_view doing) const;

  bool in_transaction() const;
  std::int64_t changes() const;  // rows that the last statement changed

  // Ends the running statement with an error, cause `interrupted`. Does nothing if none runs. May
  // be called from any thread.
  void interrupt();

  // True: a commit returns when it is on disk; false: when it is written. Between transactions.
  Result<void> sync_commits(bool on);
  bool syncs_commits() const { return syncs_commits_; }

  // While this object lives, a lock of another process is an error after this time, at once if none
  // is given.
  class Impatience {
   public:
    explicit Impatience(Connection& connection, std::chrono::milliseconds longest = {})
        : connection_(connection) {
      connection_.longest_wait_ = std::min(longest, connection.options_.lock_wait);
    }
    Impatience(const Impatience&) = delete;
    ~Impatience() { connection_.longest_wait_ = connection_.options_.lock_wait; }

   private:
    Connection& connection_;
  };

  // Length of the write-ahead log after the last commit here.
  int log_pages() const { return log_pages_; }
  // Copies the part of the log that no reader needs into the database. Blocks no other connection.
  // True: the whole log was copied.
  Result<bool> copy_log();

  const std::filesystem::path& file() const { return options_.file; }
  bool unsealed() const { return options_.unsealed; }

 private:
  explicit Connection(Options options)
      : options_(std::move(options)), longest_wait_(options_.lock_wait) {}
  static int wait_for_lock(void* self, int tries);
  static int note_log(void* self, sqlite3* handle, const char* name, int pages);

  Options options_;
  sqlite3* handle_ = nullptr;
  int log_pages_ = 0;
  std::map<const char*, sqlite3_stmt*> statements_;
  std::chrono::milliseconds longest_wait_;  // for a lock
  bool syncs_commits_ = true;
  std::chrono::steady_clock::time_point waiting_since_;
  friend class Query;
};

}  // namespace sallyport::store
