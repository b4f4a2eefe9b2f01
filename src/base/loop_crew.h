// Keeps an event loop running while one of its handlers waits for something slow, such as a database
// behind a network.
//
//   LoopCrew(loop).run();        // instead of loop.run()
//
//   Result<Rows> ask() {         // called by a handler of the loop, or by any other thread
//     const Aside aside;         // another thread takes the loop over if this lasts
//     if (!aside.may_wait()) return fail(...);
//     return wait_for_the_database();
//   }
//
// One handler runs at a time, as with one thread: a thread runs handlers only while it has the
// turn. `Aside` gives the turn away, and takes it back before it ends. Where waits have been long, a
// helper thread takes the turn at once and runs the other handlers meanwhile. Where they have been
// short, it does so only if this one lasts. So a function with an `Aside` is a place where other
// handlers may run, like a `co_await`.
//
// INVARIANT: no lock that a handler takes is held where an `Aside` begins.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace sallyport {

class LoopCrew {
 public:
  // A shorter wait is not worth waking another thread.
  static constexpr auto kShort = std::chrono::microseconds(500);
  // More handlers than this never wait at the same time.
  static constexpr std::size_t kMostHelpers = 256;

  // The loop must be made for more than one thread: its concurrency hint is not 1.
  explicit LoopCrew(boost::asio::io_context& loop) : loop_(loop) {}
  LoopCrew(const LoopCrew&) = delete;

  // Returns like `io_context::run`, after every wait has ended. Call it once for each object.
  void run();

 private:
  friend class Aside;
  using Steady = std::chrono::steady_clock;
  enum class Role { Main, Helper };

  bool leave(Steady::time_point now);
  void come_back(Steady::time_point left);
  void drive(Role role);
  bool gives_way(Role role) SALLYPORT_REQUIRES(mutex_);
  void help();
  bool may_take_over() const SALLYPORT_REQUIRES(mutex_);
  bool waits_are_long() const SALLYPORT_REQUIRES(mutex_) { return usual_wait_ >= kShort; }

  boost::asio::io_context& loop_;
  Mutex mutex_;
  Condition turn_;    // the turn is free, or the last wait has ended
  Condition vacant_;  // for helpers
  bool taken_ SALLYPORT_GUARDED_BY(mutex_) = false;
  bool over_ SALLYPORT_GUARDED_BY(mutex_) = false;
  bool main_waits_ SALLYPORT_GUARDED_BY(mutex_) = false;
  int away_ SALLYPORT_GUARDED_BY(mutex_) = 0;       // threads inside an `Aside`
  int returning_ SALLYPORT_GUARDED_BY(mutex_) = 0;  // how many of them want the turn back
  std::size_t idle_ SALLYPORT_GUARDED_BY(mutex_) = 0;
  bool watched_ SALLYPORT_GUARDED_BY(mutex_) = false;  // a helper checks whether the wait lasts
  Steady::time_point left_ SALLYPORT_GUARDED_BY(mutex_){};      // when the turn was last given away
  Steady::duration usual_wait_ SALLYPORT_GUARDED_BY(mutex_){};  // a moving average
  std::vector<std::thread> helpers_ SALLYPORT_GUARDED_BY(mutex_);
};

// While it exists, the calling thread may block. On a thread without a crew it does nothing.
class Aside {
 public:
  Aside();
  Aside(const Aside&) = delete;
  ~Aside();

  // False: too many handlers wait already. Do not block then.
  bool may_wait() const { return may_wait_; }

 private:
  LoopCrew* crew_ = nullptr;
  bool may_wait_ = true;
  std::chrono::steady_clock::time_point left_{};
};

}  // namespace sallyport
