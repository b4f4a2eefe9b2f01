// The sections `rules:`, `unlisted:` and `workspace:` of a policy, and the parts of `tools:` and
// `servers:` that rules use (docs/rules.md).
//
//   rules:
//     - {id: no-rm, then: deny, when: {class: fs.delete, recursive: true, outside: workspace}}
//     - {id: push, then: ask, when: {class: git.push}}
#pragma once

#include <span>
#include <string_view>

#include "config/mapping.h"
#include "policy/policy.h"

namespace sallyport::policy {

json::object rules_schema();
config::ReadValue read_rules(Policy& out);

json::object workspace_schema();
config::ReadValue read_workspace(Policy& out);

// The keys `reads` ... `sql` of an entry of `tools` (RU-25).
void add_role_keys(config::Mapping& keys, ToolEntry& out);

config::ReadValue read_rule_id(std::string& out);

// `escalate: {to: [role:ROLE]}` names all approvers with that role.
inline constexpr std::string_view kRolePrefix = "role:";

// Refuses the first of these keys that the mapping has. The message is its name and `why`.
Result<void> refuse_keys(const config::Place& place, std::span<const std::string_view> names,
                         std::string_view why);

// The descriptions of tools and servers in the policy, from which effects are computed.
effects::ToolBook tool_book(const Policy& policy);

}  // namespace sallyport::policy
