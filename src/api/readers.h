// Threads that read for requests, so that the loop never waits for a disk: two of them, with a
// bounded queue and a deadline for each request.
#pragma once

#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>

#include "base/async.h"
#include "base/on_pool.h"
#include "base/race.h"

namespace sallyport::api {

// Runs blocking reads on a pool. Used on the loop of the server. The destructor waits for running
// work, so the objects that it uses must outlive this one.
class Readers {
 public:
  struct Limits {
    std::size_t threads = 2;
    std::size_t waiting = 64;
    std::chrono::milliseconds longest{10'000};
  };
  Readers() : Readers(Limits()) {}
  explicit Readers(Limits limits) : limits_(limits), pool_(limits.threads) {}
  ~Readers() { pool_.join(); }

  // Long work calls this repeatedly. True: the caller still waits. It also yields the processor, so
  // that reads do not delay calls.
  using Wanted = std::function<bool()>;

  // `Unavailable`, `busy`: too many wait. `Deadline`, `timeout`: it took too long.
  template <class T>
  Task<T> run(std::function<Result<T>(const Wanted&)> work) {
    if (inside_->load() >= limits_.threads + limits_.waiting) {
      co_return fail(ErrorCode::Unavailable, "too many reads are waiting; try again", {}, "busy");
    }
    const auto wanted = std::make_shared<std::atomic<bool>>(true);
    const auto place = std::make_shared<Place>(inside_);
    const Wanted ask = [wanted, turn = Turn()]() mutable {
      turn.give_way();
      return wanted->load();
    };
    auto task = [work = std::move(work), ask, place]() -> Result<T> {
      if (!ask()) return fail(ErrorCode::Cancelled, "the caller no longer waits");
      return work(ask);
    };
    const auto deadline = std::chrono::steady_clock::now() + limits_.longest;
    Raced<Result<T>> raced = co_await race<Result<T>>(on_pool<Result<T>>(pool_, std::move(task)),
                                                      deadline, std::stop_token());
    wanted->store(false);
    if (raced.finish == Finish::Worked) co_return std::move(*raced.value);
    if (raced.finish == Finish::Threw) {
      co_return fail(ErrorCode::Internal, "an internal error ended this request; please report it");
    }
    co_return fail(ErrorCode::Deadline, "this took too long; ask for less", {}, "timeout");
  }

 private:
  // Yields the processor at most every 100 microseconds. More often would cost more than reading.
  class Turn {
   public:
    void give_way() {
      const auto now = std::chrono::steady_clock::now();
      if (now - since_ < std::chrono::microseconds(100)) return;
      std::this_thread::yield();
      since_ = std::chrono::steady_clock::now();
    }

   private:
    std::chrono::steady_clock::time_point since_{};
  };
  // Shared with work that runs on after its caller stopped waiting.
  using Count = std::shared_ptr<std::atomic<std::size_t>>;
  struct Place {
    explicit Place(Count of) : count(std::move(of)) { ++*count; }
    Place(const Place&) = delete;
    ~Place() { --*count; }
    Count count;
  };

  Limits limits_;
  Count inside_ = std::make_shared<std::atomic<std::size_t>>(0);
  boost::asio::thread_pool pool_;  // joined first
};

}  // namespace sallyport::api
