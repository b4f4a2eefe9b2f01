#include "agent/tool/roots.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cstring>

#include "base/try.h"
#include "sallyport/json.h"

namespace sallyport::agent {

namespace {

constexpr std::size_t kLongestPath = 4096;
constexpr int kTries = 64;  // of a resolution that the kernel gives up on because a link moved

std::unexpected<Error> refuse(std::string message) {
  return fail(ErrorCode::InvalidInput, std::move(message), {}, kRefused);
}
std::unexpected<Error> outside(std::string_view path) {
  return refuse(fmt::format("`{:.200}` leads outside the roots", path));
}
std::unexpected<Error> failed(std::string_view path, int error) {
  const ErrorCode code =
      error == ENOENT || error == ENOTDIR ? ErrorCode::NotFound : ErrorCode::Unavailable;
  const std::string_view what =
      code == ErrorCode::NotFound ? "there is no such file or folder" : std::strerror(error);
  return fail(code, fmt::format("`{:.200}`: {}", path, what));
}

int open_beneath(int folder, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const char* const name = path.empty() ? "." : path.c_str();
  for (int tries = 0; tries < kTries; ++tries) {
    const long opened = syscall(SYS_openat2, folder, name, &how, sizeof how);
    if (opened >= 0 || (errno != EAGAIN && errno != EINTR)) return static_cast<int>(opened);
  }
  return -1;
}

std::string link_to(int handle) {
  return fmt::format("/proc/self/fd/{}", handle);
}

// The current name of a handle. Empty: it has none.
std::string name_of(int handle) {
  std::string name(2 * kLongestPath, '\0');
  const ssize_t size = readlink(link_to(handle).c_str(), name.data(), name.size());
  if (size <= 0 || static_cast<std::size_t>(size) == name.size() || name[0] != '/') return {};
  name.resize(static_cast<std::size_t>(size));
  return name;
}

bool is_below(std::string_view path, std::string_view folder) {
  if (folder == "/") return path.starts_with('/');
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

std::string rest_below(std::string_view path, std::string_view folder) {
  path.remove_prefix(folder == "/" ? 1 : std::min(path.size(), folder.size() + 1));
  return std::string(path);
}

std::string joined(std::string_view folder, std::string_view name) {
  if (folder.empty()) return std::string(name);
  if (name.empty()) return std::string(folder);
  return fmt::format("{}{}{}", folder, folder.ends_with('/') ? "" : "/", name);
}

// True for files of kernel file systems. Their content about this process is not for the model.
bool of_the_kernel(int handle) {
  struct statfs system{};
  if (fstatfs(handle, &system) != 0) return true;
  constexpr std::uint32_t kKinds[] = {PROC_SUPER_MAGIC, SYSFS_MAGIC,        DEBUGFS_MAGIC,
                                      TRACEFS_MAGIC,    DEVPTS_SUPER_MAGIC, SECURITYFS_MAGIC};
  return std::ranges::find(kKinds, static_cast<std::uint32_t>(system.f_type)) != std::end(kKinds);
}

std::string_view kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISLNK(mode)) return "a symbolic link";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

std::vector<std::string> components(std::string_view path) {
  std::vector<std::string> all;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    if (slash != 0) all.emplace_back(path.substr(0, slash));
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  return all;
}

std::string joined(const std::vector<std::string>& names, std::size_t from, std::size_t to) {
  std::string path;
  for (std::size_t i = from; i < to; ++i) path = joined(path, names[i]);
  return path;
}

std::unexpected<Error> wrong_root(std::size_t index, std::string_view key, std::string message) {
  const std::string where = fmt::format("agent.roots[{}].{}", index, key);
  return fail(ErrorCode::InvalidInput, fmt::format("`{}`: {}", where, message), where);
}

}  // namespace

Result<void> check_path(std::string_view path, std::string_view argument) {
  const auto wrong = [&](std::string_view what) {
    return fail(ErrorCode::InvalidInput, fmt::format("`{}` {}", argument, what),
                std::string(argument));
  };
  if (path.empty()) return wrong("is empty");
  if (path.find('\0') != std::string_view::npos) return wrong("has a NUL byte");
  if (path.size() > kLongestPath) {
    return wrong(fmt::format("is longer than {} bytes", kLongestPath));
  }
  if (!is_utf8(path)) return wrong("is not valid UTF-8");
  return {};
}

Result<std::unique_ptr<Roots>> Roots::open(const std::vector<RootSettings>& settings,
                                           const std::filesystem::path& data_folder) {
  std::unique_ptr<Roots> roots(new Roots());
  std::error_code code;
  if (!data_folder.empty()) {
    roots->data_folder_ = std::filesystem::weakly_canonical(data_folder, code).string();
    if (code) roots->data_folder_ = std::filesystem::absolute(data_folder).string();
  }
  for (std::size_t i = 0; i < settings.size(); ++i) {
    Root root{.given = std::filesystem::absolute(settings[i].path).lexically_normal().string(),
              .write = settings[i].write};
    if (root.given.size() > 1 && root.given.ends_with('/')) root.given.pop_back();
    root.folder = Descriptor(::open(root.given.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!root.folder) {
      const int error = errno;
      return wrong_root(i, "path",
                        error == ENOENT    ? fmt::format("`{:.200}` is missing", root.given)
                        : error == ENOTDIR ? fmt::format("`{:.200}` is not a directory", root.given)
                                           : fmt::format("`{:.200}` cannot be opened: {}",
                                                         root.given, std::strerror(error)));
    }
    root.path = name_of(root.folder.get());
    if (root.path.empty()) return wrong_root(i, "path", "/proc is not mounted");
    for (std::size_t k = 0; k < settings[i].deny.size(); ++k) {
      Result<PathGlob> pattern = PathGlob::parse(settings[i].deny[k]);
      if (!pattern) {
        return wrong_root(i, fmt::format("deny[{}]", k), pattern.error().message);
      }
      root.deny.push_back(std::move(*pattern));
      // A pattern that begins with the path of the root also applies below it.
      for (const std::string& prefix : {root.path, root.given}) {
        if (!is_below(settings[i].deny[k], prefix)) continue;
        const std::string rest = "/" + rest_below(settings[i].deny[k], prefix);
        if (Result<PathGlob> shorter = PathGlob::parse(rest)) root.deny.push_back(*shorter);
      }
    }
    for (std::size_t k = 0; k < i; ++k) {
      const Root& other = roots->roots_[k];
      const bool nested = is_below(root.path, other.path) || is_below(other.path, root.path);
      if (nested && root.write != other.write) {
        return wrong_root(i, "write",
                          fmt::format("`{:.200}` and `{:.200}` lie one inside the other; give "
                                      "both the same `write`",
                                      root.path, other.path));
      }
    }
    roots->roots_.push_back(std::move(root));
  }
  return roots;
}

Result<Roots::Start> Roots::start_of(std::string_view path) const {
  if (roots_.empty()) return refuse(fmt::format("`{:.200}`: no root is configured", path));
  if (!path.starts_with('/')) return Start{.root = 0, .rest = std::string(path)};
  std::optional<Start> best;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    for (const std::string& prefix : {roots_[i].path, roots_[i].given}) {
      if (!is_below(path, prefix) || prefix.size() <= longest) continue;
      longest = prefix.size();
      best = Start{.root = i, .rest = rest_below(path, prefix)};
      // The kernel treats a leading slash as an absolute path.
      best->rest.erase(0, std::min(best->rest.find_first_not_of('/'), best->rest.size()));
    }
  }
  if (!best) return outside(path);
  return std::move(*best);
}

bool Roots::hidden(std::size_t root, std::string_view below) const {
  return !check_denied(root, below, below);
}

Result<void> Roots::check_denied(std::size_t root, std::string_view below,
                                 std::string_view path) const {
  const std::string whole = joined(roots_[root].path, below);
  if (!data_folder_.empty() && is_below(whole, data_folder_)) {
    return refuse(fmt::format("`{:.200}` lies in the data folder of Sallyport", path));
  }
  // Checks every root that contains the file: one with fewer patterns is no way around another.
  for (const Root& other : roots_) {
    if (!is_below(whole, other.path)) continue;
    const std::string rest = rest_below(whole, other.path);
    for (const PathGlob& pattern : other.deny) {
      if (pattern.covers(rest)) {
        return refuse(fmt::format("`{:.200}` is denied by `{:.200}`", path, pattern.text()));
      }
    }
  }
  return {};
}

Result<Found> Roots::open_at(const Start& start, std::string_view path, int flags) const {
  const Root& root = roots_[start.root];
  Found found{.handle = Descriptor(open_beneath(root.folder.get(), start.rest, O_PATH | flags)),
              .root = start.root};
  if (!found.handle) {
    const int error = errno;
    if (error == EXDEV) return outside(path);
    if (error == ELOOP) {
      return refuse(fmt::format("`{:.200}` goes through a link that is not followed", path));
    }
    if (error == EAGAIN) {
      return refuse(fmt::format("`{:.200}` changes while it is resolved", path));
    }
    return failed(path, error);
  }
  if (fstat(found.handle.get(), &found.state) != 0) return failed(path, errno);
  const std::string home = name_of(root.folder.get());
  found.path = name_of(found.handle.get());
  if (home.empty() || found.path.empty() || found.state.st_nlink == 0) return failed(path, ENOENT);
  if (!is_below(found.path, home)) return outside(path);
  found.below = rest_below(found.path, home);
  SALLYPORT_CHECK_OK(check_denied(found.root, found.below, path));
  if (of_the_kernel(found.handle.get())) {
    return refuse(fmt::format("`{:.200}` is a view into the kernel, no file", path));
  }
  return found;
}

Result<Found> Roots::find(std::string_view path) const {
  SALLYPORT_CHECK_OK(check_path(path));
  SALLYPORT_TRY(const Start start, start_of(path));
  return open_at(start, path, 0);
}

Result<Found> Roots::folder(std::string_view path, std::string_view argument) const {
  if (!path.empty()) SALLYPORT_CHECK_OK(check_path(path, argument));
  SALLYPORT_TRY(const Start start, start_of(path));
  SALLYPORT_TRY(Found found, open_at(start, path, 0));
  if (S_ISDIR(found.state.st_mode)) return found;
  return fail(ErrorCode::InvalidInput, fmt::format("`{:.200}` is not a directory", path));
}

Result<Descriptor> Roots::open_text(const Found& found, std::string_view path) const {
  if (S_ISDIR(found.state.st_mode)) {
    return fail(ErrorCode::InvalidInput, fmt::format("`{:.200}` is a folder, not a file", path));
  }
  if (!S_ISREG(found.state.st_mode)) {
    return refuse(
        fmt::format("`{:.200}` is {}, not a regular file", path, kind_of(found.state.st_mode)));
  }
  // Opens the checked file itself, even if another file now has its name.
  Descriptor file(::open(link_to(found.handle.get()).c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file) return failed(path, errno);
  return file;
}

Result<Place> Roots::place(std::string_view path) const {
  SALLYPORT_CHECK_OK(check_path(path));
  SALLYPORT_TRY(const Start start, start_of(path));
  if (!roots_[start.root].write) {
    return refuse(fmt::format("`{:.200}` lies in a root without `write`", path));
  }
  if (path.ends_with('/')) {
    return fail(ErrorCode::InvalidInput, fmt::format("`{:.200}` names a folder", path));
  }
  Result<Found> found = open_at(start, path, 0);
  if (found) return place_of(std::move(*found), path);
  if (is_refusal(found.error()) || found.error().code != ErrorCode::NotFound) {
    return std::unexpected(found.error());
  }
  return place_of_new(start, path);
}

// Opens the folder by the current name of the file, without following any link.
Result<Place> Roots::place_of(Found file, std::string_view path) const {
  if (S_ISDIR(file.state.st_mode)) {
    return fail(ErrorCode::InvalidInput, fmt::format("`{:.200}` is a folder", path));
  }
  if (!S_ISREG(file.state.st_mode)) {
    return refuse(
        fmt::format("`{:.200}` is {}, not a regular file", path, kind_of(file.state.st_mode)));
  }
  const std::size_t slash = file.below.rfind('/');
  Place place{.name = file.below.substr(slash == std::string::npos ? 0 : slash + 1),
              .root = file.root,
              .below = file.below,
              .path = file.path};
  const std::string parent = slash == std::string::npos ? "" : file.below.substr(0, slash);
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  place.folder = Descriptor(
      static_cast<int>(syscall(SYS_openat2, roots_[file.root].folder.get(),
                               parent.empty() ? "." : parent.c_str(), &how, sizeof how)));
  struct stat now{};
  if (!place.folder ||
      fstatat(place.folder.get(), place.name.c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0 ||
      now.st_ino != file.state.st_ino || now.st_dev != file.state.st_dev) {
    return fail(ErrorCode::Conflict,
                fmt::format("`{:.200}` changed while it was resolved; try again", path));
  }
  place.file = std::move(file);
  return place;
}

Result<Place> Roots::place_of_new(const Start& start, std::string_view path) const {
  const std::vector<std::string> names = components(start.rest);
  for (std::size_t known = names.size(); known-- > 0;) {
    Result<Found> folder = open_at({start.root, joined(names, 0, known)}, path, O_DIRECTORY);
    if (!folder && folder.error().code == ErrorCode::NotFound && known > 0) continue;
    if (!folder) return std::unexpected(folder.error());
    struct stat now{};
    if (fstatat(folder->handle.get(), names[known].c_str(), &now, AT_SYMLINK_NOFOLLOW) == 0) {
      if (!S_ISLNK(now.st_mode)) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("`{:.200}` goes through `{:.200}`, which is not a folder", path,
                                names[known]));
      }
      return refuse(
          fmt::format("`{:.200}` goes through a symbolic link that leads to nothing", path));
    }
    Place place{.root = start.root};
    for (std::size_t i = known; i < names.size(); ++i) {
      if (names[i] == ".." || names[i] == ".") return outside(path);
      if (i + 1 < names.size()) place.missing.push_back(names[i]);
    }
    place.name = names.back();
    const std::string rest = joined(names, known, names.size());
    place.below = joined(folder->below, rest);
    place.path = joined(folder->path, rest);
    SALLYPORT_CHECK_OK(check_denied(start.root, place.below, path));
    place.folder = std::move(folder->handle);
    return place;
  }
  return failed(path, ENOENT);
}

bool Roots::writes() const {
  return std::ranges::any_of(roots_, &Root::write);
}

std::vector<std::string> Roots::paths() const {
  std::vector<std::string> all;
  for (const Root& root : roots_) all.push_back(root.path);
  return all;
}

std::vector<std::string> Roots::writable() const {
  std::vector<std::string> all;
  for (const Root& root : roots_) {
    if (root.write) all.push_back(root.path);
  }
  return all;
}

}  // namespace sallyport::agent
