// Notices changes of files that are read together. A file that is being written counts as changed
// only once it rests: two looks find the same state.
//
//   if (rest_.changed(now)) {
//     rest_.know(now);
//     read();
//   }
#pragma once

#include <chrono>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <vector>

#include "base/file_state.h"

namespace sallyport::app {

class FileRest {
 public:
  static constexpr std::chrono::milliseconds kBetweenLooks{500};

  // No value: a file is not there, perhaps because it is being replaced. Take it before the files
  // are read.
  using States = std::optional<std::vector<std::optional<FileState>>>;
  static States of(std::initializer_list<std::filesystem::path> files);

  // This state is read now, so it is no change.
  void know(States now);
  // One look: true if all files are there, rest, and differ from the state that is known.
  bool changed(const States& now);
  // Whether the files were there at the last look.
  bool there() const { return seen_.has_value(); }

 private:
  States known_;
  States seen_;  // at the last look
};

}  // namespace sallyport::app
