#include "machine/replaced_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/descriptor.h"

namespace sallyport::app {

namespace {

std::unexpected<Error> unreplaced(std::string_view what, const std::filesystem::path& file) {
  return fail(ErrorCode::Unavailable, fmt::format("cannot {}: {}", what, std::strerror(errno)),
              file.string());
}

Result<void> write_all(int descriptor, std::string_view bytes, const std::filesystem::path& file) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return unreplaced("write", file);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

// Without this, a crash may bring the old file back. Some file systems cannot sync a folder.
Result<void> sync_folder_of(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened && ::fsync(opened.get()) == 0) return {};
  if (errno == EINVAL || errno == EACCES) return {};
  return unreplaced("sync the folder of", file);
}

}  // namespace

Result<void> replace_file(const std::filesystem::path& file, std::string_view bytes,
                          std::optional<FileAccess> access) {
  struct stat before{};
  const mode_t kept = ::stat(file.c_str(), &before) == 0 ? before.st_mode & 07777 : 0600;
  std::error_code code;
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), code);
  std::string fresh = file.string() + ".XXXXXX";
  const Descriptor opened(::mkostemp(fresh.data(), O_CLOEXEC));
  if (!opened) return unreplaced("write beside", file);
  Result<void> done = write_all(opened.get(), bytes, file);
  if (done && access && ::fchown(opened.get(), access->owner, access->group) != 0) {
    done = unreplaced("set the owner of", file);
  }
  if (done && ::fchmod(opened.get(), access ? access->mode : kept) != 0) {
    done = unreplaced("set the mode of", file);
  }
  if (done && ::fsync(opened.get()) != 0) done = unreplaced("write", file);
  if (done && ::rename(fresh.c_str(), file.c_str()) != 0) done = unreplaced("replace", file);
  if (!done) ::unlink(fresh.c_str());
  if (done) done = sync_folder_of(file);
  return done;
}

}  // namespace sallyport::app
