// Runs the rules of a set over one text, one character at a time. Reports certain matches and the
// first place that may still become part of a match. Characters come with their source bytes, so a
// scanner can read a transformed view of a text as well as the text itself.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "match/pattern_set.h"
#include "match/tracker.h"
#include "match/undecided.h"

namespace sallyport::match {

class Scanner {
 public:
  // `Whole`: reports every span of every rule, also of redact rules, and leaves out nothing for its
  // size.
  enum class Reading : std::uint8_t { Stream, Whole };

  // The set must outlive it.
  explicit Scanner(const PatternSet& set, Reading reading = Reading::Stream);

  // Adds the matches that this character made certain: for a redact rule the preferred spans, for
  // others every span (the longest of those with the same end).
  void step(const Unit& unit, std::vector<Match>& certain) {
    const CharClasses& classes = set_.program().classes();
    const std::uint32_t character_class = classes.of(unit.character);
    ends_ = {.now = unit.end, .before = ends_.now, .before_that = ends_.before};
    if (any_.active()) any_.step(character_class, before_, unit.begin, ends_, found_);
    if (preferred_.active()) preferred_.step(character_class, before_, unit.begin, ends_, found_);
    before_ = classes.neighbour(character_class);
    if (!found_.empty() || waits_) sort_out(certain);
  }
  // Steps over characters of one byte while they make nothing certain, and returns how many.
  // `begin` is the end of the last step.
  std::size_t skim(std::string_view text, std::uint64_t begin);
  // The text ends. Decides everything that is open.
  void finish(std::vector<Match>& certain);
  // Starts another text. Open matches are forgotten, and muted rules stay muted.
  void reset();
  // Stops reporting matches of this rule.
  void mute(std::uint32_t rule) {
    muted_[rule] = true;
    undecided_.erase(rule);
  }

  // The earliest start of an open match of a block or redact rule.
  std::optional<std::uint64_t> held_from() const;
  // The rule and entry of that match, the first of those that start there.
  std::optional<Match> earliest_held() const;
  // The earliest start of any open match.
  std::optional<std::uint64_t> open_from() const;
  // True if more matches are open than can be tracked. Earlier reports remain valid.
  bool overflowed() const { return preferred_.overflowed(); }
  // Memory of this scanner, without what all scanners of the set share.
  std::size_t state_bytes() const;

 private:
  // The number of characters at the start of `text` that glide.
  std::size_t glide_any(std::string_view text, std::uint64_t begin);
  std::size_t glide_both(std::string_view text, std::uint64_t begin);
  void sort_out(std::vector<Match>& certain);
  void decide(std::vector<Match>& certain);
  bool reports_every_span(std::uint32_t rule) const;
  Match match_of(const Span& span) const;

  const PatternSet& set_;
  Reading reading_;
  AnyTracker any_;
  PreferredTracker preferred_;
  Ends ends_;
  Neighbour before_ = Neighbour::Edge;
  std::vector<bool> muted_;
  std::vector<Span> found_;
  std::map<std::uint32_t, Undecided> undecided_;  // by rule, as long as there is anything
  bool waits_ = false;                            // matches wait for an exception
};

}  // namespace sallyport::match
