#include "core/record/body.h"

#include <boost/json.hpp>
#include <limits>

#include "base/exact_numbers.h"
#include "base/json_cursor.h"

namespace sallyport::core {

namespace {

// Our own text: whatever its size, it was made of values that are in memory.
json::object parsed(std::string_view text) {
  constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
  Result<ParsedJson> value = parse_json(text, {.bytes = kAny, .values = kAny});
  return value && value->value.is_object() ? std::move(value->value.get_object()) : json::object();
}

}  // namespace

json::object& Body::open() {
  if (const std::string* const text = std::get_if<std::string>(&content_)) {
    content_ = parsed(*text);
    read_.reset();
  }
  return std::get<json::object>(content_);
}

const json::object& Body::members() const {
  const std::string* const text = std::get_if<std::string>(&content_);
  if (text == nullptr) return std::get<json::object>(content_);
  if (!read_) read_ = parsed(*text);
  return *read_;
}

bool Body::is_sound() const {
  constexpr std::size_t kDeepest = 120;
  const std::string* const text = std::get_if<std::string>(&content_);
  if (text == nullptr) return check_json(std::get<json::object>(content_), kDeepest).has_value();
  return is_utf8(*text) && JsonCursor(*text).take_value(kDeepest) == *text;
}

std::string Body::text() && {
  if (std::string* const text = std::get_if<std::string>(&content_)) return std::move(*text);
  std::string text;
  append_exact_json(text, std::get<json::object>(content_));
  return text;
}

}  // namespace sallyport::core
