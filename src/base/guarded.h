// A value and the lock that guards it. The value is only reachable inside `with`, so a lock can
// neither be forgotten nor held across a suspension.
#pragma once

#include <mutex>
#include <utility>

namespace sallyport {

template <class T>
class Guarded {
 public:
  Guarded() = default;
  explicit Guarded(T value) : value_(std::move(value)) {}

  template <class Use>
  auto with(Use&& use) {
    const std::lock_guard lock(mutex_);
    return std::forward<Use>(use)(value_);
  }

  template <class Use>
  auto with(Use&& use) const {
    const std::lock_guard lock(mutex_);
    return std::forward<Use>(use)(value_);
  }

 private:
  mutable std::mutex mutex_;
  T value_;
};

}  // namespace sallyport
