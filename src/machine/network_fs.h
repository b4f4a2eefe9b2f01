// Detects network file systems. SQLite's write-ahead log needs shared memory and reliable locks,
// and a network file system has neither (LE-44).
#pragma once

#include <filesystem>
#include <string>

#include "sallyport/result.h"

namespace sallyport::app {

// The name of the network file system that holds `path` (or would, once it exists); empty when it
// is a local one.
Result<std::string> network_file_system(const std::filesystem::path& path);

// The pure part: `type` is the mount's type as in /proc/self/mountinfo, empty when unknown.
std::string network_file_system_name(long magic, const std::string& type);

}  // namespace sallyport::app
