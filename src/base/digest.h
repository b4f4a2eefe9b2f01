// SHA-256 (OpenSSL, which uses the processor's own instructions).
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "base/bytes.h"

namespace sallyport {

using Hash = std::array<std::uint8_t, 32>;

// Hashes the concatenation of the parts without copying them.
Hash sha256(std::initializer_list<std::string_view> parts);
inline Hash sha256(std::string_view text) {
  return sha256({text});
}

inline std::string_view text_of(const Hash& hash) {
  return as_text(hash);
}

}  // namespace sallyport
