// The section `approvals:` of a policy.
//
//   approvals:
//     reviewers:
//       - {name: "user:ada", key: "ed25519:...", roles: [approver]}
//       - {name: "user:bo", token: "sha256:...", roles: [approver]}
//       - {name: "user:cy", client: "uid:cy", roles: [approver]}
//     quorum: 1
//     deadline_s: 3600
//     use_within_s: 600
//     hold_s: 50
//     pending_per_agent: 64
//     dual_control: [process.exec, deploy]
#pragma once

#include "config/mapping.h"
#include "policy/policy.h"

namespace sallyport::policy {

config::Mapping approval_keys(Policy& out);

// Reads the section and checks that it asks for no more people than are registered.
config::ReadValue read_approvals(Policy& out);

// Narrows `approvals:` by what `autonomy:` says about asking people; it never widens it (AT-14,
// AT-15). Call it after both are read. `root` is the whole document.
Result<void> narrow_approvals(Policy& policy, const config::YamlNode& root,
                              const std::string& file);

}  // namespace sallyport::policy
