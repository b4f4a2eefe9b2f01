// Builds a seccomp filter for the commands of an agent. A system call that could escape the sandbox
// fails with an error; all others are allowed.
#pragma once

#include <linux/filter.h>

#include <vector>

namespace sallyport::agent {

struct FilteredCalls {
  bool network = true;        // internet sockets are allowed
  bool truncate_path = true;  // truncate(2) by path is allowed; old Landlock versions miss it
};

// Empty: the processor is not supported.
std::vector<sock_filter> syscall_filter(const FilteredCalls& allowed);

}  // namespace sallyport::agent
