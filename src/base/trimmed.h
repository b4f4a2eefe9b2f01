// Removes what does not count around a text.
#pragma once

#include <string_view>

namespace sallyport {

// Removes the blanks and control characters around it. Programs that take addresses ignore them.
inline std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return static_cast<unsigned char>(c) <= 0x20; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

// Removes the blanks and tabs around a value in an HTTP header.
inline std::string_view trimmed_field(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace sallyport
