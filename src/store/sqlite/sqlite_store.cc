#include "store/sqlite/sqlite_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>
#include <vector>

#include "base/guarded.h"
#include "base/mutex.h"
#include "base/try.h"
#include "store/sqlite/checkpointer.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/views.h"

namespace sallyport::store {

namespace {

struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};

Result<FileIdentity> identity_of(const std::filesystem::path& file) {
  struct stat status{};
  if (stat(file.c_str(), &status) != 0) {
    return ledger::ledger_unavailable("io",
                                      fmt::format("{}: {}", file.string(), std::strerror(errno)));
  }
  return FileIdentity{status.st_dev, status.st_ino};
}

Result<void> check_owner(const std::filesystem::path& file) {
  struct stat status{};
  if (stat(file.c_str(), &status) != 0) return {};
  if (status.st_uid == geteuid()) return {};
  return ledger::ledger_unavailable(
      "not_owner", fmt::format("{} belongs to user {}, this is user {}; run as its owner",
                               file.string(), status.st_uid, geteuid()));
}

// SQLite would create the file with the umask's mode, for a moment readable by others.
Result<void> create_private(const std::filesystem::path& file) {
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) {
    const int error = errno;
    // A file of ours that we may not write is read-only. The owner was checked before.
    const bool ours = error == EACCES && ::access(file.c_str(), F_OK) == 0;
    const std::string_view cause = error == ENOSPC || error == EDQUOT ? "no_space"
                                   : error == EROFS || ours           ? "read_only"
                                   : error == EACCES                  ? "not_owner"
                                                                      : "io";
    return ledger::ledger_unavailable(cause,
                                      fmt::format("{}: {}", file.string(), std::strerror(error)));
  }
  ::close(fd);
  return {};
}

