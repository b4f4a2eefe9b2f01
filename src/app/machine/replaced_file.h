// A file that is replaced in one step: readers see the old text or the new one, whole.
#pragma once

#include <filesystem>
#include <string_view>

#include "sallyport/result.h"

namespace sallyport::app {

// Keeps the mode of the file; only its owner may read a new one. Creates a missing folder.
// `Unavailable`: the file cannot be written and has not changed.
Result<void> replace_file(const std::filesystem::path& file, std::string_view bytes);

}  // namespace sallyport::app
