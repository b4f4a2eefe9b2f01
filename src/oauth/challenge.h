// The `Bearer` challenge of `WWW-Authenticate`: which token a server requires (RFC 6750, RFC 9728).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "net/http_client.h"

namespace sallyport::oauth {

// The `error` for an authenticated client that lacks a scope.
inline constexpr std::string_view kInsufficientScope = "insufficient_scope";

struct Challenge {
  std::string resource_metadata{};  // URL of the server's metadata
  std::string scope{};
  std::string error{};

  bool wants_more_scope() const { return error == kInsufficientScope; }
};

// The first one in the headers of a response. No value: none can be parsed.
std::optional<Challenge> bearer_challenge(const net::HttpHeaders& headers);

}  // namespace sallyport::oauth
