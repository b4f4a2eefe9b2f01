// Reloads the certificate of `sallyport serve` when its files change. New connections use a valid
// change within two seconds. An invalid change is counted and logged, and the last valid one stays.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "app/watch/file_rest.h"
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

  // Loads the files for the first time. An error: nothing may be served.
  Result<void> open(net::ServerTls::Files files);
  // Reads the files on SIGHUP. An error is counted, and the last valid certificate stays.
  Result<std::unique_ptr<net::ServerTls>> read(const net::ServerTls::Files& files);
  void use(net::ServerTls::Files files, std::unique_ptr<net::ServerTls> tls);

  // Until `stop`. On the executor that awaits it.
  Async<void> run();
  void stop();

 private:
  FileRest::States states() const { return FileRest::of({files_.certificate, files_.key}); }
  void look();

  net::HttpServer& server_;
  Log log_;
  MetricNumbers& reloads_;
  MetricNumber& ends_;
  net::ServerTls::Files files_;
  FileRest rest_;
  std::optional<boost::asio::steady_timer> timer_;
  bool stopped_ = false;
};

}  // namespace sallyport::app
