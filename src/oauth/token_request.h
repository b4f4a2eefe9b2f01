// Our direct requests to an authorization server: to register a client, to get tokens, and to
// revoke them.
#pragma once

#include "base/async.h"
#include "base/clock.h"
#include "base/entropy.h"
#include "oauth/account.h"
#include "oauth/application.h"
#include "oauth/discovery.h"
#include "oauth/form.h"

namespace sallyport::oauth {

// The client that a person has named, if it is for this server. No value: register one.
Result<std::optional<Client>> named_client(const Application& application,
                                           const ServerMetadata& server);

// Registers a client (RFC 7591) with this `redirect_uri`.
Task<Client> register_client(const Application& application, const ServerMetadata& server,
                             std::string redirect_uri, std::string scope);

// Requests tokens from the account's token endpoint, as its client, for its resource.
Task<Tokens> request_tokens(const Application& application, const Account& account, Fields fields,
                            const Clock& clock, Entropy& entropy);

// True: they are no longer valid (RFC 7009).
Task<bool> revoke_tokens(const Application& application, const Account& account, const Clock& clock,
                         Entropy& entropy);

}  // namespace sallyport::oauth
