// The roles of people over HTTP. No role implies another; rights add up.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sallyport::api {

enum class Role : std::uint8_t { Viewer, Approver, Auditor, Controller };

std::string_view to_string(Role role);
std::optional<Role> role_from(std::string_view name);

class Roles {
 public:
  constexpr Roles() = default;
  constexpr Roles(std::initializer_list<Role> roles) {
    for (const Role role : roles) bits_ |= bit(role);
  }
  // Skips words that are not roles.
  static Roles named(std::span<const std::string> names);
  static constexpr Roles all() {
    return {Role::Viewer, Role::Approver, Role::Auditor, Role::Controller};
  }

  constexpr bool has(Role role) const { return (bits_ & bit(role)) != 0; }
  constexpr bool any_of(Roles others) const { return (bits_ & others.bits_) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  std::vector<std::string> names() const;  // sorted

  bool operator==(const Roles&) const = default;

 private:
  static constexpr std::uint8_t bit(Role role) {
    return static_cast<std::uint8_t>(1u << static_cast<unsigned>(role));
  }
  std::uint8_t bits_ = 0;
};

// The authenticated person behind a request.
struct Person {
  std::string name{};
  Roles roles{};
  std::string method{};   // token, link, link_key
  std::string session{};  // the id of the session; empty: a token came with the request

  // Approvers and auditors may read sealed content (CO-50).
  bool reads_sealed() const { return roles.any_of({Role::Approver, Role::Auditor}); }
};

}  // namespace sallyport::api
