// Maintains the write-ahead log on its own thread, so that no caller waits for it. It copies a long
// log into the database, which writes megabytes and syncs twice. It extends a short log before that
// is needed, because syncing a file that grows takes twice as long. It soon syncs what a caller
// wrote without waiting for the disk.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "base/mutex.h"
#include "store/sqlite/connection.h"

namespace sallyport::store {

class Checkpointer {
 public:
  explicit Checkpointer(Connection::Options options) : options_(std::move(options)) {}
  ~Checkpointer();

  // Copies the log, which has become long, once. Starts the thread when first called.
  void wake();

  // Extends the log to its full length, once: more writes follow.
  void extend();

  // Syncs an unsynced write after a fifth of a second.
  void sync_soon();

  // True: such a sync failed, so its writes may not be on disk. Copying the log repairs this and is
  // tried again and again: the kernel reports a lost page only once.
  bool owes_sync() const { return owes_sync_; }

  // True if a copy has ended since the last call. It lacks only what was written meanwhile.
  bool has_copied() { return copied_.exchange(false); }

  // Runs `work` while the log is neither copied nor extended: two of these at a time are `busy`, not
  // one after the other.
  template <class Work>
  auto paused(Work work) {
    const MutexLock lock(copying_);
    return work();
  }

 private:
  void start() SALLYPORT_REQUIRES(mutex_);
  bool is_asked() const SALLYPORT_REQUIRES(mutex_) { return to_copy_ || to_extend_ || stopping_; }
  void work();
  bool stopping();
  Connection* connection();  // null: none can be had
  void copy();
  void write_ahead();
  void sync();

  const Connection::Options options_;
  Mutex copying_;
  std::unique_ptr<Connection> connection_;  // of the thread
  std::atomic<bool> copied_ = false;
  std::atomic<bool> owes_sync_ = false;

  Mutex mutex_;
  Condition changed_;
  bool to_copy_ SALLYPORT_GUARDED_BY(mutex_) = false;
  bool to_extend_ SALLYPORT_GUARDED_BY(mutex_) = false;
  std::optional<std::chrono::steady_clock::time_point> sync_at_ SALLYPORT_GUARDED_BY(mutex_);
  bool stopping_ SALLYPORT_GUARDED_BY(mutex_) = false;
  std::thread thread_ SALLYPORT_GUARDED_BY(mutex_);
};

}  // namespace sallyport::store
