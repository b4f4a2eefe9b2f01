// The sections `rules:`, `unlisted:` and `workspace:` of a policy, and what `tools:` and `servers:`
// say for rules (section 3 of the rules page).
//
//   rules:
//     - {id: no-rm, then: deny, when: {class: fs.delete, recursive: true, outside: workspace}}
//     - {id: push, then: ask, when: {class: git.push}}
#pragma once

#include "policy/mapping.h"
#include "policy/policy.h"

namespace sallyport::policy {

json::object rules_schema();
ReadValue read_rules(Policy& out);

json::object workspace_schema();
ReadValue read_workspace(Policy& out);

// The keys `reads` ... `sql` of an entry of `tools` (RU-25).
void add_role_keys(Mapping& keys, ToolEntry& out);

// Conditions of any section other than `rules:`: a mapping, or a list of which one must hold.
json::object when_schema();
ReadValue read_when(std::vector<rules::Conditions>& out);
ReadValue read_rule_id(std::string& out);
// Refuses an unknown class in these conditions.
Result<void> check_when(const Policy& policy, const Place& conditions);

// What the policy says of tools and servers, for effects.
effects::ToolBook tool_book(const Policy& policy);

// Puts together what the sections say. What no section can check alone is checked here: unknown
// classes, rules of one rank that meet, examples that fail, keys that need `rules`. Once all is
// read; `root` is the whole document.
Result<void> finish_rules(Policy& policy, const YamlNode& root, const std::string& file);

// The rules of a policy that another one extends, in front of its own and without those that it
// drops (RU-21). `root` is the extending document.
Result<YamlNode> joined(const YamlNode& root, const std::string& file, const YamlNode& base);

}  // namespace sallyport::policy
