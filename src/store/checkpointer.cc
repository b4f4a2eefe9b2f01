#include "store/checkpointer.h"

#include <utility>

namespace sallyport::store {

Checkpointer::~Checkpointer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Checkpointer::wake() {
  {
    const std::lock_guard lock(mutex_);
    asked_ = true;
    if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  }
  changed_.notify_one();
}

void Checkpointer::work() {
  while (true) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return asked_ || stopping_; });
      if (stopping_) return;
      asked_ = false;
    }
    copy();
  }
}

// A failure is no news to anybody: the log stays longer, and whoever writes into it next meets the
// same disk.
void Checkpointer::copy() {
  if (!connection_) {
    Result<std::unique_ptr<Connection>> opened = Connection::open(options_);
    if (!opened) return;
    connection_ = std::move(*opened);
  }
  const std::lock_guard lock(copying_);
  if (connection_->copy_log()) copied_ = true;
}

}  // namespace sallyport::store
