#include "base/object_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/clock.h"

namespace sallyport {

namespace {

constexpr std::uint64_t kLargestNumber = (std::uint64_t{1} << 53) - 1;

const json::array kNoItems;
const json::object kNoMembers;

}  // namespace

ObjectReader::ObjectReader(const json::value& value, std::string where)
    : object_(value.if_object()), where_(std::move(where)) {
  if (object_ != nullptr) return;
  error_ = Error{ErrorCode::InvalidInput,
                 fmt::format("`{}` is not an object", where_.empty() ? "value" : where_), where_};
}

ObjectReader::ObjectReader(const json::object& object, std::string where)
    : object_(&object), where_(std::move(where)) {}

std::string ObjectReader::place(std::string_view name) const {
  return where_.empty() ? std::string(name) : fmt::format("{}.{}", where_, name);
}

void ObjectReader::refuse(std::string_view name, std::string_view problem) {
  if (error_) return;
  const std::string field = place(name);
  error_ = Error{ErrorCode::InvalidInput, fmt::format("`{}` {}", field, problem), field};
}

void ObjectReader::take(const Error& error) {
  if (!error_) error_ = error;
}

const json::value* ObjectReader::find(std::string_view name, std::string_view wanted) {
  if (error_) return nullptr;
  const json::value* const value = object_->if_contains(name);
  if (value == nullptr) refuse(name, fmt::format("is missing, it must be {}", wanted));
  return value;
}

std::string ObjectReader::text(std::string_view name) {
  const json::value* const value = find(name, "a string");
  if (value == nullptr) return {};
  if (!value->is_string()) {
    refuse(name, "must be a string");
    return {};
  }
  const std::string_view text = value->get_string();
  if (!is_utf8(text)) {
    refuse(name, "is not UTF-8");
    return {};
  }
  return std::string(text);
}

std::uint64_t ObjectReader::number(std::string_view name) {
  const json::value* const value = find(name, "a whole number");
  if (value == nullptr) return 0;
  std::uint64_t number = kLargestNumber + 1;
  if (value->is_uint64()) number = value->get_uint64();
  if (value->is_int64() && value->get_int64() >= 0) {
    number = static_cast<std::uint64_t>(value->get_int64());
  }
  if (number <= kLargestNumber) return number;
  refuse(name, "must be a whole number from 0 to 9007199254740991");
  return 0;
}

bool ObjectReader::boolean(std::string_view name) {
  const json::value* const value = find(name, "true or false");
  if (value == nullptr) return false;
  if (!value->is_bool()) {
    refuse(name, "must be true or false");
    return false;
  }
  return value->get_bool();
}

json::value ObjectReader::any(std::string_view name) {
  const json::value* const value = find(name, "a JSON value");
  if (value == nullptr) return {};
  if (Result<void> sound = check_json(*value); !sound) {
    refuse(name, sound.error().message);
    return {};
  }
  return *value;
}

const json::array& ObjectReader::array(std::string_view name) {
  const json::value* const value = find(name, "an array");
  if (value == nullptr) return kNoItems;
  if (!value->is_array()) {
    refuse(name, "must be an array");
    return kNoItems;
  }
  return value->get_array();
}

std::string ObjectReader::word(std::string_view name,
                               std::initializer_list<std::string_view> accepted) {
  std::string word = text(name);
  if (error_ || std::ranges::find(accepted, word) != accepted.end()) return word;
  refuse(name,
         fmt::format("is `{:.60}`, it must be one of `{}`", word, fmt::join(accepted, "`, `")));
  return {};
}

std::string ObjectReader::time(std::string_view name) {
  std::string time = text(name);
  if (!error_ && !from_rfc3339(time)) refuse(name, "must be an RFC 3339 time in UTC");
  return time;
}

const json::object& ObjectReader::object(std::string_view name) {
  const json::value* const value = find(name, "an object");
  if (value == nullptr) return kNoMembers;
  if (!value->is_object()) {
    refuse(name, "must be an object");
    return kNoMembers;
  }
  return value->get_object();
}

bool ObjectReader::has(std::string_view name) const {
  if (error_) return false;
  const json::value* const value = object_->if_contains(name);
  return value != nullptr && !value->is_null();
}

std::optional<std::string> ObjectReader::optional_text(std::string_view name) {
  if (!has(name)) return std::nullopt;
  return text(name);
}

std::optional<std::uint64_t> ObjectReader::optional_number(std::string_view name) {
  if (!has(name)) return std::nullopt;
  return number(name);
}

json::value ObjectReader::optional_any(std::string_view name) {
  if (!has(name)) return {};
  return any(name);
}

}  // namespace sallyport
