#include "api/role.h"

namespace sallyport::api {

namespace {

// In the order of their names.
constexpr Role kRoles[] = {Role::Approver, Role::Auditor, Role::Controller, Role::Viewer};

}  // namespace

std::string_view to_string(Role role) {
  switch (role) {
    case Role::Viewer:
      return "viewer";
    case Role::Approver:
      return "approver";
    case Role::Auditor:
      return "auditor";
    case Role::Controller:
      return "controller";
  }
  return "";
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
