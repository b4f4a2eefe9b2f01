#include "ledger/secret/private_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "base/descriptor.h"
#include "base/try.h"
#include "ledger/store.h"

namespace sallyport::ledger {

namespace {

std::unexpected<Error> system_failure(const std::filesystem::path& path) {
  const int error = errno;
  return ledger_unavailable(cause_of(error),
                            fmt::format("{}: {}", path.string(), std::strerror(error)));
}

Result<void> write_all(const Descriptor& file, std::string_view content,
                       const std::filesystem::path& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(file.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return system_failure(path);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  if (fsync(file.get()) != 0) return system_failure(path);
  return {};
}

Result<void> sync_folder(const std::filesystem::path& folder) {
  const Descriptor file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!file || fsync(file.get()) != 0) return system_failure(folder);
  return {};
}

Result<std::filesystem::path> write_beside(const std::filesystem::path& file,
                                           std::string_view content) {
  std::filesystem::path temporary =
      file.string() + fmt::format(".{}.tmp", static_cast<int>(getpid()));
  ::unlink(temporary.c_str());
  const Descriptor out(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!out) return system_failure(temporary);
  if (Result<void> done = write_all(out, content, temporary); !done) {
    ::unlink(temporary.c_str());
    return std::unexpected(done.error());
  }
  return temporary;
}

Result<void> overwrite(const Descriptor& file, const std::filesystem::path& path) {
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0) return {};
  return write_all(file, std::string(static_cast<std::size_t>(status.st_size), '\0'), path);
}

Result<void> check_private(const struct stat& status, const std::filesystem::path& path, int mode) {
  if (status.st_uid != geteuid()) {
    return ledger_unavailable("not_owner",
                              fmt::format("{} belongs to user {}, not to {}; run as its owner",
                                          path.string(), status.st_uid, geteuid()));
  }
  if ((status.st_mode & 077) != 0) {
    return fail(ErrorCode::Unauthenticated,
                fmt::format("{} is open to others (mode {:04o}); run `chmod {:04o} {}`",
                            path.string(), status.st_mode & 07777, mode, path.string()),
                {}, "not_private");
  }
  return {};
}

// False: `to` was there before. A file system without this rename gets a link and an unlink; a kill
// between the two leaves one file with two names.
Result<bool> rename_unless_there(const std::filesystem::path& from,
                                 const std::filesystem::path& to) {
  bool made = ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0;
  if (made) return true;
  if (errno != EEXIST) made = ::link(from.c_str(), to.c_str()) == 0;
  const int error = errno;
  ::unlink(from.c_str());
  if (made) return true;
  if (error == EEXIST) return false;
  errno = error;
  return system_failure(to);
}

// Another name of the file may be the live one, which a kill left linked.
bool has_other_names(const Descriptor& file) {
  struct stat status{};
  return file && ::fstat(file.get(), &status) == 0 && status.st_nlink > 1;
}

// The name of the file that a killed process began to write, as `signing.key` for
// `signing.key.123.tmp`. Empty: no such file.
std::string_view unfinished(std::string_view name) {
  constexpr std::string_view kEnding = ".tmp";
  if (!name.ends_with(kEnding)) return {};
  name.remove_suffix(kEnding.size());
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == name.size()) return {};
  if (name.find_first_not_of("0123456789", dot + 1) != std::string_view::npos) return {};
  return name.substr(0, dot);
}

// Writing a file takes milliseconds. Live processes are unknown, because another container may
// share the folder.
bool is_abandoned(const std::filesystem::path& file) {
  constexpr std::chrono::minutes kAbandonedAfter{10};
  std::error_code code;
  const auto written = std::filesystem::last_write_time(file, code);
  return !code && std::filesystem::file_time_type::clock::now() - written >= kAbandonedAfter;
}

// Empty `of`: of every file.
void remove_unfinished(const std::filesystem::path& folder, std::string_view of) {
  std::error_code code;
  for (const auto& beside : std::filesystem::directory_iterator(folder, code)) {
    const std::string name = beside.path().filename().string();
    const std::string_view begun = unfinished(name);
    if (begun.empty() || (!of.empty() && begun != of) || !is_abandoned(beside.path())) continue;
    (void)remove_private_file(beside.path());
  }
}

// A folder that was just made for us is closed to others. The content of any other folder may be
// meant for others.
Result<void> close_if_empty(const std::filesystem::path& folder, struct stat& status) {
  std::error_code unknown;
  const bool open = status.st_uid == geteuid() && (status.st_mode & 077) != 0;
  if (!open || !std::filesystem::is_empty(folder, unknown) || unknown) return {};
  if (::chmod(folder.c_str(), 0700) != 0) return system_failure(folder);
  if (::stat(folder.c_str(), &status) != 0) return system_failure(folder);
  return {};
}

}  // namespace

Result<void> make_private_folder(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (folder.has_parent_path()) std::filesystem::create_directories(folder.parent_path(), ignored);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return system_failure(folder);
  struct stat status{};
  if (::stat(folder.c_str(), &status) != 0) return system_failure(folder);
  if (!S_ISDIR(status.st_mode)) {
    return ledger_unavailable("io", folder.string() + " is not a folder");
  }
  SALLYPORT_CHECK_OK(close_if_empty(folder, status));
  return check_private(status, folder, 0700);
}

Result<std::optional<std::string>> read_private_file(const std::filesystem::path& path,
                                                     std::size_t largest) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file && errno == ENOENT) return std::nullopt;
  if (!file) return system_failure(path);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return system_failure(path);
  if (!S_ISREG(status.st_mode)) {
    return ledger_unavailable("io", path.string() + " is not a file; move it away");
  }
  SALLYPORT_CHECK_OK(check_private(status, path, 0600));
  const std::size_t room =
      std::min(largest, static_cast<std::size_t>(std::max<off_t>(status.st_size, 0))) + 1;
  std::string content(room, '\0');
  std::size_t size = 0;
  while (size < content.size()) {
    const ssize_t got = ::read(file.get(), content.data() + size, content.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure(path);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size == room) return fail(ErrorCode::InvalidInput, path.string() + " is too large");
  content.resize(size);
  return content;
}

Result<bool> create_private_file(const std::filesystem::path& path, std::string_view content) {
  SALLYPORT_TRY(const std::filesystem::path temporary, write_beside(path, content));
  SALLYPORT_TRY(const bool made, rename_unless_there(temporary, path));
  SALLYPORT_CHECK_OK(sync_folder(path.parent_path()));
  return made;
}

Result<void> replace_private_file(const std::filesystem::path& path, std::string_view content) {
  SALLYPORT_TRY(const std::filesystem::path temporary, write_beside(path, content));
  return rename_synced(temporary, path);
}

Result<void> remove_private_file(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file && errno == ENOENT) return {};
  if (!has_other_names(file)) {
    SALLYPORT_CHECK_OK(overwrite(file, path));
  }
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return system_failure(path);
  return sync_folder(path.parent_path());
}

void remove_leftovers_of(const std::filesystem::path& file) {
  remove_unfinished(file.parent_path(), file.filename().string());
}

void remove_leftovers_in(const std::filesystem::path& folder) {
  remove_unfinished(folder, {});
}

Result<void> rename_synced(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return system_failure(to);
  return sync_folder(to.parent_path());
}

Result<void> supersede_private_file(const std::filesystem::path& from,
                                    const std::filesystem::path& to) {
  // Held open across the rename: afterwards nothing else names its blocks.
  const Descriptor old(::open(to.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  SALLYPORT_CHECK_OK(rename_synced(from, to));
  return overwrite(old, to);
}

}  // namespace sallyport::ledger
