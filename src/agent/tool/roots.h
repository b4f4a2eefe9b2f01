// The folders that the tools of an agent work in (RT-29..RT-33). Every path is resolved by the
// kernel beneath an open folder, so no `..`, absolute path or symbolic link leads out of it, also
// when one is swapped in during the call. What is found is a handle, not a name.
//
//   Result<Found> found = roots.find("src/main.cc");
//   Result<Descriptor> file = roots.open_text(*found);   // regular files only
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/run/settings.h"
#include "agent/tool/descriptor.h"
#include "agent/tool/path_glob.h"
#include "sallyport/result.h"

namespace sallyport::agent {

// The cause of an error that is a refusal by a rule, and no mere failure (RT-32).
inline constexpr const char* kRefused = "refused";
inline bool is_refusal(const Error& error) {
  return error.cause == kRefused;
}

// RT-92: `InvalidInput` names the argument.
Result<void> check_path(std::string_view path, std::string_view argument = "path");

// Something that is there.
struct Found {
  Descriptor handle{};  // O_PATH: nothing was opened for data
  std::size_t root = 0;
  std::string below{};  // the path below the root, without links; empty: the root itself
  std::string path{};   // absolute, without links
  struct stat state{};
};

// Where a file is written.
struct Place {
  Descriptor folder{};                 // the last folder that is there
  std::vector<std::string> missing{};  // folders to make below it
  std::string name{};
  std::size_t root = 0;
  std::string below{};
  std::string path{};           // absolute, without links
  std::optional<Found> file{};  // what stands there now: a regular file
};

// Immutable; from any thread. Blocks on the disk.
class Roots {
 public:
  // `InvalidInput` names the key: RT-89, or a pattern that cannot be read. Nothing below
  // `data_folder` is ever found.
  static Result<std::unique_ptr<Roots>> open(const std::vector<RootSettings>& settings,
                                             const std::filesystem::path& data_folder);

  // A relative path begins at the first root. Errors: a refusal, `NotFound`, or why the system does
  // not let us.
  Result<Found> find(std::string_view path) const;
  Result<Place> place(std::string_view path) const;
  // A folder; the first root where `path` is empty. For commands.
  Result<Found> folder(std::string_view path, std::string_view argument) const;

  // For reading; a device, pipe or socket is refused.
  Result<Descriptor> open_text(const Found& found, std::string_view path) const;

  // True: a pattern denies this path below the root, or it is the data folder.
  bool hidden(std::size_t root, std::string_view below) const;

  bool writes() const;                        // true if a root has `write`
  std::vector<std::string> paths() const;     // as `Toolbox::roots`
  std::vector<std::string> writable() const;  // of them, those with `write`
  const std::string& data_folder() const { return data_folder_; }

 private:
  struct Root {
    std::string path{};   // without links
    std::string given{};  // as the configuration names it, absolute
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
