// A header line that goes on in the next one (obs-fold of RFC 9112). Readers disagree about what it
// says, so that one of them can be shown another header than the next: it is refused.
#pragma once

#include <string_view>

namespace sallyport::net {

// The beginning of a message up to the blank line behind its head; empty where that has not come.
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
