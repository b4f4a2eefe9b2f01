// Values that several sections of the configuration have, each as a schema and a reader.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "policy/mapping.h"

namespace sallyport::app {

inline constexpr std::size_t kLongestConfigText = 4096;

// How records call somebody or something.
json::object name_schema();
policy::ReadValue read_name(std::string& out);

policy::ReadValue read_url(std::string& out);

// Relative ones are relative to `folder`.
policy::ReadValue read_file_name(std::optional<std::filesystem::path>& out,
                                 const std::filesystem::path& folder);

}  // namespace sallyport::app
