// A clock that stands still until the test moves it.
#pragma once

#include <atomic>

#include "base/clock.h"

namespace sallyport::test {

class TestClock final : public Clock {
 public:
  WallTime wall() const override { return WallTime{std::chrono::microseconds{wall_.load()}}; }
  SteadyTime steady() const override {
    return SteadyTime{std::chrono::microseconds{steady_.load()}};
  }

  void advance(std::chrono::microseconds time) {
    wall_ += time.count();
    steady_ += time.count();
  }
  void step_wall(std::chrono::microseconds time) { wall_ += time.count(); }

 private:
  std::atomic<std::int64_t> wall_{1'763'172'000'000'000};  // 2025-11-15T02:00:00Z
  std::atomic<std::int64_t> steady_{1'000'000'000};
};

}  // namespace sallyport::test
