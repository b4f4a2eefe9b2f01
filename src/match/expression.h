// One pattern or word, and the tree into which it is parsed.
//
// The dialect is the part of PCRE2 that a finite automaton can decide: no look-around, no
// back-references, no atomic groups, and no match without a character. PCRE2 itself checks that a
// pattern is well-formed; this reader then refuses what is not in the dialect.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "match/char_set.h"
#include "sallyport/result.h"

namespace sallyport::match {

struct Expression {
  enum class Kind : std::uint8_t { Pattern, Word };

  Kind kind = Kind::Pattern;
  std::string text;
  // For a pattern: Unicode or ASCII classes. No value: ASCII if it asserts \b or \B.
  std::optional<bool> unicode = std::nullopt;
  // For a word.
  bool caseless = false;
  bool whole_word = false;
};

enum class Assertion : std::uint8_t {
  TextStart,      // \A, ^
  LineStart,      // ^ with (?m)
  TextEnd,        // \z
  FinalEnd,       // $, \Z: the end, or before a newline that is the end
  LineEnd,        // $ with (?m)
  WordEdge,       // \b
  NoWordEdge,     // \B
  NotAfterWord,   // a whole word begins here
  NotBeforeWord,  // a whole word ends here
};

struct Tree {
  enum class Kind : std::uint8_t { Empty, Characters, Sequence, Choice, Repeat, Assert };
  static constexpr unsigned kNoLimit = std::numeric_limits<unsigned>::max();

  static Tree of(CharSet set) { return {.kind = Kind::Characters, .characters = std::move(set)}; }
  static Tree of(Assertion which) { return {.kind = Kind::Assert, .assertion = which}; }
  bool can_be_empty() const;

  Kind kind = Kind::Empty;
  CharSet characters = {};
  std::vector<Tree> parts = {};
  unsigned least = 0;
  unsigned most = 0;
  bool greedy = true;
  Assertion assertion = Assertion::TextStart;
};

struct Parsed {
  Tree tree;
  bool asserts_word_edge = false;
  bool ascii_classes = false;
  // UTF-8 bytes of the longest match; no value: there is no bound.
  std::optional<std::uint64_t> longest;
};

// `InvalidInput`, with the reason in `cause`: `syntax`, `look_around`, `back_reference`, `atomic`,
// `unsupported`, `empty_match`, `unicode_boundary` or `too_large`; the message has the byte offset.
Result<Parsed> parse(const Expression& expression);

}  // namespace sallyport::match
