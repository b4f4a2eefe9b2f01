#include <algorithm>
#include <utility>

#include "match/same_state.h"
#include "match/tracker.h"

namespace sallyport::match {

namespace {

void replace_match(std::vector<Span>& matched, const Span& better) {
  std::erase_if(matched, [&](const Span& span) { return span.index == better.index; });
  matched.push_back(better);
}

// Of two starts with the same end, the earlier one represents both. Only the latest matches are
// compared: reporting one twice does no harm.
void take_over(std::vector<Span>& matched, const std::vector<Span>& others) {
  constexpr std::size_t kLatest = 8;
  for (const Span& other : others) {
    const auto from =
        matched.end() - static_cast<std::ptrdiff_t>(std::min(matched.size(), kLatest));
    const bool known = std::any_of(from, matched.end(), [&](const Span& span) {
      return span.index == other.index && span.end == other.end && span.start <= other.start;
    });
    if (!known) matched.push_back(other);
  }
}

}  // namespace

PreferredTracker::PreferredTracker(const Machine* machine) : machine_(machine) {
  if (machine_ != nullptr && !machine_->empty()) automaton_ = machine_->automaton();
}

void PreferredTracker::renew() {
  renewed_ = true;
  const auto old = std::exchange(automaton_, machine_->instead_of(automaton_.get()));
  for (Group& group : groups_) group.state = automaton_->adopt(group.state);
}

// False: no room.
bool PreferredTracker::advance(Group& group, std::uint32_t character_class, const Ends& ends,
                               std::vector<Span>& found) {
  const Move move = automaton_->step(group.state, character_class, renewed_);
  if (move.to == nullptr) return false;
  const bool same = std::exchange(group.state, move.to) == move.to;
  if (move.accepted.empty() && (same || group.matched.empty())) return true;
  for (const Accepted& accepted : move.accepted) {
    replace_match(group.matched, {accepted.entry, group.start, end_of(accepted, ends)});
  }
  std::erase_if(group.matched, [&](const Span& span) {
    if (std::ranges::binary_search(move.to->entries, span.index)) return false;
    found.push_back(span);
    return true;
  });
  return true;
}

void PreferredTracker::step(std::uint32_t character_class, Neighbour before, std::uint64_t begin,
                            const Ends& ends, std::vector<Span>& found) {
  renewed_ = false;
  // Most characters begin nothing.
  const State* const initial = automaton_->initial(before);
  const Move first = automaton_->step(initial, character_class, false);
  const bool begins = first.to == nullptr || !first.accepted.empty() || !first.to->waiting.empty();
  if (begins) groups_.push_back({initial, begin, {}});
  std::size_t kept = 0;
  for (std::size_t i = 0; i < groups_.size();) {
    // Most groups have matched nothing, and accept nothing now.
    const std::uintptr_t edge = Automaton::peek(groups_[i].state, character_class);
    if (is_plain(edge) && groups_[i].matched.empty()) {
      if ((edge & Automaton::Dead) == 0) {
        groups_[kept].state = reinterpret_cast<const State*>(edge);
        groups_[kept].start = groups_[i].start;
        groups_[kept].matched.clear();
        ++kept;
      }
      ++i;
      continue;
    }
    if (!advance(groups_[i], character_class, ends, found)) {
      groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(kept),
                    groups_.begin() + static_cast<std::ptrdiff_t>(i));
      i = kept;
      renew();
      continue;
    }
    if (!groups_[i].state->waiting.empty()) {
      if (kept != i) groups_[kept] = std::move(groups_[i]);
      ++kept;
    }
    ++i;
  }
  groups_.resize(kept);
  merge_groups();
}

void PreferredTracker::merge_groups() {
  if (groups_.size() < 2) return;
  merge_same_states(
      groups_, [](Group& kept, const Group& dropped) { take_over(kept.matched, dropped.matched); });
}

// Many groups are left to `step`, because its caller checks their limit.
bool PreferredTracker::groups_glide(std::uint32_t character_class) const {
  constexpr std::size_t kFew = 16;
  return groups_.size() < kFew &&
         std::ranges::all_of(
             groups_,
             [&](const Group& group) {
               return group.matched.empty() &&
                      is_plain(Automaton::peek(group.state, character_class));
             });
}

void PreferredTracker::glide_groups(std::uint32_t character_class, std::uintptr_t first,
                                    std::uint64_t begin) {
  std::size_t kept = 0;
  for (const Group& group : groups_) {
    const std::uintptr_t edge = Automaton::peek(group.state, character_class);
    if ((edge & Automaton::Dead) != 0) continue;
    groups_[kept].state = reinterpret_cast<const State*>(edge);
    groups_[kept++].start = group.start;
  }
  groups_.resize(kept);
  if ((first & Automaton::Dead) == 0) {
    groups_.push_back({reinterpret_cast<const State*>(first), begin, {}});
  }
  merge_groups();
}

void PreferredTracker::finish(const Ends& ends, std::vector<Span>& found) {
  for (Group& group : groups_) {
    for (const Accepted& accepted : automaton_->finish(group.state)) {
      replace_match(group.matched, {accepted.entry, group.start, end_of(accepted, behind(ends))});
    }
    found.insert(found.end(), group.matched.begin(), group.matched.end());
  }
  groups_.clear();
}

std::optional<std::uint64_t> PreferredTracker::held_from() const {
  if (groups_.empty()) return std::nullopt;
  return groups_.front().start;
}

}  // namespace sallyport::match
