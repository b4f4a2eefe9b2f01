#include "guards/detect/pattern_scratch.h"

#include <hs/hs.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <new>

namespace sallyport::guards {

namespace {

// It only grows, so it remains valid for every database that it was prepared for.
class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { hs_free_scratch(scratch_); }

  hs_scratch_t* ready_for(const hs_database_t* database, std::uint64_t id) {
    for (const std::uint64_t known : known_) {
      if (known == id) return scratch_;
    }
    if (hs_alloc_scratch(database, &scratch_) != HS_SUCCESS) {
      known_.fill(0);  // a failure may have taken the old memory away
      throw std::bad_alloc();
    }
    known_[next_++ % known_.size()] = id;
    return scratch_;
  }

 private:
  hs_scratch_t* scratch_ = nullptr;
  std::array<std::uint64_t, 8> known_{};  // 0: no owner
  std::size_t next_ = 0;
};

std::atomic<std::uint64_t> next_id = 1;

}  // namespace

std::uint64_t next_database_id() {
  return next_id++;
}

hs_scratch* scratch_for(const hs_database* database, std::uint64_t id) {
  thread_local Scratch scratch;
  return scratch.ready_for(database, id);
}

}  // namespace sallyport::guards
