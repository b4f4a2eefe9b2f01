// Takes a capability token from a message (CG-10): moves it unchanged into the Call and removes it
// from the message.
#pragma once

#include <boost/json/object.hpp>
#include <string_view>

#include "sallyport/call.h"

namespace sallyport::core {

inline constexpr std::string_view kGrantMember = "sallyport/grant";  // of MCP's `params._meta`
inline constexpr std::string_view kGrantHeader = "Sallyport-Grant";  // of HTTP

// From the `_meta` of `params`; a `_meta` that held nothing else goes too. A list of several is
// taken as several, which no call may present (CG-12).
void take_grant(json::object& params, Call& call);

// The value of the header: base64url of the token. What is no base64url is taken as it is, and will
// be found malformed.
void take_grant_header(std::string_view value, Call& call);

}  // namespace sallyport::core
