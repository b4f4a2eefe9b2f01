#include "core/record/read_field.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <cstdint>
#include <utility>

namespace sallyport::core {

namespace {

constexpr std::int64_t kLargestInteger = (std::int64_t{1} << 53) - 1;
// From here on RFC 8785 writes an exponent, so the text is no integer any more.
constexpr double kFirstWithExponent = 1e21;

bool holds_too_large_an_integer(const json::value& value) {
  switch (value.kind()) {
    case json::kind::int64:
      return value.get_int64() > kLargestInteger || value.get_int64() < -kLargestInteger;
    case json::kind::uint64:
      return value.get_uint64() > static_cast<std::uint64_t>(kLargestInteger);
    case json::kind::double_: {
      const double size = std::abs(value.get_double());
      return size > static_cast<double>(kLargestInteger) && size < kFirstWithExponent;
    }
    case json::kind::array:
      return std::ranges::any_of(value.get_array(), holds_too_large_an_integer);
    case json::kind::object:
      return std::ranges::any_of(value.get_object(), [](const json::key_value_pair& member) {
        return holds_too_large_an_integer(member.value());
      });
    default:
      return false;
  }
}

}  // namespace

json::value read_any(ObjectReader& in, std::string_view name) {
  json::value value = in.any(name);
  if (holds_too_large_an_integer(value)) {
    in.refuse(name, "holds an integer above 9007199254740991, write it as a string");
  }
  return value;
}

json::value read_optional_any(ObjectReader& in, std::string_view name) {
  if (!in.has(name)) return {};
  return read_any(in, name);
}

}  // namespace sallyport::core
