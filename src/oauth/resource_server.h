// Authenticates agents by access tokens that trusted authorization servers issued for us (RFC 9068,
// RFC 8725).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "oauth/challenge.h"
#include "oauth/issuer_keys.h"

namespace sallyport::oauth {

// On a strand, or on a context with one thread.
class ResourceServer {
 public:
  struct Issuer {
    std::string name{};  // prefix of the names of its agents; without `/`
    std::string issuer{};
    std::string audience{};
    KeySource keys{};
    std::vector<std::string> agent_claims{"client_id", "azp", "sub"};  // the first one present
    std::map<std::string, std::string> agents{};                       // configured names, by claim
  };
  struct Settings {
    const Clock& clock;
    std::vector<Issuer> issuers;
    std::vector<std::string> scopes{};  // a token must have all of them
    std::function<void(std::string_view)> log;
  };
  explicit ResourceServer(Settings settings);

  // Fetches all keys, so that the first agent does not wait and the log shows which cannot be
  // fetched.
  Async<void> warm_up();

  // Returns the agent of the token: `issuer/claim`, or the name configured for that claim.
  // `Unauthenticated` says what is wrong, without quoting the token; with the cause
  // `kInsufficientScope` the token lacks a scope. `Unavailable`: it cannot be checked now.
  Task<std::string> agent_of(std::string token);

 private:
  struct Trusted {
    Trusted(Issuer trusted, IssuerKeys::Settings settings)
        : issuer(std::move(trusted)), keys(std::move(settings)) {}

    Issuer issuer;
    IssuerKeys keys;
  };
  Trusted* issuer_of(const json::object& claims);
  Result<void> check_scopes(const json::object& claims) const;

  Settings settings_;
  std::vector<std::unique_ptr<Trusted>> trusted_;
};

}  // namespace sallyport::oauth
