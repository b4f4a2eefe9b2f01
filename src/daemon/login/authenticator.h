// Says which agent a request to `/mcp` or to a model comes from: an agent of the configuration, or
// the holder of a token of an authorization server.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/login/agent_tokens.h"
#include "oauth/resource_server.h"

namespace sallyport::app {

// The issuers of the configuration, for our resource.
std::vector<oauth::ResourceServer::Issuer> trusted_issuers(const AuthorizationConfig& config,
                                                           const std::string& resource);

// Used on a context with one thread.
class Authenticator {
 public:
  explicit Authenticator(AgentTokens tokens) : tokens_(std::move(tokens)) {}

  // Before the first request.
  void trust(oauth::ResourceServer::Settings settings) { issuers_.emplace(std::move(settings)); }

  Async<void> warm_up();

  // Errors as `mcp::HttpFront::Authenticate` has them.
  Task<std::string> principal_of(const net::ServerRequest& request);
  // The same for a request to a model, which may have the token in other headers
  // (`model_token_of`).
  Task<std::string> model_principal_of(const net::ServerRequest& request);

  const AgentTokens& tokens() const { return tokens_; }
  // From the next request on.
  void replace(AgentTokens tokens) { tokens_ = std::move(tokens); }

 private:
  Task<std::string> issued(std::string_view token);

  AgentTokens tokens_;
  std::optional<oauth::ResourceServer> issuers_;
};

}  // namespace sallyport::app
