// The tool servers behind `sallyport serve`, and the gateways between them and a client.
#pragma once

#include <string>
#include <vector>

#include "app/gate.h"
#include "mcp/client/http_front.h"
#include "mcp/server/server.h"
#include "workspace/config/serve_config.h"

namespace sallyport::app {

// A tool server, ready to be put behind a gateway for each client.
struct ServedUpstream {
  std::string name;
  mcp::ServerMaker make;
  mcp::EraHint era;
  bool serves_others = false;          // one server for all sessions
  std::vector<std::string> command{};  // that starts it; empty: it is reached over HTTP
};

// Removes the secrets of the servers from the environment, so that no other server inherits them.
Result<std::vector<ServedUpstream>> served_upstreams(const ServeConfig& config,
                                                     Workspace& workspace);

// Serves one client, or all stateless requests of one agent. Both must outlive what it opens.
mcp::HttpFront::Open gateways(Gate& gate, const std::vector<ServedUpstream>& upstreams);

// Upstreams that cannot be started now, and why. The others are served.
json::object missing_programs(const ServeConfig& config);

}  // namespace sallyport::app
