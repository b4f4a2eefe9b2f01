// Where agents of `sallyport serve` come with requests to models: the model proxy, put together.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <string>
#include <vector>

#include "app/daemon/login/authenticator.h"
#include "app/gate.h"
#include "net/http_server.h"
#include "proxy/front.h"

namespace sallyport::app {

// On the loop of the gate. All must outlive it.
class ModelDoor {
 public:
  static constexpr std::size_t kConnections = 16'384;  // of clients, most of them streams

  ModelDoor(Gate& gate, Authenticator& authenticator, std::string approvals_url);
  ~ModelDoor();

  // Opens the upstreams and ends what a dead process left.
  Result<void> open(const proxy::Settings& settings);
  void route(net::HttpServer& server);

  // Another configuration, checked as a whole before it counts.
  struct Change {
    proxy::Settings settings;
    proxy::UpstreamList upstreams;
  };
  Result<Change> prepare(const proxy::Settings& settings);
  void take_up(Change change);

  // Streams that run have so long, then they get the failure frame of their API (MP-85).
  void stop(std::chrono::milliseconds patience);
  // Nothing runs any more.
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
