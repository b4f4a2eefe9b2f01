// Where the keys of an authorization server come from.
#pragma once

#include <functional>
#include <string>

#include "base/async.h"
#include "net/url.h"

namespace sallyport::oauth {

// Fetches the text of a key set. Every wait in it has a deadline.
using KeySource = std::function<Task<std::string>()>;

// From this address: `https`, or a program of this machine.
KeySource keys_at(net::Url place);
// From the address in the issuer's metadata (RFC 8414, OpenID Connect Discovery), read each time.
KeySource keys_described_by(std::string issuer);

}  // namespace sallyport::oauth
