// Fields that several public shapes share, read and written in one way.
#pragma once

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/object_reader.h"
#include "sallyport/classification.h"

namespace sallyport::core {

Tier tier_in(ObjectReader& in, std::string_view name);
Autonomy autonomy_in(ObjectReader& in, std::string_view name);

// As our shapes write times: UTC, `Z`, microseconds.
std::string utc_time_in(ObjectReader& in, std::string_view name);
std::optional<std::string> optional_utc_time_in(ObjectReader& in, std::string_view name);

// A member that is itself a shape: `read` takes the value and how messages name it.
template <class Read>
auto shape_in(ObjectReader& in, std::string_view name, Read read) {
  return in.take(read(in.any(name), in.place(name)));
}

// Absent and `null` are no value.
template <class Read>
auto optional_shape_in(ObjectReader& in, std::string_view name, Read read)
    -> std::optional<decltype(shape_in(in, name, read))> {
  if (!in.has(name)) return std::nullopt;
  return shape_in(in, name, read);
}

template <class Read>
auto shapes_in(ObjectReader& in, std::string_view name, Read read) {
  std::vector<decltype(shape_in(in, name, read))> shapes;
  for (const json::value& item : in.array(name)) {
    shapes.push_back(in.take(read(item, fmt::format("{}[{}]", in.place(name), shapes.size()))));
    if (!in.ok()) break;
  }
  return shapes;
}

// What a reader ends with.
template <class Shape>
Result<Shape> finished(const ObjectReader& in, Shape shape) {
  if (!in.ok()) return std::unexpected(in.error());
  return shape;
}

template <class T>
json::value or_null(const std::optional<T>& value) {
  return value ? json::value(*value) : json::value();
}

template <class Shape>
json::value shape_or_null(const std::optional<Shape>& shape) {
  return shape ? json::value(to_json(*shape)) : json::value();
}

template <class Shape>
json::array array_of(const std::vector<Shape>& shapes) {
  json::array array;
  array.reserve(shapes.size());
  for (const Shape& shape : shapes) array.push_back(to_json(shape));
  return array;
}

}  // namespace sallyport::core
