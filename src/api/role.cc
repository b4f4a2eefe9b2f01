#include "api/role.h"

#include <array>

namespace sallyport::api {

namespace {

// In the order of names.
constexpr Role kRoles[] = {Role::Approver, Role::Auditor, Role::Controller, Role::Viewer};

}  // namespace

std::string_view to_string(Role role) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"viewer", "approver", "auditor", "controller"});
  static_assert(kNames.size() == static_cast<std::size_t>(Role::Controller) + 1);
  return kNames[static_cast<std::size_t>(role)];
}

std::optional<Role> role_from(std::string_view name) {
  for (const Role role : kRoles) {
    if (to_string(role) == name) return role;
  }
  return std::nullopt;
}

Roles Roles::named(std::span<const std::string> names) {
  Roles roles;
  for (const std::string& name : names) {
    if (const auto role = role_from(name)) roles.bits_ |= bit(*role);
  }
  return roles;
}

std::vector<std::string> Roles::names() const {
  std::vector<std::string> names;
  for (const Role role : kRoles) {
    if (has(role)) names.emplace_back(to_string(role));
  }
  return names;
}

}  // namespace sallyport::api
