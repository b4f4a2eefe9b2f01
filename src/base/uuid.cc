#include "base/uuid.h"

#include "base/encoding.h"

namespace sallyport {

Uuid uuid7(const Clock& clock, Entropy& entropy) {
  Uuid uuid;
  entropy.fill(uuid);
  const auto milliseconds = static_cast<std::uint64_t>(
      std::chrono::floor<std::chrono::milliseconds>(clock.wall()).time_since_epoch().count());
  for (int i = 0; i < 6; ++i) uuid[i] = static_cast<std::uint8_t>(milliseconds >> (40 - 8 * i));
  uuid[6] = static_cast<std::uint8_t>(0x70 | (uuid[6] & 0x0f));
  uuid[8] = static_cast<std::uint8_t>(0x80 | (uuid[8] & 0x3f));
  return uuid;
}

std::string to_string(const Uuid& uuid) {
  std::string text = hex(uuid);
  for (const std::size_t dash : {8, 13, 18, 23}) text.insert(dash, 1, '-');
  return text;
}

std::string uuid7_text(const Clock& clock, Entropy& entropy) {
  return to_string(uuid7(clock, entropy));
}

std::optional<Uuid> parse_uuid(std::string_view text) {
  if (text.size() != 36) return std::nullopt;
  std::string digits;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash != (text[i] == '-')) return std::nullopt;
    if (!dash) digits += text[i];
  }
  const std::optional<std::string> bytes = from_hex(digits);
  if (!bytes) return std::nullopt;
  Uuid uuid;
  std::copy(bytes->begin(), bytes->end(), uuid.begin());
  return uuid;
}

}  // namespace sallyport
