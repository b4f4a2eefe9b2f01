#include <algorithm>
#include <utility>

#include "match/same_state.h"
#include "match/tracker.h"

namespace sallyport::match {

AnyTracker::AnyTracker(const Machine& machine)
    : machine_(machine), automaton_(machine.empty() ? nullptr : machine.automaton()) {
  reset();
}

void AnyTracker::reset() {
  crowd_ = nullptr;
  groups_.clear();
  if (active()) find_crowd(Neighbour::Edge);
}

void AnyTracker::find_crowd(Neighbour before) {
  if (groups_.size() > Crowd::kMost) return;
  std::vector<const State*> states;
  for (const Group& group : groups_) states.push_back(group.state);
  crowd_ = automaton_->crowds().of(std::move(states), before);
  if (crowd_ == nullptr) return;
  for (std::size_t i = 0; i < groups_.size(); ++i) starts_[i] = groups_[i].start;
  groups_.clear();
}

std::vector<AnyTracker::Group> AnyTracker::groups() const {
  if (crowd_ == nullptr) return groups_;
  std::vector<Group> groups;
  for (std::size_t i = 0; i < crowd_->count; ++i) groups.push_back({crowd_->states[i], starts_[i]});
  return groups;
}

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

void AnyTracker::step_each(std::uint32_t character_class, Neighbour before, std::uint64_t begin,
                           const Ends& ends, std::vector<Span>& found) {
  groups_ = groups();
  crowd_ = nullptr;
  renewed_ = false;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < groups_.size();) {
    const std::uint64_t start = groups_[i].start;
    const State* const to = move(groups_[i].state, character_class, start, ends, found);
    if (to == nullptr) {
      // Groups before `kept` are in new states, those from `i` on in old ones; all are adopted.
      groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(kept),
                    groups_.begin() + static_cast<std::ptrdiff_t>(i));
      i = kept;
      renew();
      continue;
    }
    ++i;
    if (to->waiting.empty()) continue;
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
  find_crowd(automaton_->program().classes().neighbour(character_class));
}

void AnyTracker::begin_group(std::uint32_t character_class, Neighbour before, std::uint64_t begin,
                             const Ends& ends, std::vector<Span>& found) {
  const State* to = nullptr;
  while (to == nullptr) {
    to = move(automaton_->initial(before), character_class, begin, ends, found);
    if (to == nullptr) renew();
  }
  if (!to->waiting.empty()) groups_.push_back({to, begin});
}

// A node in which an earlier group waits is useless for a later group. So there are at most as many
// groups as nodes afterwards, however long the text. Each group keeps one node: with many starts,
// shared states would be new ones all the time.
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
  for (const Group& group : groups()) {
    for (const Accepted& accepted : automaton_->finish(group.state)) {
      found.push_back({accepted.entry, group.start, end_of(accepted, behind(ends))});
    }
  }
  reset();
}

std::optional<std::uint64_t> AnyTracker::open_from() const {
  if (crowd_ != nullptr) return crowd_->count > 0 ? std::optional(starts_[0]) : std::nullopt;
  return groups_.empty() ? std::nullopt : std::optional(groups_.front().start);
}

std::optional<std::uint64_t> AnyTracker::held_from() const {
  if (crowd_ != nullptr) {
    const std::size_t held = crowd_->first_held;
    return held < Crowd::kMost ? std::optional(starts_[held]) : std::nullopt;
  }
  for (const Group& group : groups_) {
    if (group.state->holds) return group.start;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> AnyTracker::exception_open_from(std::uint32_t rule) const {
  const auto has_exception = [&](const State* state) {
    return std::ranges::binary_search(state->exceptions, rule);
  };
  if (crowd_ != nullptr) {
    for (std::size_t i = 0; i < crowd_->count; ++i) {
      if (has_exception(crowd_->states[i])) return starts_[i];
    }
    return std::nullopt;
  }
  const auto open = std::ranges::find_if(groups_, has_exception, &Group::state);
  return open == groups_.end() ? std::nullopt : std::optional(open->start);
}

}  // namespace sallyport::match
