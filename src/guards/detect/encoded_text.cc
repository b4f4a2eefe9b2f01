#include "guards/detect/encoded_text.h"

#include <array>
#include <cstdint>

#include "base/visible_text.h"

namespace sallyport::guards {

namespace {

constexpr std::size_t kShortest = 16;  // below that no secret fits

constexpr auto kDigits = [] {
  std::array<std::int8_t, 256> digits{};
  digits.fill(-1);
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    digits[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::int8_t>(i);
  }
  digits['+'] = digits['-'] = 62;
  digits['/'] = digits['_'] = 63;
  return digits;
}();

bool is_line_end(char c) {
  return c == '\r' || c == '\n';
}

// Bytes that no text has. The first byte excludes most binary data.
bool is_control(unsigned char c) {
  return (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    if (static_cast<unsigned char>(text.front()) < 0x80) {
      text.remove_prefix(1);
      continue;
    }
    const Utf8Point point = decode_utf8(text);
    if (point.length == 0) return false;
    text.remove_prefix(point.length);
  }
  return true;
}

}  // namespace

std::optional<std::string> text_in_base64(std::string_view text) {
  while (!text.empty() && (text.back() == '=' || is_line_end(text.back()))) text.remove_suffix(1);
  if (text.size() < kShortest) return std::nullopt;
  std::string decoded;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    if (is_line_end(c)) continue;
    const int digit = kDigits[static_cast<unsigned char>(c)];
    if (digit < 0) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    const auto byte = static_cast<unsigned char>(bits >> held & 0xff);
    if (is_control(byte)) return std::nullopt;
    decoded += static_cast<char>(byte);
  }
  if (held >= 6 || !is_utf8(decoded)) return std::nullopt;
  return decoded;
}

}  // namespace sallyport::guards
