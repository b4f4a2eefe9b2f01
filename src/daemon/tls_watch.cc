#include "daemon/tls_watch.h"

#include <fmt/format.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/try.h"

namespace sallyport::app {

TlsWatch::TlsWatch(net::HttpServer& server, Metrics& metrics, Log log)
    : server_(server),
      log_(std::move(log)),
      reloads_(metrics.counter("sallyport_tls_reloads_total",
                               "Changes of the certificate that were loaded or refused.",
                               {"outcome"})),
      ends_(metrics
                .gauge("sallyport_tls_certificate_end_seconds",
                       "When the certificate in use ends, since 1970.")
                .at({})) {
  // Both are there from the start, so that an alert can compare.
  reloads_.at({"taken"});
  reloads_.at({"refused"});
}

Result<void> TlsWatch::open(net::ServerTls::Files files) {
  SALLYPORT_TRY(std::unique_ptr<net::ServerTls> tls, net::ServerTls::load(files));
  use(std::move(files), std::move(tls));
  return {};
}

Result<std::unique_ptr<net::ServerTls>> TlsWatch::read(const net::ServerTls::Files& files) {
  Result<std::unique_ptr<net::ServerTls>> tls = net::ServerTls::load(files);
  reloads_.at({tls ? "taken" : "refused"}).add();
  return tls;
}

void TlsWatch::use(net::ServerTls::Files files, std::unique_ptr<net::ServerTls> tls) {
  files_ = std::move(files);
  rest_.know(states());
  const auto end = tls->not_after();
  ends_.set(std::chrono::duration<double>(end.time_since_epoch()).count());
  if (end < std::chrono::system_clock::now()) {
    log_(fmt::format("warning: the certificate in {} has ended; clients will refuse it",
                     files_.certificate.string()));
  }
  server_.serve_tls(std::move(tls));
}

// Two files are replaced one after the other: they are read when both have rested for a moment.
void TlsWatch::look() {
  const FileRest::States now = states();
  if (!rest_.changed(now)) return;
  rest_.know(now);
  Result<std::unique_ptr<net::ServerTls>> tls = read(files_);
  if (!tls) {
    log_(fmt::format(
        "warning: the changed certificate was refused, the last good one stays in use: {}",
        tls.error().message));
    return;
  }
  use(files_, std::move(*tls));
  log_(fmt::format("new connections use the changed certificate in {}",
                   files_.certificate.string()));
}

Async<void> TlsWatch::run() {
  timer_.emplace(co_await boost::asio::this_coro::executor);
  while (!stopped_) {
    timer_->expires_after(FileRest::kBetweenLooks);
    co_await timer_->async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    if (!stopped_) look();
  }
}

void TlsWatch::stop() {
  stopped_ = true;
  if (timer_) timer_->cancel();
}

}  // namespace sallyport::app
