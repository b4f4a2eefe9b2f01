// Backtests that people start over HTTP: one at a time, on its own thread, and it can be stopped. A
// backtest runs and writes nothing (CO-60).
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"
#include "workbench/backtest.h"

namespace sallyport::app {

// May be called from any thread. The scene and the clock must outlive it.
class BacktestDesk {
 public:
  static constexpr std::size_t kMostKept = 20;
  static constexpr std::chrono::minutes kLongest{10};

  BacktestDesk(ExplainScene scene, const Clock& clock) : scene_(std::move(scene)), clock_(clock) {}
  BacktestDesk(const BacktestDesk&) = delete;
  ~BacktestDesk();  // stops a running backtest and waits for it

  // `Conflict`: one runs already.
  Result<std::string> start(const std::string& who, BacktestTerms terms);
  // Stops a running backtest and deletes it with its result. False: no backtest has this id.
  bool drop(const std::string& id);
  // The newest first, without results.
  json::array list() const;
  std::optional<json::object> show(const std::string& id) const;

 private:
  struct Test {
    std::string id{};
    std::string who{};
    std::string policy{};
    std::string started_at{};
    std::string state = "running";  // done, stopped, failed
    std::string why{};              // it failed
    json::object summary{};
    json::array groups{};
    std::shared_ptr<std::atomic<bool>> stopped = std::make_shared<std::atomic<bool>>(false);
    std::shared_ptr<std::atomic<std::uint64_t>> read =
        std::make_shared<std::atomic<std::uint64_t>>(0);

    json::object to_json() const;
  };
  struct State {
    std::vector<Test> tests{};  // the newest last
    std::uint64_t next = 1;
    std::jthread thread{};
  };
  void run(Test test, BacktestTerms terms);
  void finish(const Test& test);

  ExplainScene scene_;
  const Clock& clock_;
  Guarded<State> state_;
};

}  // namespace sallyport::app
