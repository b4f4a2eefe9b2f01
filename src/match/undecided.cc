#include "match/undecided.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace sallyport::match {

bool Undecided::StartsFirst::operator()(const Match& a, const Match& b) const {
  return std::tie(a.start, a.entry, a.end) < std::tie(b.start, b.entry, b.end);
}

// The work is small: matches that end after this one are only as old as an assertion looks ahead.
void Undecided::cover(std::uint64_t start, std::uint64_t end) {
  const auto after = covers_.upper_bound(start);
  if (after != covers_.begin() && std::prev(after)->second >= end) return;
  auto inside = covers_.lower_bound(start);
  while (inside != covers_.end() && inside->second <= end) inside = covers_.erase(inside);
  covers_.emplace_hint(inside, start, end);
  for (auto match = waiting_.lower_bound({.start = start}); match != waiting_.end();) {
    match = match->end <= end ? waiting_.erase(match) : std::next(match);
  }
}

// Covers that start later also end later. So the last one that starts early enough decides.
void Undecided::add(const Match& match) {
  const auto after = covers_.upper_bound(match.start);
  if (after != covers_.begin() && std::prev(after)->second >= match.end) return;
  waiting_.insert(match);
}

void Undecided::decide(std::optional<std::uint64_t> open_from, std::vector<Match>& certain) {
  const auto undecided = open_from ? waiting_.lower_bound({.start = *open_from}) : waiting_.end();
  certain.insert(certain.end(), waiting_.begin(), undecided);
  waiting_.erase(waiting_.begin(), undecided);
}

void Undecided::forget_covers_before(std::uint64_t end) {
  while (!covers_.empty() && covers_.begin()->second < end) covers_.erase(covers_.begin());
}

// An exception that will cover a match also covers each one that starts later and has ended. If
// none does, the one that starts earlier is certain first, or both are certain together. Then the
// first entry counts, then the smallest end.
void Undecided::thin_out(std::uint64_t end) {
  if (waiting_.size() < thin_out_at_) return;
  const Match* best = nullptr;
  std::erase_if(waiting_, [&](const Match& match) {
    const bool better =
        best == nullptr || std::tie(match.entry, match.end) < std::tie(best->entry, best->end);
    if (!better && match.end <= end) return true;
    if (better) best = &match;
    return false;
  });
  thin_out_at_ = std::max(kMany, 2 * waiting_.size());
}

std::size_t Undecided::bytes() const {
  constexpr std::size_t kNode = 4 * sizeof(void*);
  return waiting_.size() * (kNode + sizeof(Match)) +
         covers_.size() * (kNode + 2 * sizeof(std::uint64_t));
}

}  // namespace sallyport::match
