#include "base/uuid.h"

#include <span>

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
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text(36, '-');
  std::size_t at = 0;
  for (const std::uint8_t byte : uuid) {
    if (at == 8 || at == 13 || at == 18 || at == 23) ++at;
    text[at++] = kDigits[byte >> 4];
    text[at++] = kDigits[byte & 15];
  }
  return text;
}

std::string uuid7_text(const Clock& clock, Entropy& entropy) {
  return to_string(uuid7(clock, entropy));
}

std::string random_id(Entropy& entropy) {
  std::array<std::uint8_t, 16> bytes{};
  entropy.fill(bytes);
  return hex(std::span<const std::uint8_t>(bytes));
}

std::optional<Uuid> parse_uuid(std::string_view text) {
  if (text.size() != 36) return std::nullopt;
  Uuid uuid;
  std::size_t at = 0;
  for (std::uint8_t& byte : uuid) {
    if ((at == 8 || at == 13 || at == 18 || at == 23) && text[at++] != '-') return std::nullopt;
    const int high = hex_digit(text[at++]);
    const int low = hex_digit(text[at++]);
    if (high < 0 || low < 0) return std::nullopt;
    byte = static_cast<std::uint8_t>(high << 4 | low);
  }
  return uuid;
}

}  // namespace sallyport
