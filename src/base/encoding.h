// Base64 (RFC 4648 section 4) and hexadecimal, canonical forms only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace sallyport {

std::string base64(Bytes bytes);
void append_base64(std::string& out, Bytes bytes);

// No value for text that is not canonical: wrong length, missing padding, stray characters, or bits
// set after the end.
std::optional<std::string> from_base64(std::string_view text);

std::string hex(Bytes bytes);

// The value of a digit in lower case, otherwise -1.
constexpr int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// The value of a digit in either case, otherwise -1.
constexpr int hex_value(char c) {
  return hex_digit(c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c);
}

// Accepts lower case only.
std::optional<std::string> from_hex(std::string_view text);

// `%41` is `A`. No value: a `%` lacks its two digits. `plus_is_blank`: as HTML forms write it.
std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_blank = false);

}  // namespace sallyport
