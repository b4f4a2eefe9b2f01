// Converts ASCII letters to lower case and keeps every other byte, in every locale. Names of hosts,
// headers and columns are compared in this form.
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
