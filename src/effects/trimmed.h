// Text without the blanks and control characters around it, which programs that take addresses
// ignore.
#pragma once

#include <string_view>

namespace sallyport::effects {

inline std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return static_cast<unsigned char>(c) <= 0x20; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace sallyport::effects
