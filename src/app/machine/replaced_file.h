// A file that is replaced in one step: readers see the old text or the new one, whole.
#pragma once

#include <filesystem>
#include <string_view>

#include "sallyport/result.h"

namespace sallyport::app {

// With the mode that it had; a new one is for its owner alone. Its folder is made where there is
// none. `Unavailable`: it cannot be written, and is as it was.
Result<void> replace_file(const std::filesystem::path& file, std::string_view bytes);

}  // namespace sallyport::app
