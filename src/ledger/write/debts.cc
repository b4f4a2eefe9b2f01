// What could not be written when it should have been: kept, up to a bound, and written before
// anything else as soon as that is possible.
#include <fmt/format.h>

#include <algorithm>

#include "ledger/entry/trust_link.h"
#include "ledger/write/answers.h"
#include "ledger/write/ledger_queue.h"

namespace sallyport::ledger {

namespace {

// What ends a call, or changes what is known, is never dropped.
bool may_be_dropped(const std::vector<core::Draft>& drafts) {
  return std::ranges::none_of(drafts, [](const core::Draft& draft) {
    return draft.kind == core::Kind::ToolAudit || !draft.facts.empty() || !draft.changes.empty();
  });
}

}  // namespace

void Ledger::owe(std::vector<core::Draft> drafts) {
  Group group{.urgency = core::Urgency::Reports};
  if (std::erase_if(drafts, is_trust_control) > 0) {
    drafts.push_back(control("refused_control", {{"who", instance_.get()}, {"what", "trust"}}));
  }
  if (may_be_dropped(drafts)) {
    const MutexLock lock(queue_->mutex);
    if (queue_->owed_bytes >= settings_.owed_bytes) return turn_away(0, drafts.size());
  }
  std::vector<std::size_t> records;
  for (core::Draft& draft : drafts) {
    const bool record = draft.kind == core::Kind::ToolAudit;
    // A draft that cannot be an entry is a fault of ours; the rest is still owed.
    if (Result<SealedDraft> sealed = committer_.seal(std::move(draft))) {
      if (record) records.push_back(group.drafts.size());
      group.drafts.push_back(std::move(*sealed));
    }
  }
  group.known_ids = true;
  group.owed = true;
  group.done = [this, records = std::move(records)](const Result<Positions>& written) {
    if (!written || records.empty() || !unheard_bell_) return;
    note_unheard(*written, records);
    unheard_bell_();
  };
  const MutexLock lock(queue_->mutex);
  queue_->owe(std::move(group));
}

Result<void> Ledger::accept_call() {
  const MutexLock lock(queue_->mutex);
  if (queue_->owed_bytes < settings_.owed_bytes) return {};
  turn_away(1, 0);
  const std::string owed = fmt::format(
      "{} MiB of records of earlier calls are still owed, so this call was refused "
      "without a record of its own",
      queue_->owed_bytes >> 20);
  if (queue_->health.ok) return ledger_unavailable("busy", owed);
  return refusal_by(queue_->health, "; " + owed);
}

void Ledger::turn_away(std::uint64_t calls, std::uint64_t reports) {
  queue_->mutex.assert_held();
  TurnedAway& away = queue_->turned_away;
  const bool first = away.empty();
  away.calls += calls;
  away.reports += reports;
  away.until = parts_.clock.wall();
  if (!first) return;
  away.since = away.until;
  owe_account();
}

// Behind what is owed; it says how many there are when it is written.
void Ledger::owe_account() {
  queue_->mutex.assert_held();
  const auto told = std::make_shared<TurnedAway>();
  Group account{.urgency = core::Urgency::Reports};
  account.owed = true;
  account.compose = [this, told](WriteView&) -> Result<std::vector<core::Draft>> {
    const MutexLock lock(queue_->mutex);
    *told = queue_->turned_away;
    return std::vector{told->draft()};
  };
  account.done = [this, told](const Result<Positions>& written) {
    if (written) settle_account(*told);
  };
  queue_->owe(std::move(account));
}

void Ledger::settle_account(const TurnedAway& told) {
  const MutexLock lock(queue_->mutex);
  TurnedAway& away = queue_->turned_away;
  away.calls -= told.calls;
  away.reports -= told.reports;
  away.since = told.until;
  if (!away.empty()) owe_account();
}

void Ledger::note_unheard(const Positions& positions, const std::vector<std::size_t>& records) {
  unheard_.with([&](auto& unheard) {
    for (const std::size_t at : records) unheard.push_back(positions.at(at).sequence);
  });
}

std::vector<std::uint64_t> Ledger::take_unheard() {
  return unheard_.with([](auto& unheard) { return std::exchange(unheard, {}); });
}

// INVARIANT: no caller waits for a disk that refuses, however much is owed.
void Ledger::refuse_blocked() {
  const Health now = health();
  Answers answers;
  for (Group& group : queue_->take_blocked()) {
    group.result = refusal_by(now);
    answers.add(std::move(group));
  }
}

// Before what came to be owed in the meantime.
void Ledger::owe_again(std::vector<Group> groups) {
  const MutexLock lock(queue_->mutex);
  for (const Group& group : groups) queue_->bytes += weight(group);
  queue_->owed.insert(queue_->owed.begin(), std::make_move_iterator(groups.begin()),
                      std::make_move_iterator(groups.end()));
}

}  // namespace sallyport::ledger
