// Finds the end of a line. Uses `find`, which compares many bytes at once, unlike `find_first_of`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace sallyport::net {

// The first carriage return or line feed from `from` on; `npos`: there is none.
inline std::size_t line_end(std::string_view text, std::size_t from) {
  const std::size_t feed = text.find('\n', from);
  return std::min(feed, text.substr(0, feed).find('\r', from));
}

}  // namespace sallyport::net
