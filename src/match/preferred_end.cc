#include "match/preferred_end.h"

#include <utility>
#include <vector>

namespace sallyport::match {

PreferredEnd::PreferredEnd(const PatternSet& set, std::uint32_t rule, std::uint32_t entry)
    : set_(set), index_(set.index_of(rule, entry)), automaton_(set.preferring(index_)) {}

void PreferredEnd::pass(char32_t character) {
  const CharClasses& classes = set_.program().classes();
  before_ = classes.neighbour(classes.of(character));
}

Move PreferredEnd::move(std::uint32_t character_class) {
  const Move move = automaton_->step(state_, character_class);
  if (move.to != nullptr) return move;
  const auto full = std::exchange(
      automaton_, std::make_shared<const Automaton>(set_.program(), set_.roles(),
                                                    std::vector<std::uint32_t>{index_},
                                                    Order::Preferred, set_.room()));
  return automaton_->step(automaton_->adopt(state_), character_class, true);
}

bool PreferredEnd::step(const Unit& unit) {
  if (state_ == nullptr) state_ = automaton_->initial(before_);
  ends_ = {.now = unit.end, .before = ends_.now, .before_that = ends_.before};
  const Move next = move(set_.program().classes().of(unit.character));
  for (const Accepted& accepted : next.accepted) end_ = end_of(accepted, ends_);
  state_ = next.to;
  return !state_->waiting.empty();
}

void PreferredEnd::finish() {
  if (state_ == nullptr) return;
  for (const Accepted& accepted : automaton_->finish(state_)) {
    end_ = end_of(accepted, behind(ends_));
  }
}

}  // namespace sallyport::match
