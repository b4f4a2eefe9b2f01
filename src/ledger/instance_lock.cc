#include "ledger/instance_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/try.h"
#include "ledger/private_file.h"
#include "ledger/store.h"

namespace sallyport::ledger {

namespace {
std::filesystem::path lock_file(const std::filesystem::path& data_folder,
                                const std::string& instance_id) {
  return data_folder / "instances" / (instance_id + ".lock");
}
}  // namespace

Result<InstanceLock> InstanceLock::take(const std::filesystem::path& data_folder,
                                        const std::string& instance_id) {
  SALLYPORT_CHECK_OK(make_private_folder(data_folder / "instances"));
  const std::filesystem::path file = lock_file(data_folder, instance_id);
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    if (fd >= 0) ::close(fd);
    return ledger_unavailable(error == ENOSPC  ? "no_space"
                              : error == EROFS ? "read_only"
                                               : "io",
                              fmt::format("{}: {}", file.string(), std::strerror(error)));
  }
  return InstanceLock(file, fd);
}

InstanceLock::InstanceLock(InstanceLock&& other) noexcept
    : file_(std::move(other.file_)), fd_(std::exchange(other.fd_, -1)) {}

InstanceLock::~InstanceLock() {
  if (fd_ < 0) return;
  ::unlink(file_.c_str());
  ::close(fd_);
}

bool InstanceLock::alive(const std::filesystem::path& data_folder, const std::string& instance_id) {
  const std::filesystem::path file = lock_file(data_folder, instance_id);
  const int fd = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return false;
  const bool held = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  // A dead instance's file is of no further use to anybody.
  if (!held) ::unlink(file.c_str());
  ::close(fd);
  return held;
}

}  // namespace sallyport::ledger
