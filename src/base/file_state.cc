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

bool FileState::still_holds(const std::filesystem::path& file) const {
  const std::optional<FileState> now = of(file);
  return now && settled_ && inode_ == now->inode_ && size_ == now->size_ &&
         changed_.tv_sec == now->changed_.tv_sec && changed_.tv_nsec == now->changed_.tv_nsec;
}

}  // namespace sallyport
