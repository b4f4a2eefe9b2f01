// Serves the web console at `/console/`: a page for each screen, which loads one script, one style
// sheet and one worker. Sign-in and data come from `/api/v1`.
#pragma once

#include "net/http_server.h"

namespace sallyport::console {

// Used on the loop of the server. It has no state, so one object serves all requests.
class ConsolePages final : public net::HttpHandler {
 public:
  static constexpr std::string_view kPath = "/console";

  Async<std::optional<net::ServerResponse>> refuse(net::ServerRequest& head) override;
  Async<void> handle(net::ServerExchange& exchange) override;
  net::ServerResponse format_refusal(net::ServerResponse refusal) const override;

  // The response to a request below `/console/`. Public for tests.
  static net::ServerResponse response_to(const net::ServerRequest& request);
};

}  // namespace sallyport::console
