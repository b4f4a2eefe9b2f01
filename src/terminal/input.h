// Files that people name on the command line, read and written with bounds.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "sallyport/result.h"

namespace sallyport::app {

// Reads at most `most` bytes. To notice a longer file, ask for one byte more than is allowed. `-`
// is standard input. `NotFound`: there is no such file. `InvalidInput`: it is a folder. `begun` gets
// all that has been read, after each piece.
using InputBegun = std::function<void(std::string_view content)>;
Result<std::string> read_input(const std::filesystem::path& file, std::size_t most,
                               const InputBegun& begun = {});

// `InvalidInput` if it is a folder. For files that another function reads.
Result<void> refuse_folder(const std::filesystem::path& file);

// Without the blanks and line ends around it.
std::string_view trimmed(std::string_view text);

}  // namespace sallyport::app
