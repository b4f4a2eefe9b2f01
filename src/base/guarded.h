// A value and the lock that guards it. The value is only reachable inside `with`, so a lock can
// neither be forgotten nor held across a suspension.
#pragma once

#include <utility>

#include "base/mutex.h"

namespace sallyport {

template <class T>
class Guarded {
 public:
  Guarded() = default;
  explicit Guarded(T value) : value_(std::move(value)) {}

  template <class Use>
  auto with(Use&& use) {
    const MutexLock lock(mutex_);
    return std::forward<Use>(use)(value_);
  }

  template <class Use>
  auto with(Use&& use) const {
    const MutexLock lock(mutex_);
    return std::forward<Use>(use)(value_);
  }

 private:
  mutable Mutex mutex_;
  T value_ SALLYPORT_GUARDED_BY(mutex_);
};

}  // namespace sallyport
