// Keeps records that could not be written in time, up to a bound, and writes them before anything
// else as soon as possible.
#include <fmt/format.h>

#include <algorithm>

#include "ledger/entry/trust_link.h"
#include "ledger/write/answers.h"
#include "ledger/write/ledger_queue.h"

namespace sallyport::ledger {

namespace {

// A draft that ends a call or changes a fact is never dropped.
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
  std::uint64_t unfit = 0;
  for (core::Draft& draft : drafts) {
    const bool record = draft.kind == core::Kind::ToolAudit;
    // A draft that no entry can hold is our own fault. The rest is still owed.
    if (Result<SealedDraft> sealed = committer_.seal(std::move(draft))) {
      if (record) records.push_back(group.drafts.size());
      group.drafts.push_back(std::move(*sealed));
    } else {
      ++unfit;
    }
  }
  group.known_ids = true;
  group.owed = true;
  group.done = [this, records = std::move(records)](const Result<Positions>& written) {
    if (!written || records.empty() || !late_records_bell_) return;
    note_late_records(*written, records);
    late_records_bell_();
  };
  const MutexLock lock(queue_->mutex);
  queue_->owe(std::move(group));
  if (unfit > 0) turn_away(0, unfit);
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

// Owes the entry with the counts, which are read when it is written.
void Ledger::owe_account() {
  queue_->mutex.assert_held();
  const auto reported = std::make_shared<TurnedAway>();
  Group account{.urgency = core::Urgency::Reports};
  account.owed = true;
  account.compose = [this, reported](WriteView&) -> Result<std::vector<core::Draft>> {
    const MutexLock lock(queue_->mutex);
    *reported = queue_->turned_away;
    return std::vector{reported->draft()};
  };
  account.done = [this, reported](const Result<Positions>& written) {
    if (written) settle_account(*reported);
  };
  queue_->owe(std::move(account));
}

void Ledger::settle_account(const TurnedAway& reported) {
  const MutexLock lock(queue_->mutex);
  TurnedAway& away = queue_->turned_away;
  away.calls -= reported.calls;
  away.reports -= reported.reports;
  away.since = reported.until;
  if (!away.empty()) owe_account();
}

void Ledger::note_late_records(const Positions& positions,
                               const std::vector<std::size_t>& records) {
  late_records_.with([&](auto& late) {
    for (const std::size_t at : records) late.push_back(positions.at(at).sequence);
  });
}

std::vector<std::uint64_t> Ledger::take_late_records() {
  return late_records_.with([](auto& late) { return std::exchange(late, {}); });
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

// Puts the groups before those that became owed meanwhile.
void Ledger::owe_again(std::vector<Group> groups) {
  const MutexLock lock(queue_->mutex);
  for (const Group& group : groups) queue_->bytes += weight(group);
  queue_->owed.insert(queue_->owed.begin(), std::make_move_iterator(groups.begin()),
                      std::make_move_iterator(groups.end()));
}

}  // namespace sallyport::ledger
