// Checks that a program may decide: only if no agent can change it (RU-68).
#pragma once

#include <string>
#include <vector>

#include "sallyport/result.h"

namespace sallyport::external {

// Looks at the program, the interpreter that its first line names, and every argument that is an
// existing file. Each must be a file that only its owner may write, where the owner is root or the
// user of this process; the same holds for all folders above it. None of them lies in a workspace.
// `InvalidInput` says which path is wrong, and why.
Result<void> check_program(const std::vector<std::string>& command,
                           const std::vector<std::string>& workspaces);

}  // namespace sallyport::external
