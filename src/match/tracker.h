// Tracks the open starts of a text and the matches from them.
//
// Groups are in the order of their starts. A group represents all starts with the same future and
// keeps only the earliest: a match from a later start with the same end is inside.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "match/crowd.h"
#include "match/pattern_set.h"

namespace sallyport::match {

// A character of the searched text, and the source bytes that it came from.
struct Unit {
  char32_t character;
  std::uint64_t begin;
  std::uint64_t end;
};

// The ends of the last characters.
struct Ends {
  std::uint64_t now = 0;
  std::uint64_t before = 0;
  std::uint64_t before_that = 0;
};

inline std::uint64_t end_of(const Accepted& accepted, const Ends& ends) {
  switch (accepted.end) {
    case Accepted::End::Now:
      return ends.now;
    case Accepted::End::Before:
      return ends.before;
    default:
      return ends.before_that;
  }
}

// The end of the text counts as one more character.
inline Ends behind(const Ends& ends) {
  return {.now = ends.now, .before = ends.now, .before_that = ends.before};
}

// A span of an entry or exception, by its index in the set.
struct Span {
  std::uint32_t index;
  std::uint64_t start;
  std::uint64_t end;

  bool operator==(const Span&) const = default;
};

// Finds every match of block and log entries and of exceptions; the longest for each end.
class AnyTracker {
 public:
  explicit AnyTracker(const Machine& machine);

  bool active() const { return automaton_ != nullptr; }
  void step(std::uint32_t character_class, Neighbour before, std::uint64_t begin, const Ends& ends,
            std::vector<Span>& found) {
    if (crowd_ != nullptr && crowd_->before == before) {
      std::uintptr_t move = crowd_->moves[character_class].load(std::memory_order_acquire);
      if (move == 0) move = automaton_->crowds().make(*crowd_, character_class);
      if (move != 0) return follow(move, begin, ends, found);
    }
    step_each(character_class, before, begin, ends, found);
  }
  // Takes a step that finds nothing on a known path. False: not such a step; nothing has changed.
  bool glide(std::uint32_t character_class, std::uint64_t begin) {
    const std::uintptr_t move = crowd_->moves[character_class].load(std::memory_order_acquire);
    if (move == 0) return false;
    if ((move & 1) == 0) {
      crowd_ = reinterpret_cast<const Crowd*>(move);
      return true;
    }
    const CrowdMove& moved = *reinterpret_cast<const CrowdMove*>(move & ~std::uintptr_t{1});
    if (!moved.reported.empty()) return false;
    take_places(moved, begin);
    return true;
  }
  // True if a character after `before` may glide in this state.
  bool glides(Neighbour before) const { return crowd_ != nullptr && crowd_->before == before; }
  void finish(const Ends& ends, std::vector<Span>& found);
  // Another text begins.
  void reset();

  struct Group {
    const State* state;
    std::uint64_t start;
  };
  std::vector<Group> groups() const;
  std::optional<std::uint64_t> open_from() const;
  std::size_t state_bytes() const {
    return (groups_.capacity() + pruned_.capacity()) * sizeof(Group) +
           seen_.capacity() * sizeof(std::uint32_t);
  }
  // The earliest start of a match that must be held.
  std::optional<std::uint64_t> held_from() const;
  // The earliest start of an exception of this rule that may still match.
  std::optional<std::uint64_t> exception_open_from(std::uint32_t rule) const;

 private:
  void follow(std::uintptr_t move, std::uint64_t begin, const Ends& ends,
              std::vector<Span>& found) {
    if ((move & 1) == 0) {
      crowd_ = reinterpret_cast<const Crowd*>(move);
      return;
    }
    const CrowdMove& moved = *reinterpret_cast<const CrowdMove*>(move & ~std::uintptr_t{1});
    for (const auto& [group, accepted] : moved.reported) {
      const std::uint64_t start = group == CrowdMove::kNew ? begin : starts_[group];
      found.push_back({accepted.entry, start, end_of(accepted, ends)});
    }
    take_places(moved, begin);
  }
  void take_places(const CrowdMove& moved, std::uint64_t begin) {
    starts_[CrowdMove::kNew] = begin;
    crowd_ = moved.to;
    for (std::size_t i = 0; i < crowd_->count; ++i) starts_[i] = starts_[moved.from[i]];
  }
  void step_each(std::uint32_t character_class, Neighbour before, std::uint64_t begin,
                 const Ends& ends, std::vector<Span>& found);
  void find_crowd(Neighbour before);
  const State* move(const State* from, std::uint32_t character_class, std::uint64_t start,
                    const Ends& ends, std::vector<Span>& found);
  void begin_group(std::uint32_t character_class, Neighbour before, std::uint64_t begin,
                   const Ends& ends, std::vector<Span>& found);
  void renew();
  void prune();

  const Machine& machine_;
  std::shared_ptr<const Automaton> automaton_;
  // The crowd of the groups and their starts, if they have one; else the groups themselves.
  const Crowd* crowd_ = nullptr;
  std::array<std::uint64_t, Crowd::kMost + 1> starts_{};
  std::vector<Group> groups_;
  bool renewed_ = false;  // in this step
  // For pruning: the turn in which a node was last visited, by node and mode.
  std::vector<std::uint32_t> seen_;
  std::uint32_t turn_ = 0;
  std::vector<Group> pruned_;

  static constexpr std::size_t kPruneAt = 64;
};

// Finds from every start the span that Perl prefers. Reports it when later text cannot change it.
class PreferredTracker {
 public:
  // If there are more starts with different futures, it has `overflowed`.
  static constexpr std::size_t kMostGroups = 4096;

  // Without a machine nothing is tracked.
  explicit PreferredTracker(const Machine* machine);

  bool active() const { return automaton_ != nullptr; }
  void step(std::uint32_t character_class, Neighbour before, std::uint64_t begin, const Ends& ends,
            std::vector<Span>& found);
  // True if this character finds nothing on a known path. Then `glide` takes it.
  bool glides(std::uint32_t character_class, Neighbour before) const {
    if (!is_plain(Automaton::peek(automaton_->initial(before), character_class))) return false;
    return groups_.empty() || groups_glide(character_class);
  }
  void glide(std::uint32_t character_class, Neighbour before, std::uint64_t begin) {
    const std::uintptr_t first = Automaton::peek(automaton_->initial(before), character_class);
    if (!groups_.empty() || (first & Automaton::Dead) == 0)
      glide_groups(character_class, first, begin);
  }
  void finish(const Ends& ends, std::vector<Span>& found);
  // Another text begins.
  void reset() { groups_.clear(); }

  struct Group {
    const State* state;
    std::uint64_t start;
    std::vector<Span> matched;  // valid unless a more preferred span is found
  };
  const std::vector<Group>& groups() const { return groups_; }
  std::optional<std::uint64_t> held_from() const;
  bool overflowed() const { return groups_.size() > kMostGroups; }

 private:
  // True for an edge that is made and accepts nothing.
  static bool is_plain(std::uintptr_t edge) { return edge != 0 && (edge & Automaton::IsEdge) == 0; }
  bool groups_glide(std::uint32_t character_class) const;
  void glide_groups(std::uint32_t character_class, std::uintptr_t first, std::uint64_t begin);
  bool advance(Group& group, std::uint32_t character_class, const Ends& ends,
               std::vector<Span>& found);
  void merge_groups();
  void renew();

  const Machine* machine_;
  std::shared_ptr<const Automaton> automaton_;
  std::vector<Group> groups_;
  bool renewed_ = false;  // in this step
};

}  // namespace sallyport::match
