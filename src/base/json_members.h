// Reads members of JSON from outside. No value if a member is absent or has another type.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sallyport/json.h"

namespace sallyport {

inline std::optional<std::string_view> text_in(const json::object& object, std::string_view name) {
  const json::value* const value = object.if_contains(name);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string_view(value->get_string());
}

inline std::string text_or_empty(const json::object& object, std::string_view name) {
  return std::string(text_in(object, name).value_or(""));
}

// For writing: a text that is absent is empty here and null in JSON.
inline json::value text_or_null(std::string_view text) {
  return text.empty() ? json::value() : json::value(text);
}

inline std::optional<bool> bool_in(const json::object& object, std::string_view name) {
  const json::value* const value = object.if_contains(name);
  if (value == nullptr || !value->is_bool()) return std::nullopt;
  return value->get_bool();
}

inline std::optional<std::uint64_t> number_in(const json::object& object, std::string_view name) {
  const json::value* const value = object.if_contains(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_uint64()) return value->get_uint64();
  if (!value->is_int64() || value->get_int64() < 0) return std::nullopt;
  return static_cast<std::uint64_t>(value->get_int64());
}

inline const json::object* object_in(const json::object& object, std::string_view name) {
  const json::value* const value = object.if_contains(name);
  return value == nullptr ? nullptr : value->if_object();
}

}  // namespace sallyport
