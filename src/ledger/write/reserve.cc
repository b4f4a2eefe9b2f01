#include "ledger/write/reserve.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "ledger/store.h"

namespace sallyport::ledger {

Result<void> Reserve::keep() {
  if (kept()) return {};
  const int fd = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  int error = fd < 0 ? errno : 0;
  if (fd >= 0) {
    do {
      error = posix_fallocate(fd, 0, static_cast<off_t>(bytes_));
    } while (error == EINTR);
    ::close(fd);
    if (error != 0) ::unlink(file_.c_str());
  }
  if (error != 0) {
    return ledger_unavailable(cause_of(error),
                              fmt::format("no room for the reserve of {} bytes, {}: {}", bytes_,
                                          file_.string(), std::strerror(error)));
  }
  kept_ = true;
  return {};
}

void Reserve::give_up() {
  ::unlink(file_.c_str());
  kept_ = false;
}

}  // namespace sallyport::ledger
