#include "ledger/member/instance_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/try.h"
#include "ledger/secret/private_file.h"
#include "ledger/store.h"

namespace sallyport::ledger {

namespace {
std::filesystem::path lock_file(const std::filesystem::path& data_folder,
                                const std::string& instance_id) {
  return data_folder / "instances" / (instance_id + ".lock");
}

// Identifies a running process of this machine: boot, PID namespace, number and start time. Empty:
// /proc does not have them.
std::string identity_of(int pid) {
  std::ifstream boot("/proc/sys/kernel/random/boot_id");
  std::ifstream stat(fmt::format("/proc/{}/stat", pid));
  std::string boot_id;
  std::string line;
  struct stat space{};
  if (!std::getline(boot, boot_id) || !std::getline(stat, line) ||
      ::stat("/proc/self/ns/pid", &space) != 0) {
    return {};
  }
  // The name in the second field may hold anything, so fields are counted from its end.
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  constexpr int kStartTime = 20;  // field 22 of the line, the third being the first here
  std::string word;
  for (int i = 0; i < kStartTime; ++i) fields >> word;
  return fmt::format("{} {} {} {}", boot_id, space.st_ino, pid, word);
}

// The part of an identity that both must share to judge each other: boot and PID namespace.
std::string_view machine_in(std::string_view identity) {
  const std::size_t second = identity.find(' ', identity.find(' ') + 1);
  return identity.substr(0, second);
}

// A child between fork and exec still holds the lock of a parent that was killed. Its file says who
// took the lock, so a process that is known to be gone is dead although the lock is held.
bool is_known_to_be_gone(int fd) {
  char content[256];
  const ssize_t size = ::pread(fd, content, sizeof content, 0);
  const std::string_view owner(content, size > 0 ? static_cast<std::size_t>(size) : 0);
  const std::size_t pid_at = machine_in(owner).size();
  int pid = 0;
  if (pid_at >= owner.size()) return false;
  const auto [end, error] =
      std::from_chars(owner.data() + pid_at + 1, owner.data() + owner.size(), pid);
  if (error != std::errc{} || pid <= 0) return false;
  const std::string self = identity_of(getpid());
  if (self.empty() || machine_in(self) != machine_in(owner)) return false;
  if (::kill(pid, 0) != 0 && errno == ESRCH) return true;
  const std::string now = identity_of(pid);
  return !now.empty() && now != owner;
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
    if (locked && is_at(file, fd)) {
      // Without it the lock alone decides, so a failed write does no harm.
      const std::string owner = identity_of(getpid());
      (void)!::pwrite(fd, owner.data(), owner.size(), 0);
      return InstanceLock(file, fd);
    }
    const int error = locked ? ENOENT : errno;
    if (fd >= 0) ::close(fd);
    // A process that looks at this moment takes the file for that of a dead instance.
    if (tries < kTries && (locked || error == EWOULDBLOCK)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      continue;
    }
    return ledger_unavailable(cause_of(error),
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

// A failure to look is no death: what a living process holds must not be taken from it.
bool InstanceLock::alive(const std::filesystem::path& data_folder, const std::string& instance_id) {
  const std::filesystem::path file = lock_file(data_folder, instance_id);
  const int fd = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return errno != ENOENT;
  // Shared: two who look must not take each other for the instance.
  const bool locked = flock(fd, LOCK_SH | LOCK_NB) != 0;
  const bool living = locked && (errno != EWOULDBLOCK || !is_known_to_be_gone(fd));
  // The file of a dead instance is of no further use.
  if (!living) ::unlink(file.c_str());
  ::close(fd);
  return living;
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
