// Puts new content in the place of a file, whole or not at all (RT-38).
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <string_view>

#include "agent/tool/roots.h"

namespace sallyport::agent {

struct Replacement {
  const Place& place;
  std::string_view content;
  const std::string& operation;           // names the file that is written first
  std::optional<struct stat> expected{};  // what stands there; no value: nothing does
};

// Makes the folders that are missing, keeps the mode, and is durable when it returns. `Conflict`:
// another file stands there, and it is untouched.
Result<void> replace_file(const Replacement& replacement);

}  // namespace sallyport::agent
