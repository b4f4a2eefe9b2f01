// Converts between text and the unsigned bytes that crypto libraries take, without copying.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sallyport {

using Bytes = std::span<const std::uint8_t>;

inline Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace sallyport
