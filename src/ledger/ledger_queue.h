// What waits for the pen, and what is owed. Only for the files of Ledger.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "ledger/ledger.h"
#include "ledger/turned_away.h"

namespace sallyport::ledger {

inline constexpr std::size_t kBatchEntries = 2048;
inline constexpr std::size_t kBatchBytes = 4u << 20;
inline constexpr std::size_t kQueuedBytes = 256u << 20;

// Each try costs a transaction, which a disk that refuses need not be asked for by every call.
inline constexpr auto kTryAgain = std::chrono::milliseconds(100);

inline std::size_t weight(const Group& group) {
  std::size_t bytes = 256;
  for (const SealedDraft& draft : group.drafts) bytes += draft.size();
  return bytes;
}

// The memory it takes while it is owed, nearly.
inline std::size_t owed_weight(const Group& group) {
  return weight(group) + group.drafts.size() * sizeof(SealedDraft);
}

// What the disk said, in the words of the error that told it first.
inline std::unexpected<Error> refusal_by(const Health& health, std::string_view more = {}) {
  return fail(health.cause == "corrupt" ? ErrorCode::Corrupt : ErrorCode::Unavailable,
              health.detail + std::string(more), {}, health.cause);
}

struct Ledger::Queue {
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<Group> waiting;   // GUARDED_BY(mutex)
  std::deque<Group> owed;      // GUARDED_BY(mutex), before everything else
  std::size_t bytes = 0;       // GUARDED_BY(mutex), of both
  std::size_t owed_bytes = 0;  // GUARDED_BY(mutex), until they are written
  bool paying = false;         // GUARDED_BY(mutex), the last try wrote some of it
  TurnedAway turned_away;      // GUARDED_BY(mutex), and not told yet
  bool stopping = false;       // GUARDED_BY(mutex)
  int company = 0;             // GUARDED_BY(mutex), appends to come that count as those of many
  Health health;               // GUARDED_BY(mutex)
  SteadyTime failed_at{};      // GUARDED_BY(mutex), when the disk last refused

  // Takes the group, unless it is refused; then it is left as it is. True: nobody else is there who
  // writes.
  Result<bool> add(Group& group, SteadyTime now) {
    const std::lock_guard lock(mutex);
    if (health.cause == "corrupt" || is_blocked(now)) return refusal_by(health);
    if (stopping) return fail(ErrorCode::Unavailable, "the ledger is closing");
    if (bytes + weight(group) > kQueuedBytes) {
      return fail(ErrorCode::Exhausted, "too many records wait for the disk");
    }
    bytes += weight(group);
    waiting.push_back(std::move(group));
    return last_is_alone();
  }

  // What goes into one transaction: everything owed, then as much as fits.
  std::vector<Group> take() {
    std::vector<Group> taken;
    std::size_t entries = 0;
    std::size_t size = 0;
    for (std::deque<Group>* const source : {&owed, &waiting}) {
      while (!source->empty()) {
        const Group& next = source->front();
        const bool alone = next.compose != nullptr;
        const bool fits = entries + next.drafts.size() <= kBatchEntries &&
                          size + weight(next) <= kBatchBytes && !alone;
        if (!taken.empty() && !fits) return taken;
        entries += next.drafts.size();
        size += weight(next);
        bytes -= weight(next);
        taken.push_back(std::move(source->front()));
        source->pop_front();
        if (alone) return taken;
      }
    }
    return taken;
  }

  // What comes now would have to wait for debts that could not be paid a moment ago. With the mutex
  // held.
  bool is_blocked(SteadyTime now) const {
    return !health.ok && !owed.empty() && now - failed_at < kTryAgain;
  }

  bool failed_long_ago(SteadyTime now) {
    const std::lock_guard lock(mutex);
    return now - failed_at >= std::chrono::seconds(1);
  }

  // All that waits behind debts which cannot be paid.
  std::deque<Group> take_blocked() {
    const std::lock_guard lock(mutex);
    if (health.ok || owed.empty()) return {};
    for (const Group& group : waiting) bytes -= weight(group);
    return std::exchange(waiting, {});
  }

  // With the mutex held.
  bool has_work() const { return !waiting.empty() || stopping || (paying && !owed.empty()); }

  // Is whoever appended last the only one? Callers who take turns find nobody waiting, and would
  // each hold up the others: one who was joined a moment ago is one of many. With the mutex held.
  bool last_is_alone() {
    constexpr int kRemembered = 64;
    if (waiting.size() > 1) company = kRemembered;
    if (company == 0) return true;
    --company;
    return false;
  }

  // What a caller on this executor may write himself: all that waits, and nothing is wrong.
  std::optional<Group> take_lone(const boost::asio::any_io_executor& executor) {
    const std::lock_guard lock(mutex);
    if (waiting.size() != 1 || !owed.empty() || stopping || !health.ok) return std::nullopt;
    if (waiting.front().executor != executor) return std::nullopt;
    std::optional<Group> lone = std::move(waiting.front());
    waiting.pop_front();
    bytes -= weight(*lone);
    return lone;
  }

  // With the mutex held.
  void owe(Group group) {
    bytes += weight(group);
    owed_bytes += owed_weight(group);
    owed.push_back(std::move(group));
  }

  void forget_debts() {
    const std::lock_guard lock(mutex);
    owed.clear();
  }

  void pay(std::size_t paid) {
    const std::lock_guard lock(mutex);
    owed_bytes -= paid;
    paying = paid > 0;
  }

  void put_back(Group group) {
    const std::lock_guard lock(mutex);
    bytes += weight(group);
    waiting.push_front(std::move(group));
  }
};

}  // namespace sallyport::ledger
