// The place of the session store of our own agents.
#pragma once

#include <filesystem>

namespace sallyport::app {

inline std::filesystem::path agents_file(const std::filesystem::path& data_dir) {
  return data_dir / "agents.db";
}

}  // namespace sallyport::app
