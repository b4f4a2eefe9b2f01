#include "sessions/database.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "base/try.h"
#include "core/record/ledger_error.h"
#include "sessions/tables.h"

namespace sallyport::sessions {

namespace {

std::unexpected<Error> unavailable(const std::filesystem::path& file, std::string_view text,
                                   std::string cause) {
  return fail(ErrorCode::Unavailable,
              fmt::format("the session store `{}` cannot be used: {}", file.string(), text), {},
              std::move(cause));
}

// SQLite gives its other files the mode of this one. True: the file is not empty.
Result<bool> make_private(const std::filesystem::path& file) {
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  const int error = errno;
  if (fd < 0) return unavailable(file, std::strerror(error), "io");
  struct stat status{};
  const bool known = ::fstat(fd, &status) == 0;
  const bool regular = known && S_ISREG(status.st_mode);
  const bool ours = known && status.st_uid == ::geteuid();
  const bool closed = !ours || !regular || (status.st_mode & 077) == 0 || ::fchmod(fd, 0600) == 0;
  ::close(fd);
  if (!regular) return unavailable(file, "it is not a file; move it away", "io");
  if (!ours) {
    return unavailable(file, fmt::format("it belongs to user {}; run as its owner", status.st_uid),
                       "not_owner");
  }
  if (!closed) return unavailable(file, "its mode cannot be changed to 0600", "not_owner");
  return status.st_size > 0;
}

// If two processes change the mode of a new file at the same time, SQLite returns "busy" at once,
// without calling a busy handler.
Result<void> log_ahead(store::Connection& connection) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (true) {
    Result<void> done = connection.run("PRAGMA journal_mode=WAL");
    if (done || done.error().cause != "busy" || std::chrono::steady_clock::now() >= end) {
      return done;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

// Checks the structure of the file. The digests of items cover the rest.
Result<void> check_pages(store::Connection& connection) {
  store::Query query = connection.query("PRAGMA quick_check(1)");
  SALLYPORT_TRY(const bool row, query.step());
  if (row && query.bytes(0) == "ok") return {};
  return fail(ErrorCode::Corrupt, row ? std::string(query.bytes(0)) : "it cannot be checked", {},
              "corrupt");
}

// Interrupts a connection at a deadline or on request. It repeats, because an interrupt between two
// statements has no effect.
class Interruption {
 public:
  Interruption(store::Connection& connection, std::chrono::milliseconds timeout,
               const std::stop_token& cancel)
      : end_(std::chrono::steady_clock::now() + timeout),
        cancel_(cancel),
        thread_([this, &connection](const std::stop_token& over) { watch(connection, over); }) {}
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption() = default;

  bool is_cancelled() const { return cancel_.stop_requested(); }

 private:
  void watch(store::Connection& connection, const std::stop_token& over) {
    const std::stop_callback on_cancel(cancel_, [this] {
      const std::lock_guard lock(mutex_);
      changed_.notify_all();
    });
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, over, end_, [this] { return is_cancelled(); });
    while (!over.stop_requested()) {
      connection.interrupt();
      changed_.wait_for(lock, over, std::chrono::milliseconds(2), [] { return false; });
    }
  }

  std::chrono::steady_clock::time_point end_;
  std::stop_token cancel_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace

std::unexpected<Error> Database::store_error(const Error& error) const {
  if (error.cause != "corrupt" && !core::is_ledger_error(error)) return std::unexpected(error);
  const std::string text = core::ledger_error_detail(error);
  if (error.cause != "corrupt") return unavailable(file_, text, error.cause);
  return fail(ErrorCode::Corrupt,
              fmt::format("the session store `{}` is damaged: {}; it is left as it is: restore a "
                          "backup, or move it away to begin anew",
                          file_.string(), text),
              {}, "corrupt");
}

Result<std::unique_ptr<Database>> Database::open(const std::filesystem::path& file) {
  std::unique_ptr<Database> database(new Database(file));
  if (!file.empty()) {
    SALLYPORT_TRY(const bool holds_something, make_private(file));
    if (holds_something) {
      Result<void> checked = database->check_existing();
      if (!checked && checked.error().cause == "newer_schema") {
        return unavailable(file, checked.error().message, checked.error().cause);
      }
      if (!checked) return database->store_error(checked.error());
    }
  }
  if (Result<void> opened = database->open_writer(); !opened) {
    return database->store_error(opened.error());
  }
  return database;
}

// On a connection that writes nothing, not even when it closes.
Result<void> Database::check_existing() {
  SALLYPORT_TRY(const std::unique_ptr<store::Connection> connection,
                store::Connection::open({.file = file_, .writable = false, .passing = true}));
  SALLYPORT_TRY(const int version, check_tables(*connection));
  if (version == 0) return {};
  return check_pages(*connection);
}

Result<void> Database::open_writer() {
  const MutexLock lock(writing_);
  SALLYPORT_TRY(writer_, store::Connection::open({.file = file_}));
  if (!in_memory()) SALLYPORT_CHECK_OK(log_ahead(*writer_));
  SALLYPORT_CHECK_OK(writer_->run("PRAGMA foreign_keys=ON"));
  return commit([](store::Connection& connection) -> Result<void> {
    // Another process may have been first.
    SALLYPORT_TRY(const int version, check_tables(connection));
    return version == 0 ? make_tables(connection) : Result<void>{};
  });
}

Result<void> Database::commit(const Work& work) {
  SALLYPORT_CHECK_OK(writer_->query("BEGIN IMMEDIATE").run());
  Result<void> done = work(*writer_);
  if (done) done = writer_->query("COMMIT").run();
  // Some failures roll back by themselves.
  if (!done && writer_->in_transaction()) (void)writer_->run("ROLLBACK");
  constexpr int kLongLog = 1000;  // pages
  if (done && !in_memory() && writer_->log_pages() > kLongLog) (void)writer_->copy_log();
  return done;
}

Result<void> Database::write(const Work& work) {
  const MutexLock lock(writing_);
  Result<void> done = commit(work);
  if (!done) return store_error(done.error());
  return done;
}

Result<void> Database::read(const Work& work) {
  return read_within(std::chrono::milliseconds::max(), {}, work);
}

Result<void> Database::read_within(std::chrono::milliseconds timeout, const std::stop_token& cancel,
                                   const Work& work) {
  const auto look = [&](store::Connection& connection) -> Result<void> {
    const bool is_bounded = timeout != std::chrono::milliseconds::max();
    std::optional<Interruption> interruption;
    if (cancel.stop_requested()) return fail(ErrorCode::Cancelled, "the search was cancelled");
    if (is_bounded) interruption.emplace(connection, timeout, cancel);
    Result<void> done = connection.query("BEGIN").run();
    if (done) done = work(connection);
    const bool cut = !done && done.error().cause == "interrupted";
    const bool cancelled = cut && interruption && interruption->is_cancelled();
    interruption.reset();  // it would interrupt the end as well
    if (connection.in_transaction()) (void)connection.run("ROLLBACK");
    if (cancelled) return fail(ErrorCode::Cancelled, "the search was cancelled");
    if (cut) {
      return fail(
          ErrorCode::Deadline,
          fmt::format("the search took longer than {} ms and was interrupted", timeout.count()));
    }
    if (!done) return store_error(done.error());
    return done;
  };
  if (in_memory()) {
    const MutexLock lock(writing_);
    return look(*writer_);
  }
  Result<std::unique_ptr<store::Connection>> reader = take_reader();
  if (!reader) return store_error(reader.error());
  Result<void> done = look(**reader);
  give_back(std::move(*reader));
  return done;
}

Result<void> Database::scrub() {
  if (in_memory()) return {};
  const MutexLock lock(writing_);
  store::Query query = writer_->query("PRAGMA wal_checkpoint(TRUNCATE)");
  const Result<bool> row = query.step();
  if (!row) return store_error(row.error());
  if (query.number(0) == 0) return {};
  return unavailable(
      file_,
      "a reader keeps its write-ahead log, which still holds what was removed; close "
      "readers and run the command again",
      "busy");
}

Result<std::unique_ptr<store::Connection>> Database::take_reader() {
  std::unique_ptr<store::Connection> reader = idle_readers_.with([](auto& idle) {
    std::unique_ptr<store::Connection> taken;
    if (!idle.empty()) {
      taken = std::move(idle.back());
      idle.pop_back();
    }
    return taken;
  });
  if (reader) return reader;
  return store::Connection::open({.file = file_, .writable = false});
}

void Database::give_back(std::unique_ptr<store::Connection> reader) {
  constexpr std::size_t kIdle = 4;
  idle_readers_.with([&](auto& idle) {
    if (idle.size() < kIdle) idle.push_back(std::move(reader));
  });
}

}  // namespace sallyport::sessions
