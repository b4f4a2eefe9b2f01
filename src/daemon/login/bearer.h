// Reads the token of a request.
#pragma once

#include <optional>
#include <string_view>

#include "net/server_request.h"
#include "sallyport/result.h"

namespace sallyport::app {

// The token of the one `Authorization: Bearer` header, at most 16 KiB. Tokens in the address do not
// count.
std::optional<std::string_view> bearer_of(const net::ServerRequest& request);

// The agent's token in a request to a model: that of `x-sallyport-token`, else of `Authorization:
// Bearer`, else of `x-api-key`, at most 16 KiB. No value: there is none. `Unauthenticated`: one of
// these headers occurs twice.
Result<std::optional<std::string_view>> model_token_of(const net::ServerRequest& request);

}  // namespace sallyport::app
