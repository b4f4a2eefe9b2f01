// Sends spans to a collector over OTLP/HTTP, in batches and beside everything else: what it does
// not take in time is dropped and counted, and no call waits for it.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "base/async.h"
#include "net/http_client.h"
#include "telemetry/otlp_json.h"
#include "telemetry/tracer.h"

namespace sallyport::telemetry {

// On the context of its tracer, which must outlive it.
class Exporter {
 public:
  using Log = std::function<void(std::string_view)>;
  struct Settings {
    net::Url url{};  // of the collector, `/v1/traces` included
    bool allow_plain = false;
    net::HttpHeaders headers{};  // that the collector asks for
    Service service{};
    std::chrono::milliseconds between{1'000};   // batches
    std::chrono::milliseconds longest{5'000};   // for one batch
    std::chrono::milliseconds farewell{2'000};  // for all that waits when it ends
  };
  // An error: as of `net::HttpClient::open`.
  static Result<std::unique_ptr<Exporter>> open(boost::asio::any_io_executor executor,
                                                Tracer& tracer, Settings settings, Log log);
  Exporter(const Exporter&) = delete;

  // Until `stop`, and then until what waits was sent.
  Async<void> run();
  void stop();

 private:
  Exporter(boost::asio::any_io_executor executor, Tracer& tracer, Settings settings, Log log,
           std::unique_ptr<net::HttpClient> client);
  Async<void> send_all(std::chrono::steady_clock::time_point until);
  Task<void> send(std::string body, std::chrono::milliseconds longest);
  void tell(const Error& error);  // at most once a minute

  Tracer& tracer_;
  Settings settings_;
  Log log_;
  std::unique_ptr<net::HttpClient> client_;
  boost::asio::steady_timer timer_;
  std::optional<std::chrono::steady_clock::time_point> told_at_;
  bool stopped_ = false;
};

}  // namespace sallyport::telemetry
