#include "guards/settings_object.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_members.h"

namespace sallyport::guards {

namespace {

std::unexpected<Error> refuse(std::string place, std::string_view what) {
  std::string message = fmt::format("`{}` {}", place.empty() ? "settings" : place, what);
  return fail(ErrorCode::InvalidInput, std::move(message), std::move(place));
}

}  // namespace

Result<const json::object*> settings_object(const json::value& json, std::string_view where,
                                            std::initializer_list<std::string_view> known) {
  const json::object* const object = json.if_object();
  if (object == nullptr) return refuse(std::string(where), "must be an object");
  for (const auto& member : *object) {
    const std::string_view name = member.key();
    if (std::ranges::find(known, name) != known.end()) continue;
    return refuse(where.empty() ? std::string(name) : fmt::format("{}.{}", where, name),
                  "is not a setting");
  }
  return object;
}

Result<const json::object*> member_object(const json::object& object, std::string_view name) {
  static const json::object kNone;
  const json::value* const member = object.if_contains(name);
  if (member == nullptr) return &kNone;
  if (!member->is_object()) return refuse(std::string(name), "must be an object");
  return &member->get_object();
}

Result<const json::array*> member_array(const json::object& object, std::string_view name) {
  static const json::array kNone;
  const json::value* const member = object.if_contains(name);
  if (member == nullptr) return &kNone;
  if (!member->is_array()) return refuse(std::string(name), "must be an array");
  return &member->get_array();
}

Result<std::uint64_t> size_setting(const json::object& object, std::string_view name,
                                   std::uint64_t otherwise) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 30;
  if (!object.contains(name)) return otherwise;
  const auto size = number_in(object, name);
  if (!size || *size == 0 || *size > kMost) {
    return refuse(std::string(name), fmt::format("must be a whole number from 1 to {}", kMost));
  }
  return *size;
}

}  // namespace sallyport::guards
