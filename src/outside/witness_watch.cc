#include "outside/witness_watch.h"

#include <fmt/format.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/try.h"

namespace sallyport::app {

namespace asio = boost::asio;

Result<std::unique_ptr<WitnessWatch>> WitnessWatch::open(WitnessRounds::Parts parts,
                                                         ledger::WitnessPolicy policy) {
  std::unique_ptr<WitnessWatch> watch(new WitnessWatch());
  watch->log_ = parts.log;
  SALLYPORT_TRY(watch->rounds_, WitnessRounds::open(watch->loop_.get_executor(), std::move(parts),
                                                    std::move(policy)));
  return watch;
}

WitnessWatch::~WitnessWatch() {
  stop();
  if (thread_.joinable()) thread_.join();
}

void WitnessWatch::start() {
  if (thread_.joinable()) return;
  asio::co_spawn(loop_, run(), [this](const std::exception_ptr&) { loop_.stop(); });
  thread_ = std::thread([this] { loop_.run(); });
}

void WitnessWatch::stop() {
  asio::post(loop_, [this] {
    stopped_ = true;
    timer_.cancel();
    rounds_->cancel();
  });
}

Async<void> WitnessWatch::run() {
  while (!stopped_) {
    co_await look();
    if (stopped_) break;
    timer_.expires_after(std::chrono::seconds(1));
    co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
  }
}

Async<void> WitnessWatch::look() {
  Result<void> done;
  const Result<bool> claimed = rounds_->claim();
  if (!claimed) {
    done = std::unexpected(claimed.error());
  } else if (*claimed) {
    const Result<WitnessRounds::Round> round = co_await rounds_->offer(false);
    if (!round) done = std::unexpected(round.error());
  }
  // Logged once until it works again: the state of the ledger is logged elsewhere.
  if (!done && !std::exchange(reported_, true)) {
    log_(
        fmt::format("warning: checkpoints are not offered to witnesses: {}", done.error().message));
  }
  if (done) reported_ = false;
}

}  // namespace sallyport::app
