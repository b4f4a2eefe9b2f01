// The calls that are inside an engine.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <stop_token>
#include <utility>

#include "base/mutex.h"
#include "sallyport/result.h"

namespace sallyport {

// Counts the threads inside an engine. The engine is destroyed after all have left. After that, and
// in the child of a fork, which has no engine threads, no thread may enter.
class Visitors {
 public:
  class Visit {
   public:
    explicit Visit(Visitors& visitors) : visitors_(&visitors) {}
    Visit(Visit&& other) noexcept : visitors_(std::exchange(other.visitors_, nullptr)) {}
    ~Visit();

   private:
    Visitors* visitors_;
  };

  Result<Visit> enter();
  // Asks all visitors to leave and waits for them.
  void close();
  std::stop_token leaving() const { return leaving_.get_token(); }
  bool here() const { return process_ == getpid(); }

 private:
  const pid_t process_ = getpid();
  std::stop_source leaving_;
  Mutex mutex_;
  Condition left_;
  std::size_t inside_ SALLYPORT_GUARDED_BY(mutex_) = 0;
};

}  // namespace sallyport
