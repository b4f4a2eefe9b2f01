// Keeps the write-ahead log at its best length, on a thread of its own, so that no caller waits for
// it. A long log is copied into the database, which writes megabytes and syncs twice. A short one
// is made longer before it is needed: syncing into a file that grows takes twice as long.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "store/connection.h"

namespace sallyport::store {

class Checkpointer {
 public:
  explicit Checkpointer(Connection::Options options) : options_(std::move(options)) {}
  ~Checkpointer();

  // The log has become long: copies it once. Starts the thread when first called.
  void wake();

  // Somebody goes on writing: the log is given its full length, once.
  void extend();

  // Has a copy ended since this was last asked? What is missing then is what was written meanwhile.
  bool has_copied() { return copied_.exchange(false); }

  // As long as it is held nothing is copied: two copies at a time are `busy`, not one after the
  // other.
  std::unique_lock<std::mutex> pause() { return std::unique_lock(copying_); }

 private:
  void ask(bool& what);
  void work();
  bool stopping();
  Connection* connection();  // null: none can be had
  void copy();
  void write_ahead();

  const Connection::Options options_;
  std::mutex copying_;
  std::unique_ptr<Connection> connection_;  // of the thread
  std::atomic<bool> copied_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool to_copy_ = false;    // GUARDED_BY(mutex_)
  bool to_extend_ = false;  // GUARDED_BY(mutex_)
  bool stopping_ = false;   // GUARDED_BY(mutex_)
  std::thread thread_;      // GUARDED_BY(mutex_) until it is joined
};

}  // namespace sallyport::store
