// Letters of ASCII in lower case, every other byte as it is, whatever the locale says: names of
// hosts, headers and columns are compared like that.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace sallyport {

constexpr char lower_letter(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline std::string lower_case(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), lower_letter);
  return out;
}

}  // namespace sallyport
