// Who is registered to approve and to control.
//
//   reviewers:
//     - {name: "user:ada", key: "ed25519:...", roles: [approver, controller]}
//
// The list stands in a file of its own, or under `approvals:` of a policy.
#pragma once

#include <filesystem>
#include <optional>

#include "app/context.h"
#include "trust/reviewers.h"

namespace sallyport::app {

// The file that was named, else `<data-dir>/reviewers.yaml`; nobody where there is no such file.
// `InvalidInput` with its place when it cannot be read.
Result<trust::Reviewers> registered_reviewers(const Context& context,
                                              const std::optional<std::filesystem::path>& file);

}  // namespace sallyport::app
