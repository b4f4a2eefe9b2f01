// The section `authorization` of `serve`: the authorization servers whose access tokens agents may
// use, in addition to the tokens of the configuration.
//
//   authorization:
//     scopes: [tools]                                  # a token must have all of them
//     issuers:
//       - name: corp                                   # its agents are `corp/CLAIM`
//         issuer: https://login.example.com/realms/agents
//         audience: https://gate.example.com/mcp       # default: the address of this server
//         jwks_uri: https://login.example.com/keys     # or jwks_file; default: the issuer's own
//         agent_claim: client_id                       # default: client_id, else azp, else sub
//         agents:
//           - {claim: 0oa1b2c3, name: ci}              # known by another name
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/mapping.h"

namespace sallyport::app {

struct AuthorizationConfig {
  struct Agent {
    std::string claim{};
    std::string name{};
  };
  struct Issuer {
    std::string name{};
    std::string issuer{};
    std::string audience{};  // empty: the address of this server
    std::string jwks_uri{};
    std::optional<std::filesystem::path> jwks_file{};
    std::string agent_claim{};  // empty: the default claims
    std::vector<Agent> agents{};
  };
  std::vector<Issuer> issuers{};
  std::vector<std::string> scopes{};

  std::string scope() const;  // all of them, as headers write them
};

config::Mapping authorization_keys(AuthorizationConfig& out, const std::filesystem::path& folder);
Result<void> read_authorization(AuthorizationConfig& out, const std::filesystem::path& folder,
                                const config::Place& place);

}  // namespace sallyport::app
