// The folders in which the tools of an agent work (RT-29..RT-33). The kernel resolves every path
// beneath an open folder, so no `..`, absolute path or symbolic link leads out of it, even if it is
// swapped in during the call. A lookup returns a handle, not a name.
//
//   Result<Found> found = roots.find("src/main.cc");
//   Result<Descriptor> file = roots.open_text(*found, "src/main.cc");   // regular files only
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/run/settings.h"
#include "agent/tool/path_glob.h"
#include "base/descriptor.h"
#include "sallyport/result.h"

namespace sallyport::agent {

// The cause of an error that is a refusal by a rule and not a failure (RT-32).
inline constexpr const char* kRefused = "refused";
inline bool is_refusal(const Error& error) {
  return error.cause == kRefused;
}

// Checks the text of a path. `InvalidInput` names the argument (RT-92).
Result<void> check_path(std::string_view path, std::string_view argument = "path");

// An existing file or folder.
struct Found {
  Descriptor handle{};  // O_PATH: not opened for data
  std::size_t root = 0;
  std::string below{};  // the path below the root, without links; empty: the root itself
  std::string path{};   // absolute, without links
  struct stat state{};
};

// A place at which a file can be written.
struct Place {
  Descriptor folder{};                 // the last folder that exists
  std::vector<std::string> missing{};  // folders to create below it
  std::string name{};
  std::size_t root = 0;
  std::string below{};
  std::string path{};           // absolute, without links
  std::optional<Found> file{};  // the regular file that exists there
};

// Immutable. It may be used from any thread. Blocks on the disk.
class Roots {
 public:
  // Nothing below `data_folder` is ever found. `InvalidInput` names the key: a root that is wrong
  // (RT-89) or a pattern that cannot be read.
  static Result<std::unique_ptr<Roots>> open(const std::vector<RootSettings>& settings,
                                             const std::filesystem::path& data_folder);

  // A relative path starts at the first root. Errors: a refusal, `NotFound`, or the error of the
  // system.
  Result<Found> find(std::string_view path) const;
  Result<Place> place(std::string_view path) const;
  // Finds a folder for a command. An empty path means the first root.
  Result<Found> folder(std::string_view path, std::string_view argument) const;

  // Opens a file for reading. A device, pipe or socket is refused.
  Result<Descriptor> open_text(const Found& found, std::string_view path) const;

  // True: a pattern denies this path below the root, or it is the data folder.
  bool hidden(std::size_t root, std::string_view below) const;

  bool writes() const;                        // true if a root has `write`
  std::vector<std::string> paths() const;     // as `Toolbox::roots`
  std::vector<std::string> writable() const;  // those with `write`
  const std::string& data_folder() const { return data_folder_; }

 private:
  struct Root {
    std::string path{};   // without links
    std::string given{};  // as configured, absolute
    Descriptor folder{};
    bool write = false;
    std::vector<PathGlob> deny{};
  };
  struct Start {
    std::size_t root = 0;
    std::string rest{};
  };

  Roots() = default;
  Result<Start> start_of(std::string_view path) const;
  Result<Found> open_at(const Start& start, std::string_view path, int flags) const;
  Result<void> check_denied(std::size_t root, std::string_view below, std::string_view path) const;
  Result<Place> place_of(Found file, std::string_view path) const;
  Result<Place> place_of_new(const Start& start, std::string_view path) const;

  std::vector<Root> roots_;
  std::string data_folder_;  // without links; empty: there is none
};

}  // namespace sallyport::agent
