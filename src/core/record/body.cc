#include "core/record/body.h"

#include <algorithm>
#include <boost/json.hpp>
#include <limits>

#include "base/exact_numbers.h"
#include "base/json_cursor.h"

namespace sallyport::core {

namespace {

// Our own text, made of values in memory, so it has no size limit.
json::value parsed_value(std::string_view text) {
  constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
  Result<ParsedJson> value = parse_json(text, {.bytes = kAny, .values = kAny});
  return value ? std::move(value->value) : json::value();
}

json::object parsed(std::string_view text) {
  json::value value = parsed_value(text);
  return value.is_object() ? std::move(value.get_object()) : json::object();
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

namespace {

std::string_view text_of_member(const std::vector<MemberText>& members, std::string_view name) {
  const auto found = std::ranges::find(members, name, &MemberText::name);
  return found == members.end() ? std::string_view() : found->text;
}

json::object picked(std::string_view text, std::initializer_list<std::string_view> paths) {
  json::object found;
  const std::vector<MemberText> members = members_in(text);
  for (const std::string_view path : paths) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view name = path.substr(0, slash);
    const std::string_view outer = text_of_member(members, name);
    if (outer.empty()) continue;
    if (slash == path.size()) {
      found[name] = parsed_value(outer);
      continue;
    }
    const std::string_view inner = path.substr(slash + 1);
    const std::string_view value = text_of_member(members_in(outer), inner);
    if (!value.empty()) found[name] = json::object{{inner, parsed_value(value)}};
  }
  return found;
}

}  // namespace

json::object Body::pick(std::initializer_list<std::string_view> paths) const {
  if (const std::string* const text = std::get_if<std::string>(&content_)) {
    return picked(*text, paths);
  }
  std::string text;
  append_exact_json(text, std::get<json::object>(content_));
  return picked(text, paths);
}

bool Body::is_sound() const {
  constexpr std::size_t kDeepest = 120;
  const std::string* const text = std::get_if<std::string>(&content_);
  if (text == nullptr) return check_json(std::get<json::object>(content_), kDeepest).has_value();
  return is_utf8(*text) && JsonCursor(*text).take_value(kDeepest) == *text;
}

std::optional<std::size_t> Body::text_size() const {
  const std::string* const text = std::get_if<std::string>(&content_);
  return text != nullptr ? std::optional(text->size()) : std::nullopt;
}

std::string Body::text() && {
  if (std::string* const text = std::get_if<std::string>(&content_)) return std::move(*text);
  std::string text;
  append_exact_json(text, std::get<json::object>(content_));
  return text;
}

}  // namespace sallyport::core
