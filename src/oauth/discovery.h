// The authorization server that issues tokens for a tool server.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/async.h"
#include "oauth/application.h"
#include "oauth/challenge.h"
#include "oauth/metadata.h"

namespace sallyport::oauth {

struct Authority {
  std::string resource{};             // for which a token is requested
  std::vector<std::string> scopes{};  // of the resource
  ServerMetadata server{};            // all its addresses are allowed
};

// The metadata of the authorization server. `from`: the server that named it. No value: it has
// none.
Task<std::optional<ServerMetadata>> describe_authority(std::string issuer, net::Url from,
                                                       bool allow_plain);

// Finds the authorization server from the challenge, else from the well-known addresses. A server
// that names none is its own authority, as before 2025-06-18. `NotFound`: there is none.
Task<Authority> discover(const Application& application, Challenge challenge);

}  // namespace sallyport::oauth
