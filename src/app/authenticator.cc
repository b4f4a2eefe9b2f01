#include "app/authenticator.h"

#include "app/bearer.h"

namespace sallyport::app {

namespace {

Task<std::string> at_once(Result<std::string> said) {
  co_return said;
}

}  // namespace

Async<void> Authenticator::warm_up() {
  if (issuers_) co_await issuers_->warm_up();
}

// Tokens of the configuration first: they need nobody else to be there.
Task<std::string> Authenticator::principal_of(const net::ServerRequest& request) {
  if (std::optional<std::string> agent = tokens_.agent_of(request)) {
    return at_once(std::move(*agent));
  }
  const auto token = bearer_of(request);
  if (!token) return at_once(fail(ErrorCode::Unauthenticated, "a bearer token is needed"));
  if (!issuers_) return at_once(fail(ErrorCode::Unauthenticated, "the token is not known here"));
  return issuers_->agent_of(std::string(*token));
}

}  // namespace sallyport::app
