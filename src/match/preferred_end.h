// Where a match ends that is known to begin at a place: the end that Perl prefers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "match/pattern_set.h"
#include "match/tracker.h"

namespace sallyport::match {

class PreferredEnd {
 public:
  // The set must outlive it.
  PreferredEnd(const PatternSet& set, std::uint32_t rule, std::uint32_t entry);

  // The character before the match, where there is one.
  void pass(char32_t character);
  // A character of the match, or behind it. False: nothing that follows changes the end.
  [[nodiscard]] bool step(const Unit& unit);
  // The text ends.
  void finish();

  // No value: so far there is no match.
  std::optional<std::uint64_t> end() const { return end_; }

 private:
  Move move(std::uint32_t character_class);

  const PatternSet& set_;
  std::uint32_t index_;
  std::shared_ptr<const Automaton> automaton_;
  const State* state_ = nullptr;
  Neighbour before_ = Neighbour::Edge;
  Ends ends_;
  std::optional<std::uint64_t> end_;
};

}  // namespace sallyport::match
