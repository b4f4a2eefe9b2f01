// Paths as text. Nothing here looks at the disk.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sallyport::effects {

// Removes `.`, `..` and double slashes; `..` at the root stays at the root. `text` is absolute.
std::string cleaned_path(std::string_view text);

// Makes `text` absolute. No value: it is relative and `folder` is unknown.
std::optional<std::string> absolute_path(std::string_view text,
                                         const std::optional<std::string>& folder);

// True if `path` is the folder or lies below it. Both must be cleaned.
bool is_at_or_below(std::string_view path, std::string_view folder);

std::string_view last_segment(std::string_view path);

// The parent folder of a cleaned path.
std::string parent_folder(std::string_view path);

bool is_file_address(std::string_view text);
// The path of a `file:` address of this machine. No value if it can be read in two ways.
std::optional<std::string> path_of_address(std::string_view address);

}  // namespace sallyport::effects
