// Checks of rules that involve several sections of a policy.
#pragma once

#include "config/mapping.h"
#include "policy/policy.h"

namespace sallyport::policy {

// Refuses an unknown class in the conditions of any section.
Result<void> check_when(const Policy& policy, const config::Place& conditions);

// Combines the sections and checks them: unknown classes, conflicting rules of one rank, failing
// examples, and roles that no approver has. Call it last. `root` is the whole document.
Result<void> finish_rules(Policy& policy, const config::YamlNode& root, const std::string& file);

}  // namespace sallyport::policy
