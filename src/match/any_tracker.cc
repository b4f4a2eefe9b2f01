#include <algorithm>
#include <utility>

#include "match/same_state.h"
#include "match/tracker.h"

namespace sallyport::match {

namespace {

const State kNowhere;

// Where nothing was matched and the way is known; else nothing.
const State* quick_move(const State* from, std::uint32_t character_class) {
  const std::uintptr_t edge = Automaton::peek(from, character_class);
  if (edge == 0 || (edge & Automaton::IsEdge) != 0) return nullptr;
  return (edge & Automaton::Dead) != 0 ? &kNowhere : reinterpret_cast<const State*>(edge);
}

}  // namespace

AnyTracker::AnyTracker(const Machine& machine)
    : machine_(machine), automaton_(machine.empty() ? nullptr : machine.automaton()) {}

void AnyTracker::renew() {
  renewed_ = true;
  const auto old = std::exchange(automaton_, machine_.instead_of(automaton_.get()));
  for (Group& group : groups_) group.state = automaton_->adopt(group.state);
}

const State* AnyTracker::move(const State* from, std::uint32_t character_class, std::uint64_t start,
                              const Ends& ends, std::vector<Span>& found) {
  const Move move = automaton_->step(from, character_class, renewed_);
  if (move.to == nullptr) return nullptr;
  for (const Accepted& accepted : move.accepted) {
    found.push_back({accepted.entry, start, end_of(accepted, ends)});
  }
  return move.to;
}

void AnyTracker::step(std::uint32_t character_class, Neighbour before, std::uint64_t begin,
                      const Ends& ends, std::vector<Span>& found) {
  renewed_ = false;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < groups_.size();) {
    const std::uint64_t start = groups_[i].start;
    const State* to = quick_move(groups_[i].state, character_class);
    if (to == nullptr) to = move(groups_[i].state, character_class, start, ends, found);
    if (to == nullptr) {
      // Groups before `kept` are in new states, those from `i` on in old ones; all are adopted.
      groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(kept),
                    groups_.begin() + static_cast<std::ptrdiff_t>(i));
      i = kept;
      renew();
      continue;
    }
    ++i;
    if (to == &kNowhere || to->waiting.empty()) continue;
    groups_[kept].state = to;
    groups_[kept++].start = start;
  }
  groups_.resize(kept);
  begin_group(character_class, before, begin, ends, found);
  if (groups_.size() > kPruneAt) {
    prune();
  } else if (groups_.size() > 1) {
    merge_same_states(groups_, [](const Group&, const Group&) {});
  }
}

void AnyTracker::begin_group(std::uint32_t character_class, Neighbour before, std::uint64_t begin,
                             const Ends& ends, std::vector<Span>& found) {
  const State* to = quick_move(automaton_->initial(before), character_class);
  while (to == nullptr) {
    to = move(automaton_->initial(before), character_class, begin, ends, found);
    if (to == nullptr) renew();
  }
  if (to != &kNowhere && !to->waiting.empty()) groups_.push_back({to, begin});
}

// A node that an earlier group waits in too is of no use to a later one, so that afterwards there
// are at most as many groups as nodes, however long the text. Each is left with one node: where
// starts are many, the states of what they have in common would be new ones all the time.
void AnyTracker::prune() {
  constexpr std::size_t kModes = 3;
  if (seen_.empty()) seen_.resize(automaton_->program().nodes().size() * kModes);
  if (++turn_ == 0) {
    std::ranges::fill(seen_, 0);
    turn_ = 1;
  }
  pruned_.clear();
  for (const Group& group : groups_) {
    for (const State* const single : automaton_->singles(group.state)) {
      const Waiting& item = single->waiting.front();
      std::uint32_t& seen = seen_[item.node * kModes + static_cast<std::size_t>(item.mode)];
      if (std::exchange(seen, turn_) != turn_) pruned_.push_back({single, group.start});
    }
  }
  groups_.swap(pruned_);
}

void AnyTracker::finish(const Ends& ends, std::vector<Span>& found) {
  for (const Group& group : groups_) {
    for (const Accepted& accepted : automaton_->finish(group.state)) {
      found.push_back({accepted.entry, group.start, end_of(accepted, behind(ends))});
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
