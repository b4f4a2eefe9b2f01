#include "app/machine/replaced_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

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
  if (::fsync(descriptor) != 0) return unreplaced("write", file);
  return {};
}

}  // namespace

Result<void> replace_file(const std::filesystem::path& file, std::string_view bytes) {
  struct stat before{};
  const mode_t mode = ::stat(file.c_str(), &before) == 0 ? before.st_mode & 07777 : 0600;
  std::error_code code;
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), code);
  std::string fresh = file.string() + ".XXXXXX";
  const int descriptor = ::mkstemp(fresh.data());
  if (descriptor < 0) return unreplaced("write beside", file);
  Result<void> done = write_all(descriptor, bytes, file);
  if (done && ::fchmod(descriptor, mode) != 0) done = unreplaced("set the mode of", file);
  ::close(descriptor);
  if (done && ::rename(fresh.c_str(), file.c_str()) != 0) done = unreplaced("replace", file);
  if (!done) ::unlink(fresh.c_str());
  return done;
}

}  // namespace sallyport::app
