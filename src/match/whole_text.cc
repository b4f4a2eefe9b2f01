// Searching a text that is there at once: one pass tells where each rule's match begins, and the
// few that are reported are then read again for the end that Perl prefers.
#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "match/pattern_set.h"
#include "match/scanner.h"
#include "match/utf8.h"

namespace sallyport::match {

namespace {

// Of one rule: the first entry counts, then the leftmost start.
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
    match.end = preferred_end(text, match);
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

// The pass has shown that a match begins there, so one is found.
std::uint64_t PatternSet::preferred_end(std::string_view text, const Match& match) const {
  const std::uint32_t index = index_of(match.rule, match.entry);
  auto automaton = preferring(index);
  const State* state = nullptr;
  Neighbour before = Neighbour::Edge;
  Ends ends;
  std::uint64_t end = match.end;
  for (std::size_t at = 0; at < text.size();) {
    const Decoded next = decode_first(text.substr(at));
    const std::uint32_t character_class = program_.classes().of(next.character);
    ends = {.now = at + next.size, .before = ends.now, .before_that = ends.before};
    if (at == match.start) state = automaton->initial(before);
    if (state != nullptr) {
      Move move = automaton->step(state, character_class);
      if (move.to == nullptr) {
        const auto fresh = std::make_shared<const Automaton>(
            program_, roles_, std::vector<std::uint32_t>{index}, Order::Preferred, room_);
        move = fresh->step(fresh->adopt(state), character_class, true);
        automaton = fresh;
      }
      for (const Accepted& accepted : move.accepted) end = end_of(accepted, ends);
      state = move.to;
      if (state->waiting.empty()) return end;
    }
    before = program_.classes().neighbour(character_class);
    at += next.size;
  }
  for (const Accepted& accepted : automaton->finish(state)) end = end_of(accepted, behind(ends));
  return end;
}

}  // namespace sallyport::match
