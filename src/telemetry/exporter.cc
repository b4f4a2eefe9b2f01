#include "telemetry/exporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/try.h"

namespace sallyport::telemetry {

namespace {

constexpr std::size_t kBatch = 512;
constexpr std::size_t kLargestAnswer = 64 * 1024;

}  // namespace

Result<std::unique_ptr<Exporter>> Exporter::open(boost::asio::any_io_executor executor,
                                                 Tracer& tracer, Settings settings, Log log) {
  net::HttpClient::Settings collector{
      .url = settings.url, .allow_plain = settings.allow_plain, .follow_redirects = false};
  SALLYPORT_TRY(auto client, net::HttpClient::open(executor, std::move(collector)));
  std::unique_ptr<Exporter> exporter(
      new Exporter(executor, tracer, std::move(settings), std::move(log), std::move(client)));
  tracer.turn_on();
  return exporter;
}

Exporter::Exporter(boost::asio::any_io_executor executor, Tracer& tracer, Settings settings,
                   Log log, std::unique_ptr<net::HttpClient> client)
    : tracer_(tracer),
      settings_(std::move(settings)),
      log_(std::move(log)),
      client_(std::move(client)),
      timer_(executor) {
  settings_.headers.emplace_back("Content-Type", "application/json");
}

Async<void> Exporter::run() {
  while (!stopped_) {
    timer_.expires_after(settings_.between);
    co_await timer_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    if (!stopped_) co_await send_all(std::chrono::steady_clock::now() + settings_.longest);
  }
  co_await send_all(std::chrono::steady_clock::now() + settings_.farewell);
  tracer_.dropped(tracer_.take(Tracer::kMostWaiting).size());
}

void Exporter::stop() {
  stopped_ = true;
  timer_.cancel();
}

// A collector that does not answer loses one batch for each time it is asked.
Async<void> Exporter::send_all(std::chrono::steady_clock::time_point until) {
  while (tracer_.waiting() > 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    if (left.count() <= 0) co_return;
    const std::vector<Span> batch = tracer_.take(kBatch);
    const Result<void> sent = co_await send(otlp_json(settings_.service, batch), left);
    if (!sent) {
      tracer_.dropped(batch.size());
      tell(sent.error());
      co_return;
    }
    tracer_.sent(batch.size());
  }
}

Task<void> Exporter::send(std::string body, std::chrono::milliseconds longest) {
  const auto exchange = client_->exchange();
  net::HttpRequest request{.headers = settings_.headers, .body = std::move(body)};
  SALLYPORT_CO_TRY(const net::HttpHead head, co_await exchange->send(std::move(request), longest));
  // Read to its end, so that the connection is used again.
  SALLYPORT_CO_CHECK_OK(co_await exchange->read_all(kLargestAnswer, longest));
  if (head.status / 100 == 2) co_return Result<void>{};
  co_return fail(ErrorCode::Unavailable, fmt::format("it answers {}", head.status));
}

void Exporter::tell(const Error& error) {
  const auto now = std::chrono::steady_clock::now();
  if (told_at_ && now - *told_at_ < std::chrono::minutes(1)) return;
  told_at_ = now;
  log_(fmt::format("warning: the collector {} did not take spans, which are dropped: {}",
                   settings_.url.text(), error.message));
}

}  // namespace sallyport::telemetry
