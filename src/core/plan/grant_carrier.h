// Takes a capability token from a message (CG-10): moves it unchanged into the Call and removes it
// from the message.
#pragma once

#include <boost/json/object.hpp>
#include <string_view>

#include "sallyport/call.h"

namespace sallyport::core {

inline constexpr std::string_view kGrantMember = "sallyport/grant";  // of MCP's `params._meta`
inline constexpr std::string_view kGrantHeader = "Sallyport-Grant";  // of HTTP

// Takes the token from the `_meta` of `params` and removes a `_meta` that is then empty. A list of
// several is taken as several, which no call may present (CG-12).
void take_grant(json::object& params, Call& call);

// `value` is base64url of the token. Any other text is taken unchanged and found malformed later.
void take_grant_header(std::string_view value, Call& call);

}  // namespace sallyport::core
