// Searches a complete text. One pass finds the start of the match of each rule; the few reported
// matches are read again to find the end that Perl prefers.
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "match/pattern_set.h"
#include "match/preferred_end.h"
#include "match/scanner.h"
#include "match/utf8.h"

namespace sallyport::match {

namespace {

// Keeps the better match of a rule: first by entry, then by leftmost start.
void keep_better(std::map<std::uint32_t, Match>& best, const Match& match) {
  const auto [known, fresh] = best.try_emplace(match.rule, match);
  if (fresh) return;
  Match& kept = known->second;
  if (std::tie(match.entry, match.start) < std::tie(kept.entry, kept.start)) kept = match;
}

}  // namespace

std::vector<Match> PatternSet::find(std::string_view text) const {
  Scanner scanner(*this, Scanner::Reading::Whole);
  std::map<std::uint32_t, Match> best;
  std::vector<Match> certain;
  const auto settle = [&] {
    for (const Match& match : certain) keep_better(best, match);
    certain.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const Decoded next = decode_first(text.substr(at));
    scanner.step({next.character, at, at + next.size}, certain);
    if (!certain.empty()) settle();
    at += next.size;
  }
  scanner.finish(certain);
  settle();
  std::vector<Match> found;
  for (auto& [rule, match] : best) {
    match.end = preferred_end(*this, text, match);
    found.push_back(match);
  }
  return found;
}

std::shared_ptr<const Automaton> PatternSet::preferring(std::uint32_t index) const {
  return single_.with([&](auto& single) {
    auto& machine = single[index];
    if (!machine) {
      machine =
          std::make_unique<Machine>(program_, roles_, std::vector{index}, Order::Preferred, room_);
    }
    return machine->automaton();
  });
}

// The first pass found a match with this start, so there is an end.
std::uint64_t preferred_end(const PatternSet& set, std::string_view text, const Match& match) {
  PreferredEnd end(set, match.rule, match.entry);
  if (const auto before = character_before(text, match.start)) end.pass(*before);
  std::size_t at = match.start;
  while (at < text.size()) {
    const Decoded next = decode_first(text.substr(at));
    if (!end.step({next.character, at, at + next.size})) return end.end().value_or(match.end);
    at += next.size;
  }
  end.finish();
  return end.end().value_or(match.end);
}

}  // namespace sallyport::match