// SQLite returns "busy" at once if two processes change the mode of a new file at the same time. It
// calls no busy handler there, so this waits itself.
Result<void> use_write_ahead_log(Connection& connection, std::chrono::milliseconds lock_wait) {
  const auto deadline = std::chrono::steady_clock::now() + lock_wait;
  while (true) {
    Result<void> done = connection.run("PRAGMA journal_mode=WAL");
    if (done || done.error().cause != "busy" || std::chrono::steady_clock::now() >= deadline) {
      return done;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

// An auditor's copy may be where nothing can be written, not even SQLite's shared memory. Without a
// write-ahead log beside it, the file alone is the whole ledger.
Result<bool> is_frozen(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  if (::access(folder.c_str(), W_OK) == 0) return false;
  const std::filesystem::path log = file.string() + "-wal";
  std::error_code absent;
  if (std::filesystem::file_size(log, absent) == 0 || absent) return true;
  return ledger::ledger_unavailable(
      "read_only", fmt::format("{} holds entries that cannot be read where nothing can be written; "
                               "copy both files to a folder of your own",
                               log.string()));
}

}  // namespace

struct SqliteStore::State {
  Options options;
  bool memory = false;
  bool read_only = false;
  bool frozen = false;
  int newer_schema = 0;                       // zero: ours, or an older one
  bool unsealed = false;                      // of an older release, opened for reading
  std::shared_ptr<const KeyedDigest> secret;  // of the seals; set before the first read
  FileIdentity identity;
  Mutex writing;  // one write transaction at a time in this process
  // In a store in memory it also reads.
  std::unique_ptr<Connection> writer SALLYPORT_GUARDED_BY(writing);
  Guarded<std::vector<std::unique_ptr<Connection>>> idle_readers;
  // Created on first use, at this length of the log.
  std::unique_ptr<Checkpointer> checkpointer SALLYPORT_GUARDED_BY(writing);
  int copy_at SALLYPORT_GUARDED_BY(writing) = 0;
  int commits SALLYPORT_GUARDED_BY(writing) = 0;
  std::int64_t seen SALLYPORT_GUARDED_BY(writing) = 0;           // what others have written
  std::int64_t schema_cookie SALLYPORT_GUARDED_BY(writing) = 0;  // of tables that are ours

  Connection::Options connection_options(bool writable) const {
    return {options.file, writable,        options.sync, options.lock_wait, options.vfs,
            frozen,       options.passing, newer_schema, unsealed};
  }

  // Returns the version of the schema.
  Result<int> open_writer() SALLYPORT_REQUIRES(writing) {
    Result<std::unique_ptr<Connection>> opened = Connection::open(connection_options(!read_only));
    Result<int> version =
        opened ? schema_version(**opened) : Result<int>(std::unexpected(opened.error()));
    if (opened) writer = std::move(*opened);
    if (version || !version.error().message.ends_with(kNotADatabase)) return version;
    return ledger::ledger_unavailable(
        "corrupt", fmt::format("{} is not a ledger (not a database); restore it from a backup",
                               options.file.string()));
  }

  Result<void> still_the_same_file() const {
    if (memory) return {};
    SALLYPORT_TRY(const FileIdentity now, identity_of(options.file));
    if (now == identity) return {};
    return ledger::ledger_unavailable(
        "io", fmt::format("{} was replaced while it was open; restart to use the new file",
                          options.file.string()));
  }

  Result<void> begin(const Manner& manner) SALLYPORT_REQUIRES(writing) {
    if (newer_schema > 0) {
      return ledger::ledger_unavailable(
          "read_only",
          fmt::format("{} was written by a newer release (schema {}, this one knows {}); use that "
                      "release to write",
                      options.file.string(), newer_schema, kSchemaVersion));
    }
    if (read_only) {
      return ledger::ledger_unavailable("read_only",
                                        options.file.string() + " was opened for reading");
    }
    SALLYPORT_CHECK_OK(still_the_same_file());
    if (checkpointer && checkpointer->owes_sync()) {
      return ledger::ledger_unavailable("io", "what was written last did not reach the disk");
    }
    SALLYPORT_CHECK_OK(writer->sync_commits(manner.waits_for_disk));
    std::optional<Connection::Impatience> impatience;
    if (!manner.waits_for_writers) impatience.emplace(*writer);
    return writer->query("BEGIN IMMEDIATE").run();
  }

  // SQLite's own number: it changes when another connection commits, and not with our commits.
  Result<std::int64_t> data_version() SALLYPORT_REQUIRES(writing) {
    Query query = writer->query("PRAGMA data_version");
    SALLYPORT_TRY([[maybe_unused]] const bool row, query.step());
    return query.number(0);
  }

  // A trigger of another program would change what we write.
  Result<void> check_tables_are_ours() SALLYPORT_REQUIRES(writing) {
    SALLYPORT_TRY(const std::int64_t cookie, store::schema_cookie(*writer));
    if (cookie == schema_cookie) return {};
    SALLYPORT_CHECK_OK(check_nothing_else(*writer, kSchemaVersion));
    schema_cookie = cookie;
    return {};
  }

  Result<void> work_and_commit(const Work& work) SALLYPORT_REQUIRES(writing) {
    SALLYPORT_TRY(const std::int64_t version, data_version());
    const bool changed = version != seen;
    if (changed) SALLYPORT_CHECK_OK(check_tables_are_ours());
    SqlView view(*writer, secret.get(), changed);
    SALLYPORT_CHECK_OK(work(view));
    SALLYPORT_CHECK_OK(writer->query("COMMIT").run());
    // Only after a commit: after a failure the next caller gets the change again.
    if (view.asked()) seen = version;
    return {};
  }

  Result<void> finish(const Work& work) SALLYPORT_REQUIRES(writing) {
    Result<void> done = work_and_commit(work);
    // Some failures roll back by themselves.
    if (!done && writer->in_transaction()) (void)writer->run("ROLLBACK");
    if (done && !memory) keep_log_in_shape();
    if (done && !memory && options.sync && !writer->syncs_commits()) helper().sync_soon();
    return done;
  }

  Checkpointer& helper() SALLYPORT_REQUIRES(writing) {
    if (!checkpointer) checkpointer = std::make_unique<Checkpointer>(connection_options(true));
    return *checkpointer;
  }

  void keep_log_in_shape() SALLYPORT_REQUIRES(writing) {
    constexpr int kMany = 8;
    // Not with a custom file layer, which would not see it.
    if (++commits == kMany && options.vfs.empty() && options.sync) helper().extend();
    keep_log_short();
  }

  // A log that is copied completely restarts, and overwriting it syncs faster than a growing file.
  // A thread copies the bulk beside the writers. The little that they add meanwhile is copied here,
  // because that thread would hardly ever reach the end. If readers hold the log, the next try
  // comes after as much growth.
  void keep_log_short() SALLYPORT_REQUIRES(writing) {
    constexpr int kLong = 1000;
    constexpr int kLongest = 4000;
    const int pages = writer->log_pages();
    if (pages < kLong) {
      copy_at = kLong;
      return;
    }
    const bool bulk_is_copied = checkpointer && checkpointer->has_copied();
    if (pages < copy_at && !bulk_is_copied) return;
    copy_at = pages + kLong;
    if (!bulk_is_copied && pages < kLongest) return helper().wake();
    Connection& copying = *writer;
    (void)helper().paused([&copying] { return copying.copy_log(); });
  }

  Result<std::unique_ptr<Connection>> take_reader() {
    std::unique_ptr<Connection> reader = idle_readers.with([](auto& idle) {
      std::unique_ptr<Connection> taken;
      if (!idle.empty()) {
        taken = std::move(idle.back());
        idle.pop_back();
      }
      return taken;
    });
    if (reader) return reader;
    return Connection::open(connection_options(false));
  }

  void give_back(std::unique_ptr<Connection> reader) {
    idle_readers.with([&](auto& idle) {
      if (idle.size() < 4) idle.push_back(std::move(reader));
    });
  }
};

SqliteStore::SqliteStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
SqliteStore::~SqliteStore() = default;

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(Options options) {
  auto state = std::make_unique<State>();
  state->writing.assert_held();  // no other thread knows it yet
  state->options = std::move(options);
  state->read_only = state->options.mode == Mode::ReadOnly;
  if (state->read_only) {
    SALLYPORT_TRY(state->frozen, is_frozen(state->options.file));
  } else {
    SALLYPORT_CHECK_OK(check_owner(state->options.file));
    SALLYPORT_CHECK_OK(create_private(state->options.file));
  }
  SALLYPORT_TRY(state->identity, identity_of(state->options.file));
  SALLYPORT_TRY(const int version, state->open_writer());
  if (version > kSchemaVersion) {
    state->read_only = true;
    state->newer_schema = version;
  }
  if (!state->read_only) {
    // Before the file has a first page, or never. An entry with its openings is about 1 KiB: seven
    // of them fill 8 KiB well, three leave a fifth of 4 KiB empty.
    SALLYPORT_CHECK_OK(state->writer->run("PRAGMA page_size=8192"));
    SALLYPORT_CHECK_OK(use_write_ahead_log(*state->writer, state->options.lock_wait));
    SALLYPORT_CHECK_OK(bring_up_to_date(*state->writer));
    SALLYPORT_CHECK_OK(state->check_tables_are_ours());
  } else if (version == kSchemaWithoutSeals) {
    state->unsealed = true;
    SALLYPORT_TRY(state->writer, Connection::open(state->connection_options(false)));
  } else if (version == 0) {
    return fail(ErrorCode::NotFound,
                fmt::format("{} holds no ledger yet", state->options.file.string()));
  }
  return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(state)));
}

