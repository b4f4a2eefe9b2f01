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

// Lower case only.
std::optional<std::string> from_hex(std::string_view text);

}  // namespace sallyport
