#include "match/char_classes.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace sallyport::match {

namespace {

const std::array<CharSet, kNeighbours>& neighbour_sets() {
  static const auto sets = [] {
    const CharSet newline{{'\n', '\n'}};
    const CharSet word = word_characters(Alphabet::Ascii);
    CharSet not_part = word_parts().complement();
    not_part.add(word);
    CharSet named = word_parts();
    named.add(newline);
    return std::array{CharSet{}, newline, word, not_part.complement(), named.complement()};
  }();
  return sets;
}

struct Toggle {
  char32_t at;
  std::uint32_t set;
};

// A set is identified by a number, and a collection of sets by the xor of their numbers.
std::uint64_t mark_of(std::uint64_t set, std::uint64_t salt) {
  std::uint64_t x = (set + 1) * 0x9E3779B97F4A7C15u + salt;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

std::vector<Toggle> toggles_of(const std::vector<CharSet>& sets) {
  std::vector<Toggle> toggles;
  for (std::uint32_t set = 0; set < sets.size(); ++set) {
    for (const CharRange& range : sets[set].ranges()) {
      toggles.push_back({range.first, set});
      if (range.last < kLastCharacter) toggles.push_back({range.last + 1, set});
    }
  }
  std::ranges::sort(toggles, {}, &Toggle::at);
  return toggles;
}

}  // namespace

unsigned CharClasses::neighbours_in(const CharSet& set) {
  unsigned mask = 0;
  for (unsigned kind = 1; kind < kNeighbours; ++kind) {
    if (set.intersects(neighbour_sets()[kind])) mask |= 1u << kind;
  }
  return mask;
}

CharClasses::CharClasses(const std::vector<CharSet>& given, bool whole_words) {
  std::vector<CharSet> sets = given;
  sets.insert(sets.end(), neighbour_sets().begin(), neighbour_sets().end());
  if (!whole_words) {
    sets[given.size() + static_cast<std::size_t>(Neighbour::WordPart)] = {};
    sets[given.size() + static_cast<std::size_t>(Neighbour::Other)] = CharSet::all();
  }
  set_count_ = sets.size();
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> known;
  std::pair<std::uint64_t, std::uint64_t> mark;
  std::vector<bool> active(sets.size());
  near_.resize(kNear);
  const std::vector<Toggle> toggles = toggles_of(sets);
  for (std::size_t i = 0; i < toggles.size();) {
    const char32_t begin = toggles[i].at;
    for (; i < toggles.size() && toggles[i].at == begin; ++i) {
      const std::uint32_t set = toggles[i].set;
      active[set] = !active[set];
      mark.first ^= mark_of(set, 1);
      mark.second ^= mark_of(set, 2);
    }
    const auto [place, fresh] = known.try_emplace(mark, 0);
    if (fresh) place->second = add_class(active);
    const char32_t end = i < toggles.size() ? toggles[i].at : kLastCharacter + 1;
    for (char32_t c = begin; c < std::min(end, kNear); ++c) near_[c] = place->second;
    if (end > kNear) far_.push_back({std::max(begin, kNear), char32_t{place->second}});
  }
}

std::uint32_t CharClasses::add_class(const std::vector<bool>& active) {
  const auto index = static_cast<std::uint32_t>(neighbours_.size());
  bits_.resize((std::size_t{index + 1} * set_count_ + 63) / 64);
  for (std::size_t set = 0; set < set_count_; ++set) {
    const std::size_t bit = std::size_t{index} * set_count_ + set;
    if (active[set]) bits_[bit / 64] |= std::uint64_t{1} << (bit % 64);
  }
  const std::size_t first = set_count_ - kNeighbours;
  unsigned kind = 1;
  while (kind + 1 < kNeighbours && !active[first + kind]) ++kind;
  neighbours_.push_back(static_cast<Neighbour>(kind));
  return index;
}

std::uint32_t CharClasses::of_far(char32_t character) const {
  const auto after = std::ranges::upper_bound(far_, character, {}, &CharRange::first);
  return static_cast<std::uint32_t>(std::prev(after)->last);
}

}  // namespace sallyport::match
