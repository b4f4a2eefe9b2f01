#include "base/entropy.h"

#include <sys/random.h>

#include <cerrno>
#include <cstring>

#include "base/try.h"

namespace sallyport {

namespace {

// A system call for each 32-byte salt costs more than the hash it goes into. What was handed out is
// wiped, so a buffer never serves twice and never holds the past.
struct Pool {
  std::uint8_t bytes[4096];
  std::size_t used = sizeof bytes;
};

void from_system(std::uint8_t* out, std::size_t size) {
  while (size > 0) {
    const ssize_t got = getrandom(out, size, 0);
    if (got < 0 && errno == EINTR) continue;
    SALLYPORT_INVARIANT(got > 0);
    out += got;
    size -= static_cast<std::size_t>(got);
  }
}

}  // namespace

void SystemEntropy::fill(std::span<std::uint8_t> out) {
  thread_local Pool pool;
  if (out.size() > sizeof pool.bytes) return from_system(out.data(), out.size());
  if (sizeof pool.bytes - pool.used < out.size()) {
    from_system(pool.bytes, sizeof pool.bytes);
    pool.used = 0;
  }
  std::memcpy(out.data(), pool.bytes + pool.used, out.size());
  explicit_bzero(pool.bytes + pool.used, out.size());
  pool.used += out.size();
}

}  // namespace sallyport
