// The disk as a decision sees it: names for globs, and targets of links. The real view reads the
// machine. Cases of `policy test` define their own files and read nothing (RU-75).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sallyport::effects {

// May be used from any thread.
class FileView {
 public:
  virtual ~FileView() = default;

  // The sorted names in a folder, without `.` and `..`. No value: it is not a readable folder, or
  // it has more than `most` names.
  virtual std::optional<std::vector<std::string>> names(const std::string& folder,
                                                        std::size_t most) const = 0;

  // True if the folder certainly does not exist. Used if `names` gives no value: a glob in a
  // missing folder stays as written, and one in an unreadable folder is unknown (RU-47).
  virtual bool missing(const std::string& folder) const {
    return !names(folder, static_cast<std::size_t>(-1));
  }

  // The target of an absolute path. All links are followed; segments that do not exist are appended
  // to the deepest folder that does (RU-32). No value: a magic link, a loop, or an unreadable
  // folder (RU-34).
  virtual std::optional<std::string> resolve(const std::string& path) const = 0;
};

}  // namespace sallyport::effects
