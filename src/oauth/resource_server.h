// Lets in who brings an access token of an authorization server that is trusted, given out for us
// (RFC 9068, RFC 8725).
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
    std::string name{};  // what names of its agents begin with; holds no `/`
    std::string issuer{};
    std::string audience{};
    KeySource keys{};
    std::vector<std::string> agent_claims{"client_id", "azp", "sub"};  // the first that is there
    std::map<std::string, std::string> agents{};  // whom a claim names, where that is said
  };
  struct Settings {
    const Clock& clock;
    std::vector<Issuer> issuers;
    std::vector<std::string> scopes{};  // that a token must have, all of them
    std::function<void(std::string_view)> log;
  };
  explicit ResourceServer(Settings settings);

  // Fetches all keys, so that the first agent need not wait for them, and the operator learns which
  // cannot be fetched.
  Async<void> warm_up();

  // The agent that brings it: `issuer/claim`, or the name that was given to that claim.
  // `Unauthenticated` says why it is no good, without words of the token; with the cause
  // `kInsufficientScope`, that it lacks rights. `Unavailable`: that
  // cannot be found out now.
  Task<std::string> agent_of(std::string token);

 private:
  struct Trusted {
    Trusted(Issuer trusted, IssuerKeys::Settings settings)
        : issuer(std::move(trusted)), keys(std::move(settings)) {}

    Issuer issuer;
    IssuerKeys keys;
  };
  Trusted* trusted(const json::object& claims);
  Result<void> check_scopes(const json::object& claims) const;

  Settings settings_;
  std::vector<std::unique_ptr<Trusted>> trusted_;
};

}  // namespace sallyport::oauth
