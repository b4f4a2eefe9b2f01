// Reloads the certificate of `sallyport serve` when its files change. New connections use a valid
// change within two seconds. An invalid change is counted and logged, and the last valid one stays.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/async.h"
#include "base/metrics.h"
#include "net/http_server.h"
#include "net/server_tls.h"

namespace sallyport::app {

// Used on the loop of the server, which must outlive it.
class TlsWatch {
 public:
  using Log = std::function<void(std::string_view)>;
  TlsWatch(net::HttpServer& server, Metrics& metrics, Log log);

  // The first time. An error: nothing may be served.
  Result<void> open(net::ServerTls::Files files);
  // What SIGHUP asks for. An error: it is counted, and the last good one stays.
  Result<std::unique_ptr<net::ServerTls>> read(const net::ServerTls::Files& files);
  void use(net::ServerTls::Files files, std::unique_ptr<net::ServerTls> tls);

  // Until `stop`. On the executor that awaits it.
  Async<void> run();
  void stop();

 private:
  using Stamp = std::pair<std::filesystem::file_time_type, std::uintmax_t>;
  using Stamps = std::optional<std::pair<Stamp, Stamp>>;
  Stamps stamps() const;
  void look();

  net::HttpServer& server_;
  Log log_;
  MetricNumbers& reloads_;
  MetricNumber& ends_;
  net::ServerTls::Files files_;
  Stamps used_;  // of the files that were read last
  Stamps seen_;
  std::optional<boost::asio::steady_timer> timer_;
  bool stopped_ = false;
};

}  // namespace sallyport::app
