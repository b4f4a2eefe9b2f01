// A header line that goes on in the next one (obs-fold of RFC 9112). Readers interpret it
// differently, so a sender could show each of them another header. It is refused.
#pragma once

#include <string_view>

namespace sallyport::net {

// The head of a message, up to its blank line; empty: the head is not complete.
constexpr std::string_view whole_head(std::string_view bytes) {
  for (std::size_t at = bytes.find('\n'); at != std::string_view::npos;
       at = bytes.find('\n', at + 1)) {
    const std::string_view rest = bytes.substr(at + 1);
    if (rest.starts_with('\n') || rest.starts_with("\r\n")) return bytes.substr(0, at + 1);
  }
  return {};
}

constexpr bool has_folded_line(std::string_view bytes) {
  const std::string_view head = whole_head(bytes);
  const std::string_view lines = head.empty() ? bytes : head;
  for (std::size_t at = lines.find('\n'); at != std::string_view::npos;
       at = lines.find('\n', at + 1)) {
    const std::string_view next = lines.substr(at + 1);
    if (next.starts_with(' ') || next.starts_with('\t')) return true;
  }
  return false;
}

}  // namespace sallyport::net
