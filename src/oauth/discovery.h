// Who gives out tokens for a tool server.
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
  std::string resource{};             // what a token is asked for
  std::vector<std::string> scopes{};  // of the resource
  ServerMetadata server{};            // every address in it may be reached
};

// What the authorization server says about itself. `from` is who sends us there. No value: it says
// nothing.
Task<std::optional<ServerMetadata>> describe_authority(std::string issuer, net::Url from,
                                                       bool allow_plain);

// Finds the authorization server from what the server says, else from the well-known addresses. A
// server that names none is asked as before 2025-06-18: it is its own authority. `NotFound`: there
// is none.
Task<Authority> discover(const Application& application, Challenge challenge);

}  // namespace sallyport::oauth
