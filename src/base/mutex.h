// Locks that the compiler checks (Clang's -Wthread-safety). `std::mutex` of libstdc++ has no
// annotations, so the compiler cannot check it. Prefer `Guarded<T>` for one value with one lock.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define SALLYPORT_THREAD_ATTRIBUTE(attribute) __attribute__((attribute))
#else
#define SALLYPORT_THREAD_ATTRIBUTE(attribute)
#endif

// For a member that is read and written only while the lock is held.
#define SALLYPORT_GUARDED_BY(lock) SALLYPORT_THREAD_ATTRIBUTE(guarded_by(lock))
// For a function that is called only while the lock is held.
#define SALLYPORT_REQUIRES(...) SALLYPORT_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))

namespace sallyport {

class SALLYPORT_THREAD_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  void lock() SALLYPORT_THREAD_ATTRIBUTE(acquire_capability()) { mutex_.lock(); }
  void unlock() SALLYPORT_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }
  bool try_lock() SALLYPORT_THREAD_ATTRIBUTE(try_acquire_capability(true)) {
    return mutex_.try_lock();
  }
  // Tells the compiler that the caller holds the lock.
  void assert_held() const SALLYPORT_THREAD_ATTRIBUTE(assert_capability(this)) {}

 private:
  friend class Condition;
  std::mutex mutex_;
};

class SALLYPORT_THREAD_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) SALLYPORT_THREAD_ATTRIBUTE(acquire_capability(mutex))
      : mutex_(mutex) {
    mutex_.lock();
  }
  // Adopts a lock that `try_lock` took.
  MutexLock(Mutex& mutex, std::adopt_lock_t) SALLYPORT_REQUIRES(mutex) : mutex_(mutex) {}
  MutexLock(const MutexLock&) = delete;
  ~MutexLock() SALLYPORT_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }

 private:
  Mutex& mutex_;
};

// A wait releases the lock and may end early, so check the condition in a loop.
class Condition {
 public:
  void wait(Mutex& mutex) SALLYPORT_REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    (void)lock.release();
  }

  // Returns false if the time is over.
  bool wait_until(Mutex& mutex, std::chrono::steady_clock::time_point end)
      SALLYPORT_REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    const bool in_time = condition_.wait_until(lock, end) == std::cv_status::no_timeout;
    (void)lock.release();
    return in_time;
  }

  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace sallyport
