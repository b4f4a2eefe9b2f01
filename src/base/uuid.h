// UUID version 7 (RFC 9562): 48 bits of milliseconds, then random bits.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/entropy.h"

namespace sallyport {

using Uuid = std::array<std::uint8_t, 16>;

Uuid uuid7(const Clock& clock, Entropy& entropy);
std::string to_string(const Uuid& uuid);
std::string uuid7_text(const Clock& clock, Entropy& entropy);

inline bool is_version7(const Uuid& uuid) {
  return uuid[6] >> 4 == 7 && uuid[8] >> 6 == 2;
}

// 128 random bits as hex digits: an id that says nothing about its time, such as that of a trace.
std::string random_id(Entropy& entropy);

// Accepts any version, in lower case with dashes.
std::optional<Uuid> parse_uuid(std::string_view text);

}  // namespace sallyport
