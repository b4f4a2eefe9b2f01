// Base64 (RFC 4648 section 4) and hexadecimal, canonical forms only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace sallyport {

std::string base64(Bytes bytes);
void append_base64(std::string& out, Bytes bytes);

// Nothing for text that another encoder would not have written: wrong length, missing padding,
// stray characters, bits set behind the end.
std::optional<std::string> from_base64(std::string_view text);

std::string hex(Bytes bytes);

// Of a lower-case digit, else -1.
constexpr int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// Of a digit in either case, else -1.
constexpr int hex_value(char c) {
  return hex_digit(c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c);
}

// Lower case only.
std::optional<std::string> from_hex(std::string_view text);

// `%41` is `A`. Nothing: a `%` has no two digits behind it. `plus_is_blank`: as forms write it.
std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_blank = false);

}  // namespace sallyport