Result<std::unique_ptr<SqliteStore>> SqliteStore::in_memory() {
  auto state = std::make_unique<State>();
  state->writing.assert_held();  // no other thread knows it yet
  state->memory = true;
  SALLYPORT_TRY(state->writer, Connection::open({}));
  SALLYPORT_CHECK_OK(bring_up_to_date(*state->writer));
  return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(state)));
}

bool SqliteStore::read_only() const {
  return state_->read_only;
}

bool SqliteStore::is_newer() const {
  return state_->newer_schema > 0;
}

std::string SqliteStore::name() const {
  return state_->memory ? "memory" : state_->options.file.string();
}

Result<void> SqliteStore::write(const Work& work, Manner manner) {
  if (manner.waits_for_writers) {
    state_->writing.lock();
  } else if (!state_->writing.try_lock()) {
    return ledger::ledger_unavailable("busy", "another thread is writing");
  }
  const MutexLock lock(state_->writing, std::adopt_lock);
  SALLYPORT_CHECK_OK(state_->begin(manner));
  return state_->finish(work);
}

Result<void> SqliteStore::read(const Look& look) {
  if (state_->memory) {
    const MutexLock lock(state_->writing);
    SqlView view(*state_->writer, state_->secret.get());
    return look(view);
  }
  SALLYPORT_TRY(std::unique_ptr<Connection> reader, state_->take_reader());
  SALLYPORT_CHECK_OK(reader->query("BEGIN").run());
  SqlView view(*reader, state_->secret.get());
  Result<void> done = look(view);
  (void)reader->query("ROLLBACK").run();
  state_->give_back(std::move(reader));
  return done;
}

Result<bool> SqliteStore::changed_elsewhere() {
  if (state_->memory || state_->read_only) return false;
  const MutexLock lock(state_->writing);
  SALLYPORT_TRY(const std::int64_t version, state_->data_version());
  return version != state_->seen;
}

void SqliteStore::check_seals_with(std::shared_ptr<const KeyedDigest> secret) {
  state_->secret = std::move(secret);
}

Result<void> SqliteStore::scrub(std::chrono::milliseconds longest_wait) {
  if (state_->memory) return {};
  const MutexLock lock(state_->writing);
  Connection& writer = *state_->writer;
  const Connection::Impatience impatience(writer, longest_wait);
  const auto truncate = [&writer]() -> Result<bool> {
    Query query = writer.query("PRAGMA wal_checkpoint(TRUNCATE)");
    SALLYPORT_TRY([[maybe_unused]] const bool row, query.step());
    return query.number(0) == 0;
  };
  SALLYPORT_TRY(const bool truncated,
                state_->checkpointer ? state_->checkpointer->paused(truncate) : truncate());
  if (truncated) return {};
  return ledger::ledger_unavailable(
      "busy",
      "a reader keeps the write-ahead log, which still holds what was removed; "
      "close readers and run the command again");
}

Result<void> SqliteStore::check_files() {
  return read([this](ledger::ReadView& view) -> Result<void> {
    auto& sql = static_cast<SqlView&>(view);
    SALLYPORT_CHECK_OK(sql.check_integrity());
    return sql.check_nothing_else(state_->newer_schema > 0 ? state_->newer_schema
                                  : state_->unsealed       ? kSchemaWithoutSeals
                                                           : kSchemaVersion);
  });
}

}  // namespace sallyport::store
