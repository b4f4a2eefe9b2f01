#include "core/record/log_watch.h"

#include <algorithm>
#include <atomic>

#include "base/bell.h"
#include "base/guarded.h"

namespace sallyport::core {

namespace {

using std::chrono::milliseconds;
using RealTime = std::chrono::steady_clock::time_point;

constexpr milliseconds kLongestSleep{500};
constexpr milliseconds kFresh{100};

}  // namespace

struct LogWatch::Shared {
  Bell bell;
  std::atomic<unsigned> waiting = 0;
  std::atomic<bool> looks = false;      // one waiter checks for all
  std::atomic<std::uint64_t> size = 0;  // as last read by the checking waiter
  struct Read {
    std::uint64_t size = 0;
    RealTime at{};
  };
  Guarded<Read> read{};  // for `grown`

  // A short time if few wait. If the log grows all the time, every check makes all waiters look,
  // which is never more than some thousand looks a second.
  milliseconds between_looks() const {
    return milliseconds(std::clamp(waiting.load() / 2, 20u, 500u));
  }
};

LogWatch::LogWatch(RecordReader& records)
    : records_(records), shared_(std::make_shared<Shared>()) {}

std::uint64_t LogWatch::read_size() {
  const Result<RecordReader::Moment> now = records_.moment({});
  return now ? now->size : 0;
}

Async<void> LogWatch::wait(std::string key, milliseconds longest, std::stop_token cancel) {
  const std::shared_ptr<Shared> shared = shared_;
  ++shared->waiting;
  const std::shared_ptr<void> counted(nullptr, [shared](void*) { --shared->waiting; });
  if (shared->looks.exchange(true)) {
    co_await shared->bell.wait(std::move(key), std::min(longest, kLongestSleep), cancel);
    co_return;
  }
  // Another waiter takes over, because this one may not come back.
  const std::shared_ptr<void> looking(nullptr, [shared](void*) {
    shared->looks = false;
    shared->bell.ring_one();
  });
  co_await shared->bell.wait(std::move(key), std::min(longest, shared->between_looks()), cancel);
  const std::uint64_t size = read_size();
  // Without a size every waiter looks itself.
  if (size == 0 || shared->size.exchange(size) != size) shared->bell.ring_all();
}

void LogWatch::ring(const std::string& key) {
  shared_->bell.ring(key);
}

bool LogWatch::grown(std::uint64_t& seen) {
  const RealTime now = std::chrono::steady_clock::now();
  const bool stale = shared_->read.with(
      [&](Shared::Read& read) { return now - read.at >= kFresh && (read.at = now, true); });
  // Not under the lock: a read of a shared log lets other handlers run.
  const std::uint64_t fresh = stale ? read_size() : 0;
  const std::uint64_t size = shared_->read.with([&](Shared::Read& read) {
    if (stale) read.size = fresh;
    return read.size;
  });
  if (size != 0 && size == seen) return false;
  seen = size;
  return true;
}

}  // namespace sallyport::core
