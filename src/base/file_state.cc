#include "base/file_state.h"

#include <ctime>

namespace sallyport {

namespace {

// Clocks of file systems tick slowly: a second change in the same tick would go unseen.
constexpr time_t kSettles = 2;

}  // namespace

std::optional<FileState> FileState::of(const std::filesystem::path& file) {
  struct stat seen{};
  if (::stat(file.c_str(), &seen) != 0) return std::nullopt;
  FileState state;
  state.inode_ = seen.st_ino;
  state.size_ = seen.st_size;
  state.changed_ = seen.st_ctim;
  state.settled_ = seen.st_ctim.tv_sec + kSettles < std::time(nullptr);
  return state;
}

bool operator==(const FileState& one, const FileState& other) {
  return one.inode_ == other.inode_ && one.size_ == other.size_ &&
         one.changed_.tv_sec == other.changed_.tv_sec &&
         one.changed_.tv_nsec == other.changed_.tv_nsec;
}

bool FileState::still_holds(const std::filesystem::path& file) const {
  const std::optional<FileState> now = of(file);
  return now && settled_ && *this == *now;
}

}  // namespace sallyport
