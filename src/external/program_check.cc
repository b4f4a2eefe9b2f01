#include "external/program_check.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <deque>
#include <filesystem>
#include <optional>

#include "base/try.h"

namespace sallyport::external {

namespace {

constexpr int kMostLinks = 40;

std::unexpected<Error> refuse(const std::string& path, std::string_view why) {
  return fail(ErrorCode::InvalidInput, fmt::format("`{:.400}` {}", path, why));
}

std::deque<std::string> parts_of(std::string_view path) {
  std::deque<std::string> parts;
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), part.size() + 1));
    if (!part.empty() && part != ".") parts.emplace_back(part);
  }
  return parts;
}

bool is_ours(const struct stat& status) {
  return status.st_uid == 0 || status.st_uid == geteuid();
}

constexpr mode_t kOthersMayWrite = S_IWGRP | S_IWOTH;

// In a folder with the sticky bit, others can neither rename nor remove what is ours.
Result<void> check_folder(const std::string& path, const struct stat& status) {
  if (!is_ours(status)) {
    return refuse(path, fmt::format("belongs to user {}; it must belong to root or to the user of "
                                    "the gate",
                                    status.st_uid));
  }
  if ((status.st_mode & kOthersMayWrite) != 0 && (status.st_mode & S_ISVTX) == 0) {
    return refuse(path, "can be written by other users; run `chmod go-w` on this folder");
  }
  return {};
}

Result<void> check_file(const std::string& path, const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return refuse(path, "is not a file");
  if (!is_ours(status)) {
    return refuse(path, fmt::format("belongs to user {}; it must belong to root or to the user of "
                                    "the gate",
                                    status.st_uid));
  }
  if ((status.st_mode & kOthersMayWrite) != 0) {
    return refuse(path, "can be written by other users; run `chmod go-w` on it");
  }
  return {};
}

// Follows the path as the kernel does, and checks every folder and link on it. Returns the resolved
// path.
Result<std::string> resolve(const std::string& path) {
  std::deque<std::string> left = parts_of(path);
  std::string at;
  struct stat status{};
  if (::lstat("/", &status) != 0) return refuse("/", std::strerror(errno));
  SALLYPORT_CHECK_OK(check_folder("/", status));
  int links = 0;
  while (!left.empty()) {
    const std::string part = std::move(left.front());
    left.pop_front();
    if (part == "..") {
      at.resize(at.empty() ? 0 : at.rfind('/'));
      continue;
    }
    const std::string next = at + "/" + part;
    if (::lstat(next.c_str(), &status) != 0) {
      if (errno != ENOENT) return refuse(next, std::strerror(errno));
      return fail(
          ErrorCode::InvalidInput,
          fmt::format("the program `{:.400}` does not exist; install it, or correct `command`",
                      path));
    }
    if (S_ISLNK(status.st_mode)) {
      if (++links > kMostLinks) return refuse(path, "has too many symbolic links");
      if (!is_ours(status)) return refuse(next, "is a link of another user");
      char target[PATH_MAX];
      const ssize_t size = ::readlink(next.c_str(), target, sizeof target);
      if (size <= 0) return refuse(next, "is a link that cannot be read");
      const std::string_view text(target, static_cast<std::size_t>(size));
      std::deque<std::string> parts = parts_of(text);
      left.insert(left.begin(), parts.begin(), parts.end());
      if (text.starts_with('/')) at.clear();
      continue;
    }
    at = next;
    if (left.empty()) {
      SALLYPORT_CHECK_OK(check_file(at, status));
    } else if (S_ISDIR(status.st_mode)) {
      SALLYPORT_CHECK_OK(check_folder(at, status));
    }
  }
  return at;
}

bool lies_in(const std::string& path, std::string folder) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  if (folder == "/") return true;
  return path == folder || (path.starts_with(folder) && path[folder.size()] == '/');
}

Result<void> check_place(const std::string& path, const std::string& real,
                         const std::vector<std::string>& workspaces) {
  for (const std::string& workspace : workspaces) {
    std::error_code code;
    const std::string there = std::filesystem::weakly_canonical(workspace, code).string();
    const bool inside = lies_in(path, workspace) || lies_in(real, workspace) ||
                        (!code && (lies_in(path, there) || lies_in(real, there)));
    if (inside) {
      return refuse(path,
                    fmt::format("lies in the workspace `{:.200}`, where agents write; move it "
                                "to another folder",
                                workspace));
    }
  }
  return {};
}

Result<std::string> check_path(const std::string& path,
                               const std::vector<std::string>& workspaces) {
  SALLYPORT_TRY(std::string real, resolve(path));
  SALLYPORT_CHECK_OK(check_place(path, real, workspaces));
  return real;
}

// The interpreter in the first line of a script.
std::optional<std::string> interpreter_of(const std::string& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return std::nullopt;
  char head[256];
  const ssize_t size = ::read(fd, head, sizeof head);
  ::close(fd);
  std::string_view line(head, static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  if (!line.starts_with("#!")) return std::nullopt;
  line =
      line.substr(2, line.find('\n') == std::string_view::npos ? line.npos : line.find('\n') - 2);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return std::string(line.substr(0, line.find_first_of(" \t\r")));
}

}  // namespace

Result<void> check_program(const std::vector<std::string>& command,
                           const std::vector<std::string>& workspaces) {
  const std::string& program = command.front();
  if (!program.starts_with('/')) {
    return refuse(program, "is not an absolute path; write the whole path of the program");
  }
  SALLYPORT_TRY(const std::string real, check_path(program, workspaces));
  if (::access(real.c_str(), X_OK) != 0) {
    return refuse(program, "cannot be executed; run `chmod +x` on it");
  }
  if (const std::optional<std::string> interpreter = interpreter_of(real)) {
    if (!interpreter->starts_with('/')) {
      return refuse(program, "names an interpreter without its absolute path");
    }
    SALLYPORT_CHECK_OK(check_path(*interpreter, workspaces));
  }
  for (std::size_t i = 1; i < command.size(); ++i) {
    // Its folder is `/`, so a relative name starts there.
    const std::string path = command[i].starts_with('/') ? command[i] : "/" + command[i];
    struct stat status{};
    const bool is_file = ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
    if (is_file) SALLYPORT_CHECK_OK(check_path(path, workspaces));
  }
  return {};
}

}  // namespace sallyport::external
