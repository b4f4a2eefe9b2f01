#include "app/watch/ledger_watch.h"

#include <fmt/format.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace sallyport::app {

void LedgerWatch::look() {
  look_at_health();
  look_at_files();
}

void LedgerWatch::look_at_files() {
  const bool now = ledger_.owes_scrub();
  if (now == reported_scrub_) return;
  log_(now ? "the ledger's files still hold content that retention erased, because a reader keeps "
             "the write-ahead log; it is removed as soon as that reader ends"
           : "the content that retention erased is gone from the ledger's files");
  reported_scrub_ = now;
}

void LedgerWatch::look_at_health() {
  ledger::Health now = ledger_.health();
  if (now.ok == reported_.ok && now.cause == reported_.cause) return;
  if (now.ok) {
    log_("the ledger takes entries again, and calls are accepted");
  } else if (now.cause == "corrupt") {
    constexpr std::string_view kVerify = "run `sallyport ledger verify`";
    log_(fmt::format("calls are refused until this process is started again: {}{}{}", now.detail,
                     now.detail.contains(kVerify) ? "" : "; ",
                     now.detail.contains(kVerify) ? "" : kVerify));
  } else {
    log_(
        fmt::format("calls are refused until the ledger can be written: {}; it is tried again "
                    "every second",
                    now.detail));
  }
  reported_ = std::move(now);
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
