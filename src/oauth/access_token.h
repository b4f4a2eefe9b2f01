// Checks and reads the claims of an access token (RFC 9068).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "sallyport/json.h"

namespace sallyport::oauth {

// The tolerated difference between clocks.
inline constexpr std::chrono::seconds kLeeway{60};

// Checks issuer, audience and times. `Unauthenticated` says what is wrong, without quoting the
// token.
Result<void> check_claims(const json::object& claims, std::string_view issuer,
                          std::string_view audience, WallTime now);

// `scope` (RFC 8693), or `scp` as some servers write it. Empty: it has none.
std::vector<std::string> scopes_of(const json::object& claims);

// The first of these claims that the token has. `Unauthenticated`: it has none, or the value is not
// 1 to 256 visible characters of ASCII.
Result<std::string> agent_claim(const json::object& claims, const std::vector<std::string>& names);

}  // namespace sallyport::oauth
