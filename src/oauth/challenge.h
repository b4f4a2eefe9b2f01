// What a server says about the token that it wants: the `Bearer` challenge of `WWW-Authenticate`
// (RFC 6750, RFC 9728).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "net/http_client.h"

namespace sallyport::oauth {

// The `error` for an authenticated client that lacks the right.
inline constexpr std::string_view kInsufficientScope = "insufficient_scope";

struct Challenge {
  std::string resource_metadata{};  // where it describes itself
  std::string scope{};
  std::string error{};

  bool wants_more_scope() const { return error == kInsufficientScope; }
};

// The first one among the headers of an answer. No value: there is none that can be understood.
std::optional<Challenge> bearer_challenge(const net::HttpHeaders& headers);

}  // namespace sallyport::oauth
