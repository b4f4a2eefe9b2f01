// The matches of one rule that its exceptions may still cover, and the matches of those exceptions.
//
//   undecided.cover(0, 9);                             // an exception matched
//   undecided.add(match);
//   undecided.decide(first_open_exception, certain);   // moves out what nothing can cover any more
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "match/pattern_set.h"

namespace sallyport::match {

class Undecided {
 public:
  // An exception matched here. Drops the waiting matches that lie inside.
  void cover(std::uint64_t start, std::uint64_t end);
  // An entry matched. It waits unless a known match of an exception covers it.
  void add(const Match& match);
  // Moves the matches to `certain` that no exception can cover any more. `open_from`: where the
  // first exception begins that may still match; none: no exception may.
  void decide(std::optional<std::uint64_t> open_from, std::vector<Match>& certain);

  // No later match ends before `end`.
  void forget_covers_before(std::uint64_t end);
  // If many matches wait, drops those of which it can be said now that another one is reported in
  // their place, or that they are covered with it. `end`: no later match of an exception ends
  // before.
  void thin_out(std::uint64_t end);

  // The match that starts first. Null: none waits.
  const Match* first() const { return waiting_.empty() ? nullptr : &*waiting_.begin(); }
  bool empty() const { return waiting_.empty() && covers_.empty(); }
  std::size_t bytes() const;

 private:
  static constexpr std::size_t kMany = 256;

  struct StartsFirst {
    bool operator()(const Match& a, const Match& b) const;
  };

  std::set<Match, StartsFirst> waiting_;
  std::map<std::uint64_t, std::uint64_t> covers_;  // end by start; none lies inside another
  std::size_t thin_out_at_ = kMany;
};

}  // namespace sallyport::match
