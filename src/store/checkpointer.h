// Copies the write-ahead log into the database on a thread of its own, so that no caller waits for
// it: a copy writes megabytes and syncs twice.
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

  // Has a copy ended since this was last asked? What is missing then is what was written meanwhile.
  bool has_copied() { return copied_.exchange(false); }

  // As long as it is held nothing is copied: two copies at a time are `busy`, not one after the
  // other.
  std::unique_lock<std::mutex> pause() { return std::unique_lock(copying_); }

 private:
  void work();
  void copy();

  const Connection::Options options_;
  std::mutex copying_;
  std::unique_ptr<Connection> connection_;  // of the thread
  std::atomic<bool> copied_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool asked_ = false;     // GUARDED_BY(mutex_)
  bool stopping_ = false;  // GUARDED_BY(mutex_)
  std::thread thread_;     // GUARDED_BY(mutex_) until it is joined
};

}  // namespace sallyport::store
