// A parsed signed token (RFC 7515, RFC 7519). Its content is an unproved claim of the sender until
// the signature is checked.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "oauth/json_web_key.h"
#include "sallyport/json.h"

namespace sallyport::oauth {

inline constexpr std::size_t kMostTokenBytes = 16 * 1024;

struct JsonWebToken {
  Algorithm algorithm = Algorithm::ES256;
  std::optional<std::string> key_id{};
  json::object claims{};
  std::string signed_text{};
  std::string signature{};

  // `Unauthenticated`: it is no token, no access token, or signed in an unsupported way. The
  // message does not quote it.
  static Result<JsonWebToken> read(std::string_view text);
};

}  // namespace sallyport::oauth
