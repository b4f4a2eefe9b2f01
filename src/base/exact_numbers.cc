#include "base/exact_numbers.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

namespace sallyport {

bool numbers_are_exact(const json::value& value) {
  constexpr double kLargest = 9007199254740991.0;
  switch (value.kind()) {
    case json::kind::int64:
      return std::abs(static_cast<double>(value.get_int64())) <= kLargest;
    case json::kind::uint64:
      return static_cast<double>(value.get_uint64()) <= kLargest;
    case json::kind::double_:
      // NaN and infinities have no exact form: they are not JSON.
      return !std::isfinite(value.get_double()) || std::abs(value.get_double()) <= kLargest;
    case json::kind::array:
      return std::ranges::all_of(value.get_array(), numbers_are_exact);
    case json::kind::object:
      return std::ranges::all_of(value.get_object(), [](const json::key_value_pair& member) {
        return numbers_are_exact(member.value());
      });
    default:
      return true;
  }
}

json::value with_exact_numbers(json::value value) {
  if (auto* const array = value.if_array()) {
    for (json::value& item : *array) item = with_exact_numbers(std::move(item));
  } else if (auto* const object = value.if_object()) {
    for (auto& member : *object) member.value() = with_exact_numbers(std::move(member.value()));
  } else if (!numbers_are_exact(value)) {
    value = json::string(json::serialize(value));
  }
  return value;
}

}  // namespace sallyport
