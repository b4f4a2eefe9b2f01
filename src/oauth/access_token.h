// What an access token must say to be one for us (RFC 9068), and what is read out of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "sallyport/json.h"

namespace sallyport::oauth {

// How far clocks may be apart.
inline constexpr std::chrono::seconds kLeeway{60};

// Of this issuer, for this audience, and good now. `Unauthenticated` says why not, without words of
// the token.
Result<void> check_claims(const json::object& claims, std::string_view issuer,
                          std::string_view audience, WallTime now);

// `scope` (RFC 8693), or `scp` as some servers write it. Empty: it says none.
std::vector<std::string> scopes_of(const json::object& claims);

// The first of these claims that is there. `Unauthenticated`: none is, or it is no name: 1 to 256
// visible characters of ASCII.
Result<std::string> agent_of(const json::object& claims, const std::vector<std::string>& names);

}  // namespace sallyport::oauth
