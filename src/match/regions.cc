#include "match/regions.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace sallyport::match {

namespace {

bool starts_first(const Match& a, const Match& b) {
  return std::tie(a.start, a.rule, a.entry) < std::tie(b.start, b.rule, b.entry);
}

void merge(Region& into, const Region& other) {
  into.start = std::min(into.start, other.start);
  into.end = std::max(into.end, other.end);
  if (starts_first(other.first, into.first)) into.first = other.first;
  std::vector<std::uint32_t> rules;
  std::ranges::set_union(into.rules, other.rules, std::back_inserter(rules));
  into.rules = std::move(rules);
}

}  // namespace

void Regions::add(const Match& span) {
  Region merged{span.start, span.end, {span.rule}, span};
  const auto first = std::ranges::lower_bound(
      all_, span.start, [](auto end, auto start) { return end <= start; }, &Region::end);
  auto last = first;
  for (; last != all_.end() && last->start < span.end; ++last) merge(merged, *last);
  if (first == last) {
    all_.insert(first, std::move(merged));
  } else {
    *first = std::move(merged);
    all_.erase(first + 1, last);
  }
}

void Regions::append(const Region& next) {
  if (!all_.empty() && next.start < all_.back().end) {
    merge(all_.back(), next);
  } else {
    all_.push_back(next);
  }
}

void Regions::add(const Regions& other) {
  Regions both;
  auto mine = all_.begin();
  auto theirs = other.all_.begin();
  while (mine != all_.end() || theirs != other.all_.end()) {
    const bool take_mine =
        theirs == other.all_.end() || (mine != all_.end() && mine->start <= theirs->start);
    both.append(take_mine ? *mine++ : *theirs++);
  }
  all_ = std::move(both.all_);
}

void Regions::drop_first(std::size_t count) {
  all_.erase(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace sallyport::match
