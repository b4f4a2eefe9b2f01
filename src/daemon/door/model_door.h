// Puts the model proxy of `sallyport serve` together.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <string>
#include <vector>

#include "app/gate.h"
#include "daemon/login/authenticator.h"
#include "net/http_server.h"
#include "proxy/front.h"

namespace sallyport::app {

// Used on the loop of the gate. All parts must outlive it.
class ModelDoor {
 public:
  static constexpr std::size_t kConnections = 16'384;  // of clients, most of them streams

  ModelDoor(Gate& gate, Authenticator& authenticator, std::string approvals_url);
  ~ModelDoor();

  // Opens the upstreams and ends what a dead process left.
  Result<void> open(const proxy::Settings& settings);
  void route(net::HttpServer& server);

  // Loads another configuration. It is checked as a whole before it takes effect.
  struct Change {
    proxy::Settings settings;
    proxy::UpstreamList upstreams;
  };
  Result<Change> prepare(const proxy::Settings& settings);
  void apply(Change change);

  // Running streams have this long, then they get the failure frame of their API (MP-85).
  void stop(std::chrono::milliseconds patience);
  // Call it when nothing runs any more.
  void stopped();
  std::vector<std::string> open_circuits() const;

 private:
  class Root;

  Gate& gate_;
  Authenticator& authenticator_;
  std::string approvals_url_;
  boost::asio::steady_timer ending_;
  std::unique_ptr<proxy::ModelFront> front_;
  std::unique_ptr<Root> root_;
};

}  // namespace sallyport::app
