// The smaller of two numbers that may be absent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace sallyport {

// An absent number is no limit.
constexpr std::optional<std::uint64_t> smaller_of(std::optional<std::uint64_t> a,
                                                  std::optional<std::uint64_t> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

}  // namespace sallyport
