// One SQLite connection and its prepared statements. Belongs to one thread at a time.
#pragma once

#include <sqlite3.h>

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

// A prepared statement in use: bind in order, step, read columns. Resets itself when it goes.
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
    int schema = 0;         // newer than ours where it is above zero
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

  // Ends what runs on this connection with an error, cause `interrupted`. From any thread; does
  // nothing where nothing runs.
  void interrupt();

  // Does a commit return when it is on disk, or when it is written? Between transactions.
  Result<void> sync_commits(bool on);
  bool syncs_commits() const { return syncs_commits_; }

  // As long as it lives, a lock that another process holds is an error at once.
  class Impatience {
   public:
    explicit Impatience(Connection& connection) : connection_(connection) {
      connection_.waits_ = false;
    }
    Impatience(const Impatience&) = delete;
    ~Impatience() { connection_.waits_ = true; }

   private:
    Connection& connection_;
  };

  // How long the write-ahead log was after the last commit here.
  int log_pages() const { return log_pages_; }
  // Copies into the database what no reader of the log needs any more. Blocks no one. True: all of
  // it.
  Result<bool> copy_log();

  const std::filesystem::path& file() const { return options_.file; }
  bool unsealed() const { return options_.unsealed; }

 private:
  explicit Connection(Options options) : options_(std::move(options)) {}
  static int wait_for_lock(void* self, int tries);
  static int note_log(void* self, sqlite3* handle, const char* name, int pages);

  Options options_;
  sqlite3* handle_ = nullptr;
  int log_pages_ = 0;
  std::map<const char*, sqlite3_stmt*> statements_;
  bool waits_ = true;  // for locks
  bool syncs_commits_ = true;
  std::chrono::steady_clock::time_point waiting_since_;
  friend class Query;
};

}  // namespace sallyport::store
