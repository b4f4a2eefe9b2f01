// A signed token as text (RFC 7515, RFC 7519), taken apart. Its content is an unproved claim of the
// sender until the signature is checked.
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

  // `Unauthenticated`: it is none, none of an access token, or signed in a way that is not taken.
  // The message holds nothing of it.
  static Result<JsonWebToken> read(std::string_view text);
};

}  // namespace sallyport::oauth
