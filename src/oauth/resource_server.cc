#include "oauth/resource_server.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/together.h"
#include "base/try.h"
#include "oauth/access_token.h"

namespace sallyport::oauth {

ResourceServer::ResourceServer(Settings settings) : settings_(std::move(settings)) {
  for (Issuer& issuer : settings_.issuers) {
    IssuerKeys::Settings keys{settings_.clock, std::move(issuer.keys), settings_.log,
                              issuer.issuer};
    trusted_.push_back(std::make_unique<Trusted>(std::move(issuer), std::move(keys)));
  }
  settings_.issuers.clear();
}

Async<void> ResourceServer::warm_up() {
  std::vector<Async<bool>> fetches;
  for (const auto& issuer : trusted_) fetches.push_back(issuer->keys.warm_up());
  (void)co_await together(std::move(fetches));
}

Task<std::string> ResourceServer::agent_of(std::string text) {
  SALLYPORT_CO_TRY(const JsonWebToken token, JsonWebToken::read(text));
  Trusted* const of = issuer_of(token.claims);
  if (of == nullptr) {
    co_return fail(ErrorCode::Unauthenticated, "the token is of an issuer that is not trusted");
  }
  // Checked before the signature, so that an invalid token causes no request for keys.
  SALLYPORT_CO_CHECK_OK(
      check_claims(token.claims, of->issuer.issuer, of->issuer.audience, settings_.clock.wall()));
  SALLYPORT_CO_CHECK_OK(co_await of->keys.verify(token));
  SALLYPORT_CO_TRY(const std::string agent, agent_claim(token.claims, of->issuer.agent_claims));
  SALLYPORT_CO_CHECK_OK(check_scopes(token.claims));
  const auto named = of->issuer.agents.find(agent);
  co_return named != of->issuer.agents.end() ? named->second : of->issuer.name + '/' + agent;
}

ResourceServer::Trusted* ResourceServer::issuer_of(const json::object& claims) {
  const auto issuer = text_in(claims, "iss");
  const auto found = std::ranges::find_if(
      trusted_, [&](const auto& entry) { return entry->issuer.issuer == issuer; });
  return found == trusted_.end() ? nullptr : found->get();
}

Result<void> ResourceServer::check_scopes(const json::object& claims) const {
  const std::vector<std::string> given = scopes_of(claims);
  const bool all = std::ranges::all_of(settings_.scopes, [&](const std::string& scope) {
    return std::ranges::find(given, scope) != given.end();
  });
  if (all) return {};
  return fail(ErrorCode::Unauthenticated, "the token lacks a scope", {},
              std::string(kInsufficientScope));
}

}  // namespace sallyport::oauth
