// The socket at which the service of the system set-up serves `sallyport mcp` of every user. A
// relay connects a client on standard streams, which is served like a client over HTTP. Its
// principal is the user that the kernel names.
#pragma once

#include <map>
#include <set>

#include "app/gate.h"
#include "daemon/served_upstreams.h"
#include "net/frame_server.h"
#include "workspace/config/serve_config.h"

namespace sallyport::app {

// Used on the loop of the gate.
class RelayDoor {
 public:
  // All must outlive it.
  RelayDoor(Gate& gate, const ServeConfig& config, const std::vector<ServedUpstream>& upstreams);

  Result<void> open();
  Async<void> run(std::chrono::milliseconds patience);
  void stop();

 private:
  using Response = net::FrameServer::Response;
  Async<std::optional<Response>> answer(net::Peer peer, std::string frame);
  Async<void> converse(mcp::HttpFront::Caller caller, mcp::HttpFront::Open open, int descriptor);
  // An error: there is no such server.
  Result<mcp::HttpFront::Open> opener_of(const std::string& server);

  Gate& gate_;
  const ServeConfig& config_;
  const std::vector<ServedUpstream>& upstreams_;
  std::map<std::string, std::vector<ServedUpstream>> each_;  // by name, one server in each
  std::set<std::shared_ptr<mcp::Conversation>> running_;  // shared with calls that were given up on
  net::FrameServer server_;
};

}  // namespace sallyport::app
