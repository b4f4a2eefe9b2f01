// Replaces the content of a file atomically (RT-38).
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
  const std::string& operation;           // names the temporary file
  std::optional<struct stat> expected{};  // the existing file; no value: there is none
};

// Creates missing folders, keeps the mode, and is durable when it returns. `Conflict`: another file
// is at this place; it is untouched.
Result<void> replace_file(const Replacement& replacement);

}  // namespace sallyport::agent
