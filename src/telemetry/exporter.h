// Sends spans and metrics to a collector over OTLP/HTTP, in the background. Spans that the
// collector does not accept in time are dropped and counted. No call waits for it.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/async.h"
#include "net/http_client.h"
#include "telemetry/otlp_json.h"
#include "telemetry/tracer.h"

namespace sallyport::telemetry {

// Use it on the context of its tracer.
class Exporter {
 public:
  // All must outlive it.
  struct Parts {
    Tracer& tracer;
    const Metrics& metrics;
    const Clock& clock;
    std::function<void(std::string_view)> log;
  };
  struct Settings {
    net::Url url{};         // of the collector; its path is that of spans
    std::string metrics{};  // the path of metrics there; empty: they are not sent
    bool allow_plain = false;
    net::HttpHeaders headers{};  // that the collector requires
    Service service{};
    std::chrono::milliseconds between{1'000};  // pause between batches of spans
    std::chrono::milliseconds between_metrics{60'000};
    std::chrono::milliseconds longest{5'000};   // time limit of one batch
    std::chrono::milliseconds farewell{2'000};  // time limit of the last batches
  };
  // Errors are those of `net::HttpClient::open`.
  static Result<std::unique_ptr<Exporter>> open(boost::asio::any_io_executor executor, Parts parts,
                                                Settings settings);
  Exporter(const Exporter&) = delete;

  // Runs until `stop`, then sends what still waits.
  Async<void> run();
  void stop();

 private:
  Exporter(boost::asio::any_io_executor executor, Parts parts, Settings settings,
           std::unique_ptr<net::HttpClient> client);
  Async<void> send_spans(std::chrono::steady_clock::time_point until);
  Async<void> send_metrics(std::chrono::steady_clock::time_point until);
  Task<void> send(std::string target, std::string body, std::chrono::milliseconds longest);
  void report(const Error& error);  // at most once a minute

  Parts parts_;
  Settings settings_;
  WallTime since_;  // when counting began
  std::chrono::steady_clock::time_point metrics_sent_at_;
  std::unique_ptr<net::HttpClient> client_;
  boost::asio::steady_timer timer_;
  std::optional<std::chrono::steady_clock::time_point> reported_at_;
  bool stopped_ = false;
};

}  // namespace sallyport::telemetry
