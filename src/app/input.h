// Files that people name on the command line, read and written with bounds.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "sallyport/result.h"

namespace sallyport::app {

// At most `most` bytes: whoever wants to notice a longer file asks for one byte more than it
// allows. `-` is standard input. `NotFound` when there is no such file, `InvalidInput` for a
// folder.
Result<std::string> read_input(const std::filesystem::path& file, std::size_t most);

// Without the blanks and line ends around it.
std::string_view trimmed(std::string_view text);

}  // namespace sallyport::app
