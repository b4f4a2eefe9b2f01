#include "agent/tool/file_replacement.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <unistd.h>

#include <cstring>

#include "base/try.h"

namespace sallyport::agent {

namespace {

std::unexpected<Error> cannot_write(std::string_view path, int error) {
  return fail(ErrorCode::Unavailable,
              fmt::format("`{:.200}` cannot be written: {}", path, std::strerror(error)));
}

// An O_PATH handle cannot be synced, so the folder is opened again.
Result<void> sync_folder(int folder, std::string_view path) {
  const Descriptor opened(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened && fsync(opened.get()) == 0) return {};
  return cannot_write(path, errno);
}

Result<Descriptor> make_folders(const Place& place) {
  Descriptor folder(fcntl(place.folder.get(), F_DUPFD_CLOEXEC, 3));
  if (!folder) return cannot_write(place.path, errno);
  for (const std::string& name : place.missing) {
    if (mkdirat(folder.get(), name.c_str(), 0777) != 0 && errno != EEXIST) {
      return cannot_write(place.path, errno);
    }
    SALLYPORT_CHECK_OK(sync_folder(folder.get(), place.path));
    // Do not follow a link: it may have replaced the new folder.
    Descriptor next(
        openat(folder.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next) return cannot_write(place.path, errno);
    folder = std::move(next);
  }
  return folder;
}

// A temporary file. It is deleted unless it replaced the file.
class Draft {
 public:
  Draft(int folder, std::string name) : folder_(folder), name_(std::move(name)) {}
  Draft(const Draft&) = delete;
  ~Draft() {
    if (!placed_) unlinkat(folder_, name_.c_str(), 0);
  }

  Result<void> fill(const Replacement& wanted) const {
    const std::string& path = wanted.place.path;
    unlinkat(folder_, name_.c_str(), 0);
    const Descriptor file(openat(folder_, name_.c_str(),
                                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                 wanted.expected ? 0600 : 0666));
    if (!file) return cannot_write(path, errno);
    std::string_view rest = wanted.content;
    while (!rest.empty()) {
      const ssize_t written = ::write(file.get(), rest.data(), rest.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return cannot_write(path, errno);
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
    if (wanted.expected) {
      // Best effort: only root can give a file away.
      [[maybe_unused]] const int given =
          fchown(file.get(), wanted.expected->st_uid, wanted.expected->st_gid);
      // As after any write, no other account runs the new content under the name of the old one.
      if (fchmod(file.get(), wanted.expected->st_mode & 01777) != 0) {
        return cannot_write(path, errno);
      }
    }
    if (fsync(file.get()) != 0) return cannot_write(path, errno);
    return {};
  }

  Result<void> take_place(const Replacement& wanted) {
    const Place& place = wanted.place;
    const bool new_file = !wanted.expected;
    if (!unchanged(wanted)) return fail(ErrorCode::Conflict, "the file changed");
    int moved = renameat2(folder_, name_.c_str(), folder_, place.name.c_str(),
                          new_file ? RENAME_NOREPLACE : 0);
    if (moved != 0 && new_file && errno == EEXIST) {
      return fail(ErrorCode::Conflict, "there is a file by now");
    }
    // Some file systems do not support RENAME_NOREPLACE.
    if (moved != 0 && (errno == EINVAL || errno == ENOSYS)) {
      moved = renameat(folder_, name_.c_str(), folder_, place.name.c_str());
    }
    if (moved != 0) return cannot_write(place.path, errno);
    placed_ = true;
    return sync_folder(folder_, place.path);
  }

 private:
  bool unchanged(const Replacement& wanted) const {
    struct stat now{};
    const bool there = fstatat(folder_, wanted.place.name.c_str(), &now, AT_SYMLINK_NOFOLLOW) == 0;
    if (!wanted.expected) return !there;
    const struct stat& then = *wanted.expected;
    return there && now.st_dev == then.st_dev && now.st_ino == then.st_ino &&
           now.st_size == then.st_size && now.st_mtim.tv_sec == then.st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == then.st_mtim.tv_nsec;
  }

  const int folder_;
  const std::string name_;
  bool placed_ = false;
};

}  // namespace

Result<void> replace_file(const Replacement& replacement) {
  SALLYPORT_TRY(const Descriptor folder, make_folders(replacement.place));
  Draft draft(folder.get(), fmt::format(".sallyport-{}.tmp", replacement.operation));
  SALLYPORT_CHECK_OK(draft.fill(replacement));
  return draft.take_place(replacement);
}

}  // namespace sallyport::agent
