// The headers of every response that a browser may get.
#pragma once

#include "net/server_request.h"

namespace sallyport::net {

// Keeps content types as they are said, tells other sites nothing, and takes from the page what it
// does not use (CO-4).
void add_page_headers(ServerResponse& response);

}  // namespace sallyport::net
