// Where the keys of an authorization server come from.
#pragma once

#include <functional>
#include <string>

#include "base/async.h"
#include "net/url.h"

namespace sallyport::oauth {

// The text of a key set, or why it cannot be had. Each wait in it has an end.
using KeySource = std::function<Task<std::string>()>;

// From this address: `https`, or a program of this machine.
KeySource keys_at(net::Url place);
// From where the issuer says (RFC 8414 or OpenID Connect Discovery), which is asked each time.
KeySource keys_described_by(std::string issuer);

}  // namespace sallyport::oauth
