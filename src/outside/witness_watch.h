// Offers the newest checkpoint to witnesses while a process runs, at most once a second, on a
// thread of its own, so that no call waits for a witness.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <thread>

#include "outside/witness_rounds.h"

namespace sallyport::app {

class WitnessWatch {
 public:
  // An error: as of `WitnessRounds::open`. The parts must outlive it.
  static Result<std::unique_ptr<WitnessWatch>> open(WitnessRounds::Parts parts,
                                                    ledger::WitnessPolicy policy);
  WitnessWatch(const WitnessWatch&) = delete;
  ~WitnessWatch();

  void start();
  void stop();  // from any thread; does not wait

 private:
  WitnessWatch() : timer_(loop_) {}
  Async<void> run();
  Async<void> look();

  boost::asio::io_context loop_{1};
  boost::asio::steady_timer timer_;
  std::unique_ptr<WitnessRounds> rounds_;
  std::function<void(std::string_view)> log_;
  bool stopped_ = false;   // on the thread
  bool reported_ = false;  // that the ledger does not accept the answers of witnesses
  std::thread thread_;
};

}  // namespace sallyport::app
