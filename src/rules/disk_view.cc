#include "rules/disk_view.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "base/descriptor.h"

namespace sallyport::rules {

namespace {

constexpr int kMostLinks = 40;
constexpr std::size_t kLongestPath = 4096;

int open_plain(const std::string& path, std::uint64_t flags) {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how));
}

std::optional<std::string> target_of(const std::string& link) {
  std::array<char, kLongestPath> buffer{};
  const ssize_t size = readlink(link.c_str(), buffer.data(), buffer.size());
  if (size < 0 || static_cast<std::size_t>(size) == buffer.size()) return std::nullopt;
  return std::string(buffer.data(), static_cast<std::size_t>(size));
}

// Links to a process's own streams. Following them would give those of the gateway.
bool is_stream(const std::string& path) {
  return path == "/dev/stdin" || path == "/dev/stdout" || path == "/dev/stderr";
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

std::string below(const std::string& folder, const std::string& name) {
  return folder == "/" ? "/" + name : folder + "/" + name;
}

std::optional<std::string> resolve_at(std::string path, int& links) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if (path.size() >= kLongestPath) return std::nullopt;
  const Descriptor found(open_plain(path, O_PATH));
  const int error = errno;
  if (found.get() >= 0) return target_of(fmt::format("/proc/self/fd/{}", found.get()));
  if (error != ENOENT && error != ENOTDIR) return std::nullopt;
  // Missing segments are appended to the deepest existing folder.
  const std::string name = path.substr(path.rfind('/') + 1);
  const std::optional<std::string> folder = resolve_at(parent_of(path), links);
  if (!folder || name.empty() || name == ".") return folder;
  if (name == "..") return parent_of(*folder);
  const std::string here = below(*folder, name);
  const std::optional<std::string> target = target_of(here);
  if (!target) return here;
  if (++links > kMostLinks) return std::nullopt;
  return resolve_at(target->starts_with('/') ? *target : below(*folder, *target), links);
}

}  // namespace

std::optional<std::vector<std::string>> DiskView::names(const std::string& folder,
                                                        std::size_t most) const {
  const int number = open_plain(folder, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
  if (number < 0) return std::nullopt;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(fdopendir(number), closedir);
  if (!open) {
    close(number);
    return std::nullopt;
  }
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* const entry = readdir(open.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (names.size() == most) return std::nullopt;
    names.emplace_back(name);
  }
  if (errno != 0) return std::nullopt;
  std::ranges::sort(names);
  return names;
}

bool DiskView::missing(const std::string& folder) const {
  const Descriptor found(open_plain(folder, O_PATH | O_DIRECTORY));
  return found.get() < 0 && (errno == ENOENT || errno == ENOTDIR);
}

std::optional<std::string> DiskView::resolve(const std::string& path) const {
  if (is_stream(path)) return path;
  int links = 0;
  return resolve_at(path, links);
}

}  // namespace sallyport::rules
