#include "daemon/login/authenticator.h"

#include "daemon/login/bearer.h"
#include "net/url.h"
#include "oauth/metadata.h"
#include "terminal/input.h"

namespace sallyport::app {

namespace {

Task<std::string> at_once(Result<std::string> result) {
  co_return result;
}

Task<std::string> keys_in(std::filesystem::path file) {
  co_return read_input(file, oauth::kMostBytes + 1);
}

oauth::KeySource keys_of(const AuthorizationConfig::Issuer& issuer) {
  if (issuer.jwks_file) return [file = *issuer.jwks_file] { return keys_in(file); };
  if (!issuer.jwks_uri.empty()) return oauth::keys_at(*net::Url::parse(issuer.jwks_uri));
  return oauth::keys_described_by(issuer.issuer);
}

}  // namespace

std::vector<oauth::ResourceServer::Issuer> trusted_issuers(const AuthorizationConfig& config,
                                                           const std::string& resource) {
  std::vector<oauth::ResourceServer::Issuer> out;
  for (const AuthorizationConfig::Issuer& issuer : config.issuers) {
    oauth::ResourceServer::Issuer trusted{
        .name = issuer.name,
        .issuer = issuer.issuer,
        .audience = issuer.audience.empty() ? resource : issuer.audience,
        .keys = keys_of(issuer)};
    if (!issuer.agent_claim.empty()) trusted.agent_claims = {issuer.agent_claim};
    for (const AuthorizationConfig::Agent& agent : issuer.agents) {
      trusted.agents[agent.claim] = agent.name;
    }
    out.push_back(std::move(trusted));
  }
  return out;
}

Async<void> Authenticator::warm_up() {
  if (issuers_) co_await issuers_->warm_up();
}

// Tokens of the configuration come first: they need no other server.
Task<std::string> Authenticator::principal_of(const net::ServerRequest& request) {
  if (std::optional<std::string> agent = tokens_.agent_of(request)) {
    return at_once(std::move(*agent));
  }
  const auto token = bearer_of(request);
  if (!token) return at_once(fail(ErrorCode::Unauthenticated, "a bearer token is needed"));
  return issued(*token);
}

Task<std::string> Authenticator::model_principal_of(const net::ServerRequest& request) {
  const auto token = model_token_of(request);
  if (!token) return at_once(std::unexpected(token.error()));
  if (tokens_.anybody()) return at_once(*tokens_.anybody());
  if (!*token) {
    return at_once(fail(ErrorCode::Unauthenticated,
                        "an agent's token is needed, in `x-sallyport-token`, `Authorization: "
                        "Bearer` or `x-api-key`"));
  }
  if (std::optional<std::string> agent = tokens_.agent_with(**token)) {
    return at_once(std::move(*agent));
  }
  return issued(**token);
}

Task<std::string> Authenticator::issued(std::string_view token) {
  if (!issuers_) return at_once(fail(ErrorCode::Unauthenticated, "the token is not known here"));
  return issuers_->agent_of(std::string(token));
}

}  // namespace sallyport::app
