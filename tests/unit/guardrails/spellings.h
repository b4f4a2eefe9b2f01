// Other spellings of a text, as an attacker would use to hide it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sallyport::guardrails {

inline std::string hex_of(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    out += kDigits[static_cast<unsigned char>(c) / 16];
    out += kDigits[static_cast<unsigned char>(c) % 16];
  }
  return out;
}

inline std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) out += "%" + hex_of({&c, 1});
  return out;
}

// Writes every byte as \u00XX, for ASCII texts.
inline std::string json_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) out += "\\u00" + hex_of({&c, 1});
  return out;
}

inline std::string base64_of(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 3) {
    const std::string_view group = text.substr(i, 3);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (k < group.size() ? static_cast<unsigned char>(group[k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += k <= group.size() ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
    }
  }
  return out;
}

// Puts a character between any two.
inline std::string interleaved(std::string_view text, std::string_view between) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i > 0) out += between;
    out += text[i];
  }
  return out;
}

}  // namespace sallyport::guardrails
