// Where a line ends. `find_first_of` looks up each byte by itself, `find` many at a time.
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
