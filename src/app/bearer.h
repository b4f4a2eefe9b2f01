// The token that a request brings.
#pragma once

#include <optional>
#include <string_view>

#include "net/server_request.h"

namespace sallyport::app {

// Of the one `Authorization: Bearer` header, at most 16 KiB. Tokens in the address do not
// count.
std::optional<std::string_view> bearer_of(const net::ServerRequest& request);

}  // namespace sallyport::app
