// The state of a file when it was read. It detects later changes without reading the file again.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <filesystem>
#include <optional>

namespace sallyport {

class FileState {
 public:
  // No value if there is no such file. Call this before reading the file, so that a change during
  // the read is noticed next time.
  static std::optional<FileState> of(const std::filesystem::path& file);

  // True if nothing shows a change of the file between both states. A change right after the first
  // may go unnoticed: compare a state only after the file has rested.
  friend bool operator==(const FileState& one, const FileState& other);

  // Also false if the file was written so recently that a second change could go unnoticed.
  bool still_holds(const std::filesystem::path& file) const;

 private:
  ino_t inode_ = 0;
  off_t size_ = 0;
  timespec changed_{};
  bool settled_ = false;
};

}  // namespace sallyport
