// What is asked of an authorization server by us, not by a browser: a client of its own, tokens,
// and that tokens end.
#pragma once

#include "base/async.h"
#include "base/clock.h"
#include "base/entropy.h"
#include "oauth/account.h"
#include "oauth/application.h"
#include "oauth/discovery.h"
#include "oauth/form.h"

namespace sallyport::oauth {

// The client that a person has named, where it is one for this server. No value: we have to
// register.
Result<std::optional<Client>> named_client(const Application& application,
                                           const ServerMetadata& server);

// A client of our own (RFC 7591) that is sent back to `redirect_uri`.
Task<Client> register_client(const Application& application, const ServerMetadata& server,
                             std::string redirect_uri, std::string scope);

// Of the account's token endpoint, as its client, for its resource.
Task<Tokens> request_tokens(const Application& application, const Account& account, Fields fields,
                            const Clock& clock, Entropy& entropy);

// RFC 7009. True: they are worth nothing any more.
Task<bool> revoke_tokens(const Application& application, const Account& account, const Clock& clock,
                         Entropy& entropy);

}  // namespace sallyport::oauth
