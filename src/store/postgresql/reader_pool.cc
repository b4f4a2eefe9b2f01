#include "store/postgresql/reader_pool.h"

#include "base/try.h"
#include "ledger/store.h"

namespace sallyport::store::postgresql {

namespace {

using Steady = std::chrono::steady_clock;

constexpr auto kQuietAfterFailure = std::chrono::milliseconds(500);
// Beyond these, a connection that no read has needed for a while is closed.
constexpr std::size_t kKept = 4;
constexpr auto kUnneeded = std::chrono::seconds(10);

}  // namespace

// Null: the caller may open one more.
Result<std::unique_ptr<Link>> ReaderPool::take_idle() {
  const auto deadline = Steady::now() + options_.patience;
  const MutexLock lock(mutex_);
  while (true) {
    if (Steady::now() < quiet_until_) return std::unexpected(*failed_);
    if (lent_ < kMost) break;
    if (!returned_.wait_until(mutex_, deadline)) {
      return ledger::ledger_unavailable("busy", "too many reads wait for the database");
    }
  }
  ++lent_;
  while (!idle_.empty()) {
    std::unique_ptr<Link> reader = std::move(idle_.back().link);
    idle_.pop_back();
    if (reader->still_there()) return reader;
  }
  return nullptr;
}

Result<ReaderPool::Reader> ReaderPool::take() {
  SALLYPORT_TRY(std::unique_ptr<Link> reader, take_idle());
  if (reader) return Reader(reader.release(), {this});
  Result<std::unique_ptr<Link>> opened = Link::open(options_);
  if (opened) return Reader(opened->release(), {this});
  note_failure(opened.error());
  give_back(nullptr);
  return std::unexpected(opened.error());
}

void ReaderPool::give_back(std::unique_ptr<Link> reader) {
  std::unique_ptr<Link> unneeded;  // closed without the lock
  {
    const MutexLock lock(mutex_);
    --lent_;
    const Time now = Steady::now();
    if (reader && !reader->broken()) idle_.push_back({std::move(reader), now});
    if (idle_.size() > kKept && now - idle_.front().since > kUnneeded) {
      unneeded = std::move(idle_.front().link);
      idle_.pop_front();
    }
  }
  returned_.notify_one();
}

void ReaderPool::note_failure(const Error& error) {
  std::deque<Idle> dropped;
  {
    const MutexLock lock(mutex_);
    quiet_until_ = Steady::now() + kQuietAfterFailure;
    failed_ = error;
    dropped.swap(idle_);
  }
  returned_.notify_all();
}

}  // namespace sallyport::store::postgresql
