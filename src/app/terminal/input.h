// Files that people name on the command line, read and written with bounds.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "sallyport/result.h"

namespace sallyport::app {

// Reads at most `most` bytes. To notice a longer file, ask for one byte more than is allowed. `-`
// is standard input. `NotFound`: there is no such file. `InvalidInput`: it is a folder.
Result<std::string> read_input(const std::filesystem::path& file, std::size_t most);

// Without the blanks and line ends around it.
std::string_view trimmed(std::string_view text);

}  // namespace sallyport::app
