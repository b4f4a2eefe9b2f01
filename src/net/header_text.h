// Checks names and values of headers. A text of a model, a client or a policy must not end the
// line, because the rest would be read as another header.
#pragma once

#include <algorithm>
#include <string_view>

namespace sallyport::net {

// Visible characters of ASCII, blanks, tabs, and bytes of other letters.
constexpr bool is_header_value(std::string_view value) {
  return std::ranges::all_of(value, [](char c) {
    return c == '\t' || (static_cast<unsigned char>(c) >= ' ' && c != 0x7F);
  });
}

// A token of RFC 9110.
constexpr bool is_header_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           std::string_view("!#$%&'*+-.^_`|~").contains(c);
  });
}

}  // namespace sallyport::net
