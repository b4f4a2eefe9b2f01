// Values that several sections of the configuration have, each as a schema and a reader.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "config/mapping.h"

namespace sallyport::app {

inline constexpr std::size_t kLargestConfigFile = 1u << 20;
inline constexpr std::size_t kLongestConfigText = 4096;
inline constexpr std::size_t kLongestConfigName = 128;
inline constexpr std::size_t kMostCommandWords = 1000;

// The name of a person or thing in records.
json::object name_schema();
config::ReadValue read_name(std::string& out);

config::ReadValue read_url(std::string& out);
// Requires TLS or an address of this machine: an attacker who can change the responses could claim
// any name.
config::ReadValue read_safe_url(std::string& out);
config::ReadValue read_issuer(std::string& out);

// A relative path is relative to `folder`. The file need not exist yet.
config::ReadValue read_file_name(std::optional<std::filesystem::path>& out,
                                 const std::filesystem::path& folder);
config::ReadValue read_path(std::filesystem::path& out, const std::filesystem::path& folder);

}  // namespace sallyport::app
