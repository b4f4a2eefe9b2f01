// Checks the input of a call against the schema of its tool.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "agent/tool/tools.h"
#include "base/json_members.h"
#include "base/try.h"

namespace sallyport::agent {

namespace {

constexpr unsigned kDeepestValue = 64;

std::unexpected<Error> misfit(const std::string& where, std::string what) {
  return fail(ErrorCode::InvalidInput, fmt::format("`{:.200}` {}", where, what), where);
}

bool is_whole(const json::value& value) {
  if (value.is_int64() || value.is_uint64()) return true;
  return value.is_double() &&
         value.get_double() == static_cast<double>(static_cast<std::int64_t>(
                                   std::clamp(value.get_double(), -9e15, 9e15)));
}

bool is_of_type(const json::value& value, std::string_view type) {
  if (type == "string") return value.is_string();
  if (type == "integer") return is_whole(value);
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_bool();
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "null") return value.is_null();
  return true;  // a word that no schema of ours knows
}

std::string_view article(std::string_view type) {
  return type == "integer" || type == "object" || type == "array" ? "an" : "a";
}

Result<void> check_type(const json::value& type, const json::value& value,
                        const std::string& where) {
  if (type.is_string()) {
    const std::string_view word = type.get_string();
    if (is_of_type(value, word)) return {};
    return misfit(where, fmt::format("is not {} {}", article(word), word));
  }
  if (!type.is_array()) return {};
  const bool fits = std::ranges::any_of(type.get_array(), [&](const json::value& allowed) {
    return allowed.is_string() && is_of_type(value, allowed.get_string());
  });
  if (fits) return {};
  return misfit(where, fmt::format("has a type that is not one of {}", json::serialize(type)));
}

Result<void> check_value(const json::object& schema, const json::value& value,
                         const std::string& where, unsigned depth);

Result<void> check_members(const json::object& schema, const json::object& value,
                           const std::string& where, unsigned depth) {
  const auto place = [&](std::string_view name) {
    return where.empty() ? std::string(name) : fmt::format("{}.{}", where, name);
  };
  if (const json::value* const required = schema.if_contains("required");
      required && required->is_array()) {
    for (const json::value& name : required->get_array()) {
      if (name.is_string() && !value.contains(name.get_string())) {
        return misfit(place(name.get_string()), "is missing");
      }
    }
  }
  const json::object* const properties = object_in(schema, "properties");
  const json::value* const others = schema.if_contains("additionalProperties");
  for (const json::key_value_pair& member : value) {
    const json::value* const known = properties ? properties->if_contains(member.key()) : nullptr;
    if (known && known->is_object()) {
      SALLYPORT_CHECK_OK(
          check_value(known->get_object(), member.value(), place(member.key()), depth + 1));
    } else if (!known && others && others->is_bool() && !others->get_bool()) {
      return misfit(place(member.key()), "is unknown");
    } else if (!known && others && others->is_object()) {
      SALLYPORT_CHECK_OK(
          check_value(others->get_object(), member.value(), place(member.key()), depth + 1));
    }
  }
  return {};
}

Result<void> check_bounds(const json::object& schema, const json::value& value,
                          const std::string& where) {
  const json::value* const least = schema.if_contains("minimum");
  if (least && least->is_number() && value.is_number() &&
      value.to_number<double>() < least->to_number<double>()) {
    return misfit(where, fmt::format("is less than {}", json::serialize(*least)));
  }
  const std::optional<std::uint64_t> longest = number_in(schema, "maxLength");
  if (longest && value.is_string() && value.get_string().size() > *longest) {
    return misfit(where, fmt::format("is longer than {} bytes", *longest));
  }
  const json::value* const choices = schema.if_contains("enum");
  if (choices && choices->is_array() &&
      std::ranges::find(choices->get_array(), value) == choices->get_array().end()) {
    return misfit(where, fmt::format("is not one of {}", json::serialize(*choices)));
  }
  return {};
}

Result<void> check_value(const json::object& schema, const json::value& value,
                         const std::string& where, unsigned depth) {
  if (depth > kDeepestValue) return misfit(where, "is nested too deeply");
  if (const json::value* const type = schema.if_contains("type")) {
    SALLYPORT_CHECK_OK(check_type(*type, value, where.empty() ? "input" : where));
  }
  SALLYPORT_CHECK_OK(check_bounds(schema, value, where.empty() ? "input" : where));
  if (value.is_object()) return check_members(schema, value.get_object(), where, depth);
  const json::object* const items = object_in(schema, "items");
  if (!value.is_array() || !items) return {};
  for (std::size_t i = 0; i < value.get_array().size(); ++i) {
    SALLYPORT_CHECK_OK(
        check_value(*items, value.get_array()[i], fmt::format("{}[{}]", where, i), depth + 1));
  }
  return {};
}

}  // namespace

Result<void> check_input(const OfferedTool& tool, const json::value& input) {
  if (!input.is_object()) {
    return fail(ErrorCode::InvalidInput, "the input is not one JSON object", "input");
  }
  return check_value(tool.schema, input, "", 0);
}

}  // namespace sallyport::agent
