#include "ledger/instance_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/try.h"
#include "ledger/private_file.h"
#include "ledger/store.h"

namespace sallyport::ledger {

namespace {
std::filesystem::path lock_file(const std::filesystem::path& data_folder,
                                const std::string& instance_id) {
  return data_folder / "instances" / (instance_id + ".lock");
}

bool is_at(const std::filesystem::path& file, int fd) {
  struct stat named{};
  struct stat opened{};
  return ::stat(file.c_str(), &named) == 0 && ::fstat(fd, &opened) == 0 &&
         named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

}  // namespace

Result<InstanceLock> InstanceLock::take(const std::filesystem::path& data_folder,
                                        const std::string& instance_id) {
  constexpr int kTries = 50;
  SALLYPORT_CHECK_OK(make_private_folder(data_folder / "instances"));
  const std::filesystem::path file = lock_file(data_folder, instance_id);
  for (int tries = 1;; ++tries) {
    const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    const bool locked = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (locked && is_at(file, fd)) return InstanceLock(file, fd);
    const int error = locked ? ENOENT : errno;
    if (fd >= 0) ::close(fd);
    // Whoever looks at the folder in this moment takes the file for one of a dead instance.
    if (tries < kTries && (locked || error == EWOULDBLOCK)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      continue;
    }
    return ledger_unavailable(error == ENOSPC  ? "no_space"
                              : error == EROFS ? "read_only"
                                               : "io",
                              fmt::format("{}: {}", file.string(), std::strerror(error)));
  }
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
  // Shared: two who look must not take each other for the instance.
  const bool held = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  // A dead instance's file is of no further use to anybody.
  if (!held) ::unlink(file.c_str());
  ::close(fd);
  return held;
}

std::size_t InstanceLock::count_living(const std::filesystem::path& data_folder) {
  std::size_t living = 0;
  std::error_code code;
  for (const auto& file : std::filesystem::directory_iterator(data_folder / "instances", code)) {
    if (file.path().extension() != ".lock") continue;
    if (alive(data_folder, file.path().stem().string())) ++living;
  }
  return living;
}

}  // namespace sallyport::ledger
