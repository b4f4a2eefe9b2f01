// Base64 for addresses and headers (RFC 4648, section 5), without padding.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sallyport {

std::string base64url(std::string_view bytes);

// No value for text that `base64url` would not have written.
std::optional<std::string> from_base64url(std::string_view text);

}  // namespace sallyport
