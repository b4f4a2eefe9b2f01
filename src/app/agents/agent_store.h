// Where sessions of our own agents are kept.
#pragma once

#include <filesystem>

namespace sallyport::app {

inline std::filesystem::path agents_file(const std::filesystem::path& data_dir) {
  return data_dir / "agents.db";
}

}  // namespace sallyport::app
