#include "telemetry/exporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/try.h"

namespace sallyport::telemetry {

namespace {

using std::chrono::steady_clock;

constexpr std::size_t kBatch = 512;
constexpr std::size_t kLargestAnswer = 64 * 1024;

std::chrono::milliseconds time_left(steady_clock::time_point until) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(until - steady_clock::now());
}

}  // namespace

Result<std::unique_ptr<Exporter>> Exporter::open(boost::asio::any_io_executor executor, Parts parts,
                                                 Settings settings) {
  net::HttpClient::Settings collector{
      .url = settings.url, .allow_plain = settings.allow_plain, .follow_redirects = false};
  SALLYPORT_TRY(auto client, net::HttpClient::open(executor, std::move(collector)));
  parts.tracer.turn_on();
  return std::unique_ptr<Exporter>(
      new Exporter(executor, std::move(parts), std::move(settings), std::move(client)));
}

Exporter::Exporter(boost::asio::any_io_executor executor, Parts parts, Settings settings,
                   std::unique_ptr<net::HttpClient> client)
    : parts_(std::move(parts)),
      settings_(std::move(settings)),
      since_(parts_.clock.wall()),
      metrics_sent_at_(steady_clock::now()),
      client_(std::move(client)),
      timer_(executor) {
  settings_.headers.emplace_back("Content-Type", "application/json");
}

Async<void> Exporter::run() {
  while (!stopped_) {
    timer_.expires_after(std::min(settings_.between, settings_.between_metrics));
    co_await timer_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    if (stopped_) break;
    co_await send_spans(steady_clock::now() + settings_.longest);
    if (!stopped_ && steady_clock::now() - metrics_sent_at_ >= settings_.between_metrics) {
      co_await send_metrics(steady_clock::now() + settings_.longest);
    }
  }
  const auto until = steady_clock::now() + settings_.farewell;
  co_await send_spans(until);
  parts_.tracer.dropped(parts_.tracer.take(Tracer::kMostWaiting).size());
  co_await send_metrics(until);
}

void Exporter::stop() {
  stopped_ = true;
  timer_.cancel();
}

// If the collector does not answer, one batch is lost for each attempt.
Async<void> Exporter::send_spans(steady_clock::time_point until) {
  while (parts_.tracer.waiting() > 0 && time_left(until).count() > 0) {
    const std::vector<Span> batch = parts_.tracer.take(kBatch);
    std::string body = otlp_json(settings_.service, batch);
    const Result<void> sent =
        co_await send(settings_.url.target, std::move(body), time_left(until));
    if (!sent) {
      parts_.tracer.dropped(batch.size());
      report(sent.error());
      co_return;
    }
    parts_.tracer.sent(batch.size());
  }
}

// They are sums since the start, so that a failed report loses nothing.
Async<void> Exporter::send_metrics(steady_clock::time_point until) {
  if (settings_.metrics.empty() || time_left(until).count() <= 0) co_return;
  metrics_sent_at_ = steady_clock::now();
  std::string body = otlp_json(settings_.service, parts_.metrics, since_, parts_.clock.wall());
  const Result<void> sent = co_await send(settings_.metrics, std::move(body), time_left(until));
  if (!sent) report(sent.error());
}

Task<void> Exporter::send(std::string target, std::string body, std::chrono::milliseconds longest) {
  const auto exchange = client_->exchange();
  net::HttpRequest request{
      .target = std::move(target), .headers = settings_.headers, .body = std::move(body)};
  SALLYPORT_CO_TRY(const net::HttpHead head, co_await exchange->send(std::move(request), longest));
  // Read to its end, so that the connection is used again.
  SALLYPORT_CO_CHECK_OK(co_await exchange->read_all(kLargestAnswer, longest));
  if (head.status / 100 == 2) co_return Result<void>{};
  co_return fail(ErrorCode::Unavailable, fmt::format("it answers {}", head.status));
}

void Exporter::report(const Error& error) {
  const auto now = steady_clock::now();
  if (reported_at_ && now - *reported_at_ < std::chrono::minutes(1)) return;
  reported_at_ = now;
  parts_.log(
      fmt::format("warning: the collector {} did not take what was sent; spans are dropped: {}",
                  settings_.url.text(), error.message));
}

}  // namespace sallyport::telemetry
