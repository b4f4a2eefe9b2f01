// A filter of system calls for commands of an agent, as the kernel takes it (seccomp): what could
// lead out of the other bounds is refused with an error, everything else goes on.
#pragma once

#include <linux/filter.h>

#include <vector>

namespace sallyport::agent {

struct FilteredCalls {
  bool network = true;        // sockets of the internet families may be made
  bool truncate_path = true;  // files may be cut by name, which old versions of Landlock overlook
};

// Empty: this processor is not known to us.
std::vector<sock_filter> syscall_filter(const FilteredCalls& allowed);

}  // namespace sallyport::agent
