#include "store/postgresql/reader_pool.h"

#include <vector>

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

bool ReaderPool::may_open(Time now) const {
  return lent_ < kMost && (lent_ == 0 || now >= full_until_);
}

// Null: the caller may open one more.
Result<std::unique_ptr<Link>> ReaderPool::take_idle(Time deadline) {
  std::vector<std::unique_ptr<Link>> lost;  // closed without the lock
  const MutexLock lock(mutex_);
  while (true) {
    const Time now = Steady::now();
    if (now < quiet_until_) return std::unexpected(*failed_);
    while (!idle_.empty()) {
      std::unique_ptr<Link> reader = std::move(idle_.back().link);
      idle_.pop_back();
      if (reader->still_there()) {
        ++lent_;
        return reader;
      }
      lost.push_back(std::move(reader));
    }
    if (may_open(now)) break;
    if (now >= deadline) {
      return ledger::ledger_unavailable("busy", "too many reads wait for the database");
    }
    returned_.wait_until(mutex_, deadline);
  }
  ++lent_;
  return nullptr;
}

// A server at its limit refuses another connection, while the lent ones work.
bool ReaderPool::others_will_return(Time now) {
  const MutexLock lock(mutex_);
  if (lent_ == 0) return false;
  full_until_ = now + kQuietAfterFailure;
  return true;
}

Result<ReaderPool::Reader> ReaderPool::take() {
  const Time deadline = Steady::now() + options_.patience;
  while (true) {
    SALLYPORT_TRY(std::unique_ptr<Link> reader, take_idle(deadline));
    if (reader) return Reader(reader.release(), {this});
    Result<std::unique_ptr<Link>> opened = Link::open(options_);
    if (opened) return Reader(opened->release(), {this});
    give_back(nullptr);
    if (others_will_return(Steady::now())) continue;
    note_failure(opened.error());
    return std::unexpected(opened.error());
  }
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
