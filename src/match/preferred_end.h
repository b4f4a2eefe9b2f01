// Finds the end that Perl prefers for a match with a known start.
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

  // Takes the character before the match, if there is one.
  void pass(char32_t character);
  // Takes a character of the match or after it. False: later characters cannot change the end.
  [[nodiscard]] bool step(const Unit& unit);
  // The text ends.
  void finish();

  // No value: there is no match so far.
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
