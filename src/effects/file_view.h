// The disk as a decision sees it: names for globs, and where links lead. The real one reads the
// machine; cases of `policy test` bring files of their own and read nothing (RU-75).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sallyport::effects {

// From any thread.
class FileView {
 public:
  virtual ~FileView() = default;

  // The names in a folder, without `.` and `..`, sorted. Nothing: it is no folder that may be read,
  // or it has more than `most` names.
  virtual std::optional<std::vector<std::string>> names(const std::string& folder,
                                                        std::size_t most) const = 0;

  // Is there certainly no such folder? Asked where `names` has nothing: a glob in a folder that
  // does not exist stays as it is written, and one in a folder that may not be read is unknown
  // (RU-47).
  virtual bool missing(const std::string& folder) const {
    return !names(folder, static_cast<std::size_t>(-1));
  }

  // Where an absolute path leads: each link followed, and what does not exist appended behind the
  // deepest folder that does (RU-32). No value: a magic link, a loop, or a folder that may not be
  // read (RU-34).
  virtual std::optional<std::string> resolve(const std::string& path) const = 0;
};

}  // namespace sallyport::effects
