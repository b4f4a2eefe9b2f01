// A file that is replaced in one step: readers see the old text or the new one, whole.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string_view>

#include "sallyport/result.h"

namespace sallyport::app {

struct FileAccess {
  mode_t mode = 0600;
  uid_t owner = 0;
  gid_t group = 0;
};

// Without `access`, keeps the mode of the file; only its owner may read a new one. Creates a missing
// folder. `Unavailable`: the file cannot be written; it has not changed, and nothing stays beside
// it. Only if its folder cannot be synced, the file is replaced and a crash may undo that.
Result<void> replace_file(const std::filesystem::path& file, std::string_view bytes,
                          std::optional<FileAccess> access = {});

}  // namespace sallyport::app
