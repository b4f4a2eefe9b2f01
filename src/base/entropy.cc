#include "base/entropy.h"

#include <sys/mman.h>
#include <sys/random.h>

#include <cerrno>
#include <cstring>

#include "base/try.h"

namespace sallyport {

namespace {

void from_system(std::uint8_t* out, std::size_t size) {
  while (size > 0) {
    const ssize_t got = getrandom(out, size, 0);
    if (got < 0 && errno == EINTR) continue;
    SALLYPORT_INVARIANT(got > 0);
    out += got;
    size -= static_cast<std::size_t>(got);
  }
}

// A system call for each 32-byte salt costs more than its hash, so each thread reads a page ahead.
// Used bytes are wiped. In the child of a fork the kernel zeroes the page, which means an empty
// pool, so parent and child never use the same bytes.
class Pool {
 public:
  Pool() {
    void* const page =
        mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return;
    if (madvise(page, kPage, MADV_WIPEONFORK) == 0) {
      content_ = static_cast<Content*>(page);
    } else {
      munmap(page, kPage);
    }
  }
  Pool(const Pool&) = delete;
  ~Pool() {
    if (content_ == nullptr) return;
    explicit_bzero(content_, kPage);
    munmap(content_, kPage);
  }

  void fill(std::span<std::uint8_t> out) {
    if (content_ == nullptr || out.size() > sizeof content_->bytes) {
      return from_system(out.data(), out.size());
    }
    if (content_->left < out.size()) {
      from_system(content_->bytes, sizeof content_->bytes);
      content_->left = sizeof content_->bytes;
    }
    std::uint8_t* const next = content_->bytes + sizeof content_->bytes - content_->left;
    std::memcpy(out.data(), next, out.size());
    explicit_bzero(next, out.size());
    content_->left -= out.size();
  }

 private:
  static constexpr std::size_t kPage = 4096;
  struct Content {
    std::size_t left;
    std::uint8_t bytes[kPage - sizeof(std::size_t)];
  };
  static_assert(sizeof(Content) == kPage);

  Content* content_ = nullptr;  // null: the kernel gives no such page; nothing is read ahead
};

}  // namespace

void SystemEntropy::fill(std::span<std::uint8_t> out) {
  thread_local Pool pool;
  pool.fill(out);
}

}  // namespace sallyport
