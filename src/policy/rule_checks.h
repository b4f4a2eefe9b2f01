// What no section of a policy can check alone about its rules.
#pragma once

#include "policy/mapping.h"
#include "policy/policy.h"

namespace sallyport::policy {

// Refuses an unknown class in the conditions of any section.
Result<void> check_when(const Policy& policy, const Place& conditions);

// Puts together what the sections say, and checks it: unknown classes, rules of one rank that meet,
// examples that fail, roles that no approver has. Once all is read; `root` is the whole document.
Result<void> finish_rules(Policy& policy, const YamlNode& root, const std::string& file);

}  // namespace sallyport::policy
