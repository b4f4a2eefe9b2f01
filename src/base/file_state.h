// What a file was like when it was read: whether it has changed since is told without reading it.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <filesystem>
#include <optional>

namespace sallyport {

class FileState {
 public:
  // Nothing: there is no such file. To be taken before the file is read: what changes in between is
  // then noticed the next time.
  static std::optional<FileState> of(const std::filesystem::path& file);

  // False also where it was written so short a time before that a second change could go unseen.
  bool still_holds(const std::filesystem::path& file) const;

 private:
  ino_t inode_ = 0;
  off_t size_ = 0;
  timespec changed_{};
  bool settled_ = false;
};

}  // namespace sallyport
