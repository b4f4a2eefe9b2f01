#include "embed/visitors.h"

namespace sallyport {

Visitors::Visit::~Visit() {
  if (visitors_ == nullptr) return;
  const MutexLock lock(visitors_->mutex_);
  if (--visitors_->inside_ == 0) visitors_->left_.notify_all();
}

Result<Visitors::Visit> Visitors::enter() {
  if (!here()) {
    return fail(ErrorCode::Conflict, "this engine is of another process, open one after the fork");
  }
  const MutexLock lock(mutex_);
  if (leaving_.stop_requested()) return fail(ErrorCode::Cancelled, "the engine is closing");
  ++inside_;
  return Visit(*this);
}

void Visitors::close() {
  leaving_.request_stop();
  const MutexLock lock(mutex_);
  while (inside_ > 0) left_.wait(mutex_);
}

}  // namespace sallyport
