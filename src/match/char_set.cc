#include "match/char_set.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <map>
#include <utility>

namespace sallyport::match {

namespace {

// No character beyond this one folds to another.
constexpr UChar32 kLastFolding = 0x1FFFF;

// Characters that fold to something else, or that something else folds to: folding -> all of them.
const std::map<char32_t, std::vector<char32_t>>& folding_families() {
  static const auto families = [] {
    std::map<char32_t, std::vector<char32_t>> found;
    for (UChar32 c = 0; c <= kLastFolding; ++c) {
      const UChar32 folded = u_foldCase(c, U_FOLD_CASE_DEFAULT);
      if (folded != c) found[static_cast<char32_t>(folded)].push_back(static_cast<char32_t>(c));
    }
    for (auto& [folded, members] : found) members.push_back(folded);
    return found;
  }();
  return families;
}

}  // namespace

CharSet::CharSet(std::initializer_list<CharRange> ranges) : ranges_(ranges) {
  settle();
}

CharSet::CharSet(std::vector<CharRange> ranges) : ranges_(std::move(ranges)) {
  settle();
}

CharSet CharSet::all() {
  return CharSet{{0, kLastCharacter}};
}

void CharSet::settle() {
  std::ranges::sort(ranges_);
  std::vector<CharRange> merged;
  for (const CharRange& range : ranges_) {
    if (!merged.empty() && range.first <= merged.back().last + 1) {
      merged.back().last = std::max(merged.back().last, range.last);
    } else {
      merged.push_back(range);
    }
  }
  ranges_ = std::move(merged);
}

void CharSet::add(CharRange range) {
  ranges_.push_back(range);
  settle();
}

void CharSet::add(const CharSet& other) {
  ranges_.insert(ranges_.end(), other.ranges_.begin(), other.ranges_.end());
  settle();
}

CharSet CharSet::complement() const {
  CharSet result;
  char32_t next = 0;
  for (const CharRange& range : ranges_) {
    if (range.first > next) result.ranges_.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= kLastCharacter) result.ranges_.push_back({next, kLastCharacter});
  return result;
}

CharSet CharSet::folded() const {
  CharSet result = *this;
  if (ranges_.size() == 1 && ranges_[0].first == ranges_[0].last) {
    const auto folding = u_foldCase(static_cast<UChar32>(ranges_[0].first), U_FOLD_CASE_DEFAULT);
    const auto family = folding_families().find(static_cast<char32_t>(folding));
    if (family == folding_families().end()) return result;
    for (const char32_t member : family->second) result.ranges_.push_back({member, member});
    result.settle();
    return result;
  }
  for (const auto& [folding, members] : folding_families()) {
    if (std::ranges::none_of(members, [&](char32_t c) { return contains(c); })) continue;
    for (const char32_t member : members) result.ranges_.push_back({member, member});
  }
  result.settle();
  return result;
}

bool CharSet::contains(char32_t character) const {
  const auto after = std::ranges::upper_bound(ranges_, character, {}, &CharRange::first);
  return after != ranges_.begin() && std::prev(after)->last >= character;
}

bool CharSet::intersects(const CharSet& other) const {
  auto a = ranges_.begin();
  auto b = other.ranges_.begin();
  while (a != ranges_.end() && b != other.ranges_.end()) {
    if (a->last < b->first) {
      ++a;
    } else if (b->last < a->first) {
      ++b;
    } else {
      return true;
    }
  }
  return false;
}

}  // namespace sallyport::match
