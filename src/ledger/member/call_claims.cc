#include "ledger/member/call_claims.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/digest.h"
#include "ledger/store.h"

namespace sallyport::ledger {

namespace {

// Two keys that meet in one byte of 2^62 would only make one call wait for the other.
off_t place_of(std::string_view key) {
  const Hash hash = sha256(key);
  std::uint64_t place = 0;
  std::memcpy(&place, hash.data(), sizeof(place));
  return static_cast<off_t>(place >> 2);
}

int set_lock(int fd, short type, off_t place) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = place;
  lock.l_len = 1;
  return fcntl(fd, F_OFD_SETLK, &lock);
}

class Claim {
 public:
  Claim(std::shared_ptr<const int> fd, off_t place) : fd_(std::move(fd)), place_(place) {}
  Claim(const Claim&) = delete;
  ~Claim() { (void)set_lock(*fd_, F_UNLCK, place_); }

 private:
  std::shared_ptr<const int> fd_;  // shared: the last one closes it
  off_t place_;
};

}  // namespace

Result<CallClaims> CallClaims::open(const std::filesystem::path& data_folder) {
  const std::filesystem::path file = data_folder / "calls.lock";
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) {
    const int error = errno;
    return ledger_unavailable(cause_of(error),
                              fmt::format("{}: {}", file.string(), std::strerror(error)));
  }
  return CallClaims(std::shared_ptr<const int>(new int(fd), [](const int* owned) {
    ::close(*owned);
    delete owned;
  }));
}

Result<std::shared_ptr<void>> CallClaims::claim(std::string_view key) const {
  const off_t place = place_of(key);
  if (set_lock(*fd_, F_WRLCK, place) != 0) {
    if (errno == EAGAIN || errno == EACCES) return nullptr;
    return ledger_unavailable("io", fmt::format("calls.lock: {}", std::strerror(errno)));
  }
  return std::make_shared<Claim>(fd_, place);
}

}  // namespace sallyport::ledger
