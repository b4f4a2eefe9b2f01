// The queue of groups that wait for the pen, and the owed ones. Only for the files of Ledger.
#pragma once

#include <algorithm>
#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "ledger/ledger.h"
#include "ledger/write/turned_away.h"

namespace sallyport::ledger {

inline constexpr std::size_t kBatchEntries = 2048;
inline constexpr std::size_t kBatchBytes = 4u << 20;
inline constexpr std::size_t kQueuedBytes = 256u << 20;

// The pause between attempts: each attempt costs a transaction, so not every call makes one.
inline constexpr auto kTryAgain = std::chrono::milliseconds(100);

// How long the writer waits for a blocked loop.
inline constexpr auto kLoopBlocked = std::chrono::milliseconds(20);

inline std::size_t weight(const Group& group) {
  std::size_t bytes = 256;
  for (const SealedDraft& draft : group.drafts) bytes += draft.size();
  for (const core::Draft& draft : group.unsealed) {
    bytes += draft.body.text_size().value_or(0);
    for (const core::ExactContent& exact : draft.exact)
      bytes += exact.bytes ? exact.bytes->size() : 0;
  }
  return bytes;
}

inline std::size_t entries_of(const Group& group) {
  return group.drafts.size() + group.unsealed.size();
}

// The approximate memory of an owed group.
inline std::size_t owed_weight(const Group& group) {
  return weight(group) + group.drafts.size() * sizeof(SealedDraft);
}

// The error of the disk, with the text of its first report.
inline std::unexpected<Error> refusal_by(const Health& health, std::string_view more = {}) {
  return fail(health.cause == "corrupt" ? ErrorCode::Corrupt : ErrorCode::Unavailable,
              health.detail + std::string(more), {}, health.cause);
}

// True for a state that does not pass: nothing is built on damage (LE-54), and a gateway that
// others declared lost writes nothing until it has joined again (SC-29).
inline bool is_final(const Health& health) {
  return health.cause == "corrupt" || health.cause == "fenced";
}

struct Ledger::Queue {
  Mutex mutex;
  Condition wake;
  std::deque<Group> waiting SALLYPORT_GUARDED_BY(mutex);
  // Written before everything else.
  std::deque<Group> owed SALLYPORT_GUARDED_BY(mutex);
  std::size_t bytes SALLYPORT_GUARDED_BY(mutex) = 0;       // of both
  std::size_t owed_bytes SALLYPORT_GUARDED_BY(mutex) = 0;  // until they are written
  bool paying SALLYPORT_GUARDED_BY(mutex) = false;         // the last try wrote some of it
  TurnedAway turned_away SALLYPORT_GUARDED_BY(mutex);      // not recorded yet
  bool stopping SALLYPORT_GUARDED_BY(mutex) = false;
  // The loop that has promised to call the writer once all that is ready on it has run: what its
  // callers append until then is written together. Empty: none.
  boost::asio::any_io_executor promised SALLYPORT_GUARDED_BY(mutex);
  // The writer was called and takes the waiting groups. INVARIANT: then some group waits.
  bool open SALLYPORT_GUARDED_BY(mutex) = false;
  // This many groups do not wait for their loop: the average of the last two batches. So half of
  // the callers make their next calls while those of the other half are written.
  std::size_t enough SALLYPORT_GUARDED_BY(mutex) = kFewest;
  std::size_t last_batch SALLYPORT_GUARDED_BY(mutex) = 0;
  static constexpr std::size_t kFewest = 4;
  // The number of next appends that count as those of many callers.
  int company SALLYPORT_GUARDED_BY(mutex) = 0;
  Health health SALLYPORT_GUARDED_BY(mutex);
  SteadyTime failed_at SALLYPORT_GUARDED_BY(mutex){};  // when the disk last refused

  // Takes the group, unless it is refused; then the group is unchanged. True: no other caller
  // writes.
  Result<bool> add(Group& group, SteadyTime now) {
    const MutexLock lock(mutex);
    if (is_final(health) || is_blocked(now)) return refusal_by(health);
    if (stopping) return fail(ErrorCode::Unavailable, "the ledger is closing");
    if (bytes + weight(group) > kQueuedBytes) {
      return fail(ErrorCode::Exhausted, "too many records wait for the disk");
    }
    bytes += weight(group);
    waiting.push_back(std::move(group));
    return last_is_alone();
  }

