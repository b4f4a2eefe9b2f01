#include "guards/detect/long_integer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace sallyport::guards {

std::string number_text(const json::value& value) {
  if (value.is_int64()) return std::to_string(value.get_int64());
  if (value.is_uint64()) return std::to_string(value.get_uint64());
  return canonical_json(value);
}

bool is_long_integer(std::string_view number) {
  constexpr std::size_t kLeastDigits = 9;
  const std::string_view digits = number.starts_with('-') ? number.substr(1) : number;
  return digits.size() >= kLeastDigits &&
         std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
}

bool may_be_long_integer(const json::value& value) {
  constexpr std::int64_t kLeast = 100'000'000;
  if (value.is_int64()) return value.get_int64() >= kLeast || value.get_int64() <= -kLeast;
  if (value.is_double()) return std::fabs(value.get_double()) >= static_cast<double>(kLeast);
  return value.is_uint64();
}

}  // namespace sallyport::guards
