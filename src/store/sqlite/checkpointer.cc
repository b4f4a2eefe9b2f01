#include "store/sqlite/checkpointer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace sallyport::store {

namespace {

// A little more than the length at which the log is copied and restarted.
constexpr off_t kFullLog = 9 << 20;
constexpr std::size_t kStep = 512 << 10;
// How long a relaxed write may stay unsynced: long enough for many to share one sync.
constexpr auto kSoon = std::chrono::milliseconds(200);
// The free space that must remain on the disk; otherwise the log is not extended.
constexpr std::uint64_t kSpare = 128 << 20;

class LogFile {
 public:
  explicit LogFile(const std::filesystem::path& database)
      : fd_(::open((database.string() + "-wal").c_str(), O_RDWR | O_CLOEXEC)) {}
  LogFile(const LogFile&) = delete;
  ~LogFile() {
    if (fd_ >= 0) ::close(fd_);
  }

  off_t size() const {
    struct stat status{};
    return fd_ >= 0 && ::fstat(fd_, &status) == 0 ? status.st_size : kFullLog;
  }
  bool has_room() const {
    struct statvfs disk{};
    return fd_ >= 0 && ::fstatvfs(fd_, &disk) == 0 && disk.f_bavail * disk.f_frsize >= kSpare;
  }
  // Readers of the log do not take zeros for a frame. False: there is no room; nothing has changed.
  bool add(const std::vector<char>& zeros) {
    const off_t end = size();
    const bool added =
        ::pwrite(fd_, zeros.data(), zeros.size(), end) == static_cast<ssize_t>(zeros.size());
    if (!added && ::ftruncate(fd_, end) != 0) return false;
    return added;
  }
  bool sync() { return fd_ >= 0 && ::fdatasync(fd_) == 0; }

 private:
  int fd_;
};

}  // namespace

Checkpointer::~Checkpointer() {
  std::thread thread;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    thread = std::move(thread_);
  }
  changed_.notify_one();
  if (thread.joinable()) thread.join();
}

void Checkpointer::wake() {
  const MutexLock lock(mutex_);
  to_copy_ = true;
  start();
}

void Checkpointer::extend() {
  const MutexLock lock(mutex_);
  to_extend_ = true;
  start();
}

void Checkpointer::sync_soon() {
  const MutexLock lock(mutex_);
  if (sync_at_) return;
  sync_at_ = std::chrono::steady_clock::now() + kSoon;
  start();
}

// A thread that must stop was moved out of `thread_`, and no new one is started.
void Checkpointer::start() {
  if (!thread_.joinable() && !stopping_) thread_ = std::thread([this] { work(); });
  changed_.notify_one();
}

void Checkpointer::work() {
  for (bool last = false; !last;) {
    bool extends = false;
    bool copies = false;
    bool syncs = false;
    {
      const MutexLock lock(mutex_);
      while (!is_asked() && !(sync_at_ && std::chrono::steady_clock::now() >= *sync_at_)) {
        if (sync_at_) {
          changed_.wait_until(mutex_, *sync_at_);
        } else {
          changed_.wait(mutex_);
        }
      }
      last = stopping_;
      extends = std::exchange(to_extend_, false) && !last;
      copies = std::exchange(to_copy_, false) && !last;
      syncs = sync_at_ && (last || std::chrono::steady_clock::now() >= *sync_at_);
      if (syncs) sync_at_.reset();
    }
    if (extends) write_ahead();
    if (copies) copy();
    if (syncs) sync();
  }
}

bool Checkpointer::stopping() {
  const MutexLock lock(mutex_);
  return stopping_;
}

Connection* Checkpointer::connection() {
  if (!connection_) {
    Result<std::unique_ptr<Connection>> opened = Connection::open(options_);
    if (opened) connection_ = std::move(*opened);
  }
  return connection_.get();
}

// Works in steps, so that no writer waits long. INVARIANT: the file grows only under the lock that
// writers of all processes take, so that no frame is overwritten.
void Checkpointer::write_ahead() {
  Connection* const db = connection();
  if (db == nullptr) return;
  LogFile log(options_.file);
  const std::vector<char> zeros(kStep);
  while (log.size() < kFullLog && log.has_room() && !stopping()) {
    const MutexLock lock(copying_);
    if (!db->query("BEGIN IMMEDIATE").run()) return;
    const bool added = log.add(zeros);
    (void)db->run("ROLLBACK");
    if (!added || !log.sync()) return;
  }
}

void Checkpointer::sync() {
  const bool failed_before = owes_sync_;
  // A custom file layer would not see a sync past it.
  if (!failed_before && options_.vfs.empty() && LogFile(options_.file).sync()) return;
  Connection* const db = connection();
  const MutexLock lock(copying_);
  const Result<bool> copied =
      db == nullptr ? fail(ErrorCode::Unavailable, "no connection") : db->copy_log();
  const bool is_lost = !copied || (!*copied && (failed_before || options_.vfs.empty()));
  owes_sync_ = is_lost;
  if (is_lost) sync_soon();
}

// A failure is not reported: the log stays long, and the next writer gets the same error.
void Checkpointer::copy() {
  Connection* const db = connection();
  const MutexLock lock(copying_);
  if (db != nullptr && db->copy_log()) copied_ = true;
}

}  // namespace sallyport::store