  // True if the caller on this loop has to promise; otherwise its loop has done so, or the writer
  // was called.
  bool promises(const boost::asio::any_io_executor& executor) {
    {
      const MutexLock lock(mutex);
      if (open) return false;
      const bool other_loop = promised && executor != promised;
      if (executor && !other_loop && waiting.size() < enough) {
        return !std::exchange(promised, executor);
      }
    }
    call_writer();
    return false;
  }

  // Calls the writer for the waiting groups.
  void call_writer() {
    {
      const MutexLock lock(mutex);
      promised = {};
      if (open || waiting.empty()) return;
      open = true;
    }
    wake.notify_one();
  }

  // True if the writer has more to do than its callers.
  bool is_long() {
    constexpr std::size_t kFewGroups = 8;
    const MutexLock lock(mutex);
    return waiting.size() > kFewGroups;
  }

  // Takes the groups of one transaction: everything owed, then as much as fits.
  std::vector<Group> take() SALLYPORT_REQUIRES(mutex) {
    std::vector<Group> taken = take_batch();
    if (waiting.empty()) open = false;
    const std::size_t before = std::exchange(last_batch, taken.size());
    enough = std::max(kFewest, (before + last_batch) / 2);
    return taken;
  }
  std::vector<Group> take_batch() SALLYPORT_REQUIRES(mutex) {
    std::vector<Group> taken;
    std::size_t entries = 0;
    std::size_t size = 0;
    for (std::deque<Group>* const source : {&owed, &waiting}) {
      while (!source->empty()) {
        const Group& next = source->front();
        const bool alone = next.compose != nullptr;
        const bool fits = entries + entries_of(next) <= kBatchEntries &&
                          size + weight(next) <= kBatchBytes && !alone;
        if (!taken.empty() && !fits) return taken;
        entries += entries_of(next);
        size += weight(next);
        bytes -= weight(next);
        taken.push_back(std::move(source->front()));
        source->pop_front();
        if (alone) return taken;
      }
    }
    return taken;
  }

  // True if a new group would wait behind owed records that could not be written a moment ago.
  bool is_blocked(SteadyTime now) const SALLYPORT_REQUIRES(mutex) {
    return !health.ok && !owed.empty() && now - failed_at < kTryAgain;
  }

  bool failed_long_ago(SteadyTime now) {
    const MutexLock lock(mutex);
    return now - failed_at >= std::chrono::seconds(1);
  }

  // Returns all groups that wait behind owed records which cannot be written.
  std::deque<Group> take_blocked() {
    const MutexLock lock(mutex);
    if (health.ok || owed.empty()) return {};
    for (const Group& group : waiting) bytes -= weight(group);
    open = false;
    return std::exchange(waiting, {});
  }

  bool has_work() const SALLYPORT_REQUIRES(mutex) {
    return (open && !waiting.empty()) || stopping || (paying && !owed.empty());
  }

  // True if the last caller is the only one. Callers that take turns each find an empty queue and
  // would delay each other, so a caller that had company a moment ago counts as one of many.
  bool last_is_alone() SALLYPORT_REQUIRES(mutex) {
    constexpr int kRemembered = 64;
    if (waiting.size() > 1) company = kRemembered;
    if (company == 0) return true;
    --company;
    return false;
  }

  // Returns what a caller on this executor may write itself: the whole queue, if nothing is wrong.
  std::optional<Group> take_lone(const boost::asio::any_io_executor& executor) {
    const MutexLock lock(mutex);
    if (waiting.size() != 1 || !owed.empty() || stopping || !health.ok) return std::nullopt;
    if (waiting.front().executor != executor) return std::nullopt;
    std::optional<Group> lone = std::move(waiting.front());
    waiting.pop_front();
    open = false;
    bytes -= weight(*lone);
    return lone;
  }

  void owe(Group group) SALLYPORT_REQUIRES(mutex) {
    bytes += weight(group);
    owed_bytes += owed_weight(group);
    owed.push_back(std::move(group));
  }

  void forget_debts() {
    const MutexLock lock(mutex);
    owed.clear();
  }

  void pay(std::size_t paid) {
    const MutexLock lock(mutex);
    owed_bytes -= paid;
    paying = paid > 0;
  }

  void put_back(Group group) {
    const MutexLock lock(mutex);
    bytes += weight(group);
    waiting.push_front(std::move(group));
  }
};

}  // namespace sallyport::ledger
