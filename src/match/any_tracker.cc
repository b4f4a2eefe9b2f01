#include <algorithm>
#include <set>
#include <utility>

#include "match/same_state.h"
#include "match/tracker.h"

namespace sallyport::match {

AnyTracker::AnyTracker(const Machine& machine)
    : machine_(machine), automaton_(machine.empty() ? nullptr : machine.automaton()) {}

void AnyTracker::renew() {
  const auto old = std::exchange(automaton_, machine_.instead_of(automaton_.get()));
  for (Group& group : groups_) group.state = automaton_->adopt(group.state);
}

const State* AnyTracker::move(const State* from, std::uint32_t character_class, std::uint64_t start,
                              const Ends& ends, std::vector<Span>& found) {
  const Move move = automaton_->step(from, character_class);
  if (move.to == nullptr) return nullptr;
  for (const Accepted& accepted : move.accepted) {
    found.push_back({accepted.entry, start, accepted.back ? ends.before_that : ends.before});
  }
  for (const std::uint32_t entry : move.to->accepts) found.push_back({entry, start, ends.now});
  return move.to;
}

void AnyTracker::step(std::uint32_t character_class, Neighbour before, std::uint64_t begin,
                      const Ends& ends, std::vector<Span>& found) {
  if (!automaton_) return;
  groups_.push_back({automaton_->initial(before), begin});
  std::size_t kept = 0;
  for (std::size_t i = 0; i < groups_.size();) {
    const Group group = groups_[i];
    const State* to = move(group.state, character_class, group.start, ends, found);
    if (to == nullptr) {
      // Groups before `kept` are in new states, those from `i` on in old ones; all are adopted.
      groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(kept),
                    groups_.begin() + static_cast<std::ptrdiff_t>(i));
      i = kept;
      renew();
      continue;
    }
    ++i;
    if (!to->waiting.empty()) groups_[kept++] = {to, group.start};
  }
  groups_.resize(kept);
  if (kept > 1) merge_same_states(groups_, [](const Group&, const Group&) {});
  if (groups_.size() > prune_at_) prune();
}

// A node that an earlier group waits in too is of no use to a later one. Afterwards there are at
// most as many groups as nodes, however long the text.
void AnyTracker::prune() {
  std::set<Waiting> seen;
  std::size_t kept = 0;
  for (const Group& group : groups_) {
    std::vector<Waiting> own;
    for (const Waiting& item : group.state->waiting) {
      if (seen.insert(item).second) own.push_back(item);
    }
    if (own.empty()) continue;
    const State* state = own.size() == group.state->waiting.size()
                             ? group.state
                             : automaton_->with_nodes(group.state, std::move(own));
    groups_[kept++] = {state, group.start};
  }
  groups_.resize(kept);
  prune_at_ = std::max(kPruneAt, 2 * kept);
}

void AnyTracker::finish(const Ends& ends, std::vector<Span>& found) {
  for (const Group& group : groups_) {
    for (const Accepted& accepted : automaton_->finish(group.state)) {
      found.push_back({accepted.entry, group.start, accepted.back ? ends.before : ends.now});
    }
  }
  groups_.clear();
}

std::optional<std::uint64_t> AnyTracker::held_from() const {
  for (const Group& group : groups_) {
    if (group.state->holds) return group.start;
  }
  return std::nullopt;
}

bool AnyTracker::exception_open(std::uint32_t rule, std::uint64_t start) const {
  for (const Group& group : groups_) {
    if (group.start > start) return false;
    if (std::ranges::binary_search(group.state->exceptions, rule)) return true;
  }
  return false;
}

}  // namespace sallyport::match
