// The connections on which one process reads a log. There are at most `kMost`; a thread that needs
// one more waits until another gives its own back. Every method may be called from any thread.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>

#include "base/mutex.h"
#include "store/postgresql/link.h"

namespace sallyport::store::postgresql {

class ReaderPool {
 public:
  static constexpr std::size_t kMost = 16;

  explicit ReaderPool(Link::Options options) : options_(std::move(options)) {}
  ReaderPool(const ReaderPool&) = delete;

  struct GiveBack {
    ReaderPool* pool = nullptr;
    void operator()(Link* reader) const { pool->give_back(std::unique_ptr<Link>(reader)); }
  };
  // Returns to the pool when it is destroyed. The pool must outlive it.
  using Reader = std::unique_ptr<Link, GiveBack>;

  // Waits for a free connection, at most the patience of the options. For a moment after a failure
  // it fails at once.
  Result<Reader> take();
  // Makes reads fail at once for a moment, so that a lost database does not block a loop again and
  // again.
  void note_failure(const Error& error);

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Idle {
    std::unique_ptr<Link> link;
    Time since;
  };

  Result<std::unique_ptr<Link>> take_idle(Time deadline);
  bool may_open(Time now) const SALLYPORT_REQUIRES(mutex_);
  bool others_will_return(Time now);
  void give_back(std::unique_ptr<Link> reader);

  const Link::Options options_;
  Mutex mutex_;
  Condition returned_;
  std::size_t lent_ SALLYPORT_GUARDED_BY(mutex_) = 0;
  std::deque<Idle> idle_ SALLYPORT_GUARDED_BY(mutex_);
  Time quiet_until_ SALLYPORT_GUARDED_BY(mutex_){};
  Time full_until_ SALLYPORT_GUARDED_BY(mutex_){};  // the server refused further connections
  std::optional<Error> failed_ SALLYPORT_GUARDED_BY(mutex_);
};

}  // namespace sallyport::store::postgresql
