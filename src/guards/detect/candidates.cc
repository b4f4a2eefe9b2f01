#include "guards/detect/candidates.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace sallyport::guards {

namespace {

bool by_place(const Hit& a, const Hit& b) {
  return std::tie(a.begin, a.end, a.detector) < std::tie(b.begin, b.end, b.detector);
}

// The longest first.
bool by_rank(const Hit& a, const Hit& b) {
  return std::tuple(b.size(), a.detector, a.begin) < std::tuple(a.size(), b.detector, b.begin);
}

bool any_overlap(const std::vector<Hit>& sorted) {
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].begin < sorted[i - 1].end) return true;
  }
  return false;
}

bool fits(const std::set<Hit, decltype(&by_place)>& taken, const Hit& hit) {
  const auto next = taken.lower_bound(hit);
  if (next != taken.end() && next->begin < hit.end) return false;
  return next == taken.begin() || std::prev(next)->end <= hit.begin;
}

}  // namespace

std::vector<Hit> settled(std::vector<Hit> hits) {
  std::ranges::sort(hits, by_place);
  if (!any_overlap(hits)) return hits;
  std::ranges::sort(hits, by_rank);
  std::set<Hit, decltype(&by_place)> taken(&by_place);
  for (const Hit& hit : hits) {
    if (fits(taken, hit)) taken.insert(hit);
  }
  return {taken.begin(), taken.end()};
}

std::vector<Hit> Candidates::settle() && {
  return settled(std::move(hits_));
}

}  // namespace sallyport::guards
