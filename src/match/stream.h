// Checks one text stream: what may be released now, what is redacted, and what was found. One
// caller at a time owns it.
//
//   Stream stream(set, {.most_held = 65536, .replacements = {"[redacted]"}});
//   Output first = *stream.push("key is AKIAIOSF");   // first.text() == "key is "
//   Output next = *stream.push("ODNN7EXAMPLE ok");    // next.block->start == 7
//
// HOW IT WORKS. One automaton reads each character once. It knows the start of the earliest match
// that is still possible (tracker.h). The held text begins exactly there, for block and redact
// rules. Starts with the same future are one group, so the work for a character is the number of
// groups, mostly none to three, independent of the text before. A place in a pattern from which no
// match is possible with the given neighbours is never entered (program.h), so nothing waits for
// it. `$`, \b and the like are places that wait for the next character like any other.
//
// WHAT IT PROMISES. The result does not depend on how the text is cut; pushing one character at a
// time is the reference. Not one byte of a blocked or redacted match leaves. A byte waits only
// while some continuation would make it part of a match. tests/unit/match/stream_property_test.cc
// shows this against an independent matcher and against PCRE2. Matches of a
// group end at the same places, so the one that starts earliest covers the others. An exception
// that covers it covers all of them.
//
// LIMITS. If more than `most_held` bytes are held, the stream blocks (`Why::HoldLimit`), at the
// same character for every cutting. A block or log rule costs at most one step per pattern node and
// character (groups are pruned), a redact rule at most one per held start; more than 4,096 starts
// with different futures block (`Why::Overflow`). If a rule has exceptions, text waits until they
// are decided, even if every possible outcome would be covered. A redact entry with two ways to the
// same end, one of which looks ahead (`a\b|a`), waits for that character. Each maximal ill-formed
// part of UTF-8 becomes one U+FFFD, in the search and in the output; offsets count source bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/one_or_more.h"
#include "match/other_readings.h"
#include "match/pattern_set.h"
#include "match/regions.h"
#include "match/scanner.h"
#include "match/utf8.h"
#include "sallyport/result.h"

namespace sallyport::match {

struct StreamOptions {
  std::uint64_t most_held = 65536;
  // The replacement of a redacted region, by rule. The last one applies to all later rules.
  std::vector<std::string> replacements = {"[redacted]"};
};

// Decided source bytes [start, end): text to pass on, or a region with its replacement.
struct Piece {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::string text;
  std::vector<std::uint32_t> rules =
      {};  // empty for plain text; else all with a span in it, sorted

  bool operator==(const Piece&) const = default;
};

struct Hit {
  enum class Why : std::uint8_t { Match, HoldLimit, Overflow, Truncated };

  Why why = Why::Match;
  std::uint32_t rule = 0;
  std::uint32_t entry = 0;  // or `kNoEntry`
  std::uint32_t reading = 0;
  std::optional<std::uint64_t> start;  // no value: a log match longer than `most_held`
  std::uint64_t end = 0;
  std::uint64_t at = 0;  // end of the character that decided, in bytes
  std::string matched;   // at most 200 bytes of whole characters

  bool operator==(const Hit&) const = default;
};

struct Output {
  OneOrMore<Piece> pieces;   // in source order, without gaps
  std::vector<Hit> logs;     // as they became certain
  std::optional<Hit> block;  // nothing follows it

  // The text that the client sees.
  std::string text() const;
};

class Stream {
 public:
  // The rules of `others` are those of the set.
  explicit Stream(std::shared_ptr<const PatternSet> set, StreamOptions options = {},
                  std::unique_ptr<OtherReadings> others = nullptr);

  // Returns nothing after a block, and `Conflict` after `finish`.
  Result<Output> push(std::string_view delta);
  Result<Output> finish();

  std::uint64_t bytes_in() const { return pushed_; }  // up to a block
  std::uint64_t released() const { return out_; }     // source bytes that were released or redacted
  std::uint64_t held() const { return blocked_ ? 0 : bytes_in() - out_; }
  std::uint64_t invalid_utf8() const { return invalid_; }
  const OtherReadings* others() const { return others_.get(); }
  std::size_t state_bytes() const;

 private:
  bool skim(Output& output);
  void take(const Decoded& next, Output& output);
  void keep_limits(Output& output);
  void decide(Output& output);
  void log(OtherMatch& match, Output& output);
  void block(OtherMatch match, Hit::Why why, Output& output);
  void block_for_limit(Hit::Why why, std::uint64_t from, Output& output);
  std::optional<std::uint64_t> held_from() const;
  bool overflowed() const;
  std::uint64_t may_leave() const;
  void release(std::uint64_t until, Output& output);
  void pass_on(std::uint64_t until, Output& output);
  void forget();
  std::string_view untaken() const { return std::string_view(kept_).substr(taken_ - kept_from_); }
  std::string_view source(std::uint64_t start, std::uint64_t end) const;
  std::string excerpt(std::uint64_t start, std::uint64_t end) const;

  std::shared_ptr<const PatternSet> set_;
  StreamOptions options_;
  Scanner scanner_;
  std::unique_ptr<OtherReadings> others_;
  std::string kept_;             // source bytes from `kept_from_` on
  std::uint64_t kept_from_ = 0;  // at most `out_`; less if a log match is open
  std::uint64_t out_ = 0;
  std::uint64_t pushed_ = 0;
  std::uint64_t taken_ = 0;  // bytes of whole characters
  std::vector<Match> certain_;
  std::vector<OtherMatch> certain_elsewhere_;
  std::vector<bool> logged_;
  Regions regions_;  // certain, not yet closed
  std::uint64_t invalid_ = 0;
  bool blocked_ = false;
  bool finished_ = false;
};

}  // namespace sallyport::match
