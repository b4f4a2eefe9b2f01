#include "sessions/item.h"

#include <array>
#include <boost/json.hpp>
#include <utility>

namespace sallyport::sessions {

namespace {

constexpr std::array<std::pair<Role, std::string_view>, 4> kRoles{{{Role::System, "system"},
                                                                   {Role::User, "user"},
                                                                   {Role::Assistant, "assistant"},
                                                                   {Role::Tool, "tool"}}};

}  // namespace

std::string_view to_string(Role role) {
  for (const auto& [value, word] : kRoles) {
    if (value == role) return word;
  }
  return {};
}

std::optional<Role> role_from(std::string_view word) {
  for (const auto& [value, text] : kRoles) {
    if (text == word) return value;
  }
  return std::nullopt;
}

json::object to_json(const Item& item) {
  return {{"index", item.index},
          {"revision", item.revision},
          {"role", to_string(item.role)},
          {"content", item.content},
          {"tool_call_id", item.tool_call_id ? json::value(*item.tool_call_id) : json::value()},
          {"created_at", item.created_at}};
}

}  // namespace sallyport::sessions
