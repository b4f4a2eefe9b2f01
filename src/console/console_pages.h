// Serves the web console at `/console/`: a page for each screen, which loads one script, one style
// sheet and one worker. Who is signed in, and what they see, is a matter of `/api/v1`.
#pragma once

#include "net/http_server.h"

namespace sallyport::console {

// On the loop of the server. Keeps nothing, so one serves all requests.
class ConsolePages final : public net::HttpHandler {
 public:
  static constexpr std::string_view kPath = "/console";

  Async<std::optional<net::ServerResponse>> refuse(net::ServerRequest& head) override;
  Async<void> handle(net::ServerExchange& exchange) override;
  net::ServerResponse worded(net::ServerResponse refusal) const override;

  // What a request for a path below `/console/` gets; also for tests.
  static net::ServerResponse response_to(const net::ServerRequest& request);
};

}  // namespace sallyport::console
