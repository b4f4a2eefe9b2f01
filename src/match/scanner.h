// Runs the rules of a set over one text, a character at a time, and says which matches are certain
// and from where on text may still become part of one. A scanner reads characters with their source
// bytes, so it serves a transformed view of a text as well as the text itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "match/pattern_set.h"
#include "match/tracker.h"

namespace sallyport::match {

class Scanner {
 public:
  // `Whole`: every span of every rule is told, also of redact rules; nothing is left out for its
  // size.
  enum class Reading : std::uint8_t { Stream, Whole };

  // The set must outlive it.
  explicit Scanner(const PatternSet& set, Reading reading = Reading::Stream);

  // Adds the matches that this character made certain. Of a redact rule these are the preferred
  // spans, of others every span (of those with one end, the longest).
  void step(const Unit& unit, std::vector<Match>& certain) {
    const CharClasses& classes = set_.program().classes();
    const std::uint32_t character_class = classes.of(unit.character);
    ends_ = {.now = unit.end, .before = ends_.now, .before_that = ends_.before};
    if (any_.active()) any_.step(character_class, before_, unit.begin, ends_, found_);
    if (preferred_.active()) preferred_.step(character_class, before_, unit.begin, ends_, found_);
    before_ = classes.neighbour(character_class);
    if (!found_.empty() || !waiting_.empty()) sort_out(certain);
  }
  // Steps over characters of one byte as long as they make nothing certain: how many. `begin` is
  // where the last step ended.
  std::size_t skim(std::string_view text, std::uint64_t begin);
  // The text ends: everything open is decided.
  void finish(std::vector<Match>& certain);
  // Another text begins; what was open is forgotten, and muted rules stay muted.
  void reset();
  // Matches of this rule are not wanted any more.
  void mute(std::uint32_t rule) { muted_[rule] = true; }

  // The earliest start of an open match of a block or redact rule.
  std::optional<std::uint64_t> held_from() const;
  // The rule and entry of that match: the first of those that start there.
  std::optional<Match> earliest_held() const;
  // The earliest start of any open match.
  std::optional<std::uint64_t> open_from() const;
  // More is open than can be followed; what was said before still holds.
  bool overflowed() const { return preferred_.overflowed(); }
  // Bytes that this scanner takes, without what all scanners of the set share.
  std::size_t state_bytes() const;

 private:
  struct Cover {
    std::uint32_t rule;
    std::uint64_t start;
    std::uint64_t end;
  };

  // The characters at the beginning of `text` that glide: how many.
  std::size_t glide_any(std::string_view text, std::uint64_t begin);
  std::size_t glide_both(std::string_view text, std::uint64_t begin);
  void sort_out(std::vector<Match>& certain);
  void wait_or_tell(const Span& span, std::vector<Match>& certain);
  void add_cover(const Cover& cover);
  void decide_waiting(std::vector<Match>& certain);
  bool covered(const Match& match) const;
  Match match_of(const Span& span) const;

  const PatternSet& set_;
  Reading reading_;
  AnyTracker any_;
  PreferredTracker preferred_;
  Ends ends_;
  Neighbour before_ = Neighbour::Edge;
  std::vector<bool> muted_;
  std::vector<Span> found_;
  std::vector<Match> waiting_;  // complete, but an exception may still cover them
  std::vector<Cover> covers_;   // matches of exceptions that may cover what is open
};

}  // namespace sallyport::match
