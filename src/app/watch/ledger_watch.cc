#include "app/watch/ledger_watch.h"

#include <fmt/format.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace sallyport::app {

void LedgerWatch::look() {
  ledger::Health now = ledger_.health();
  if (now.ok == told_.ok && now.cause == told_.cause) return;
  if (now.ok) {
    log_("the ledger takes entries again, and calls are accepted");
  } else if (now.cause == "corrupt") {
    log_(
        fmt::format("calls are refused until this process is started again: {}; run `sallyport "
                    "ledger verify`",
                    now.detail));
  } else {
    log_(
        fmt::format("calls are refused until the ledger can be written: {}; it is tried again "
                    "every second",
                    now.detail));
  }
  told_ = std::move(now);
}

Async<void> LedgerWatch::run() {
  timer_.emplace(co_await boost::asio::this_coro::executor);
  while (!stopped_) {
    look();
    timer_->expires_after(std::chrono::seconds(1));
    co_await timer_->async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
  }
}

void LedgerWatch::stop() {
  stopped_ = true;
  if (timer_) timer_->cancel();
}

}  // namespace sallyport::app
