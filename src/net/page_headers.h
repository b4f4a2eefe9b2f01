// The headers of every response that a browser may get.
#pragma once

#include "net/server_request.h"

namespace sallyport::net {

// Forbids type sniffing, sends other sites nothing, and disables features that the page does not
// use (CO-4).
void add_page_headers(ServerResponse& response);

}  // namespace sallyport::net
