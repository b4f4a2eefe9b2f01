// Finds out whether a check would hit a text before it was redacted. A hole is the unknown word
// that redaction removed; it has the form that its detector finds (WB-38).
//
//   const auto pieces = pieces_of("key [REDACTED:secret]", {{"secret", "aws_access_key_id"}});
//   reach_of(check, *pieces);   // must: every such word hits; not may: none does
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guardrails/document/document.h"

namespace sallyport::guardrails {

struct HoleKind {
  std::string category{};
  std::string detector{};
};

// A known part of a text, or a hole with its possible forms.
struct TextPiece {
  std::string text{};                // the text, or the mark of a hole
  std::vector<std::size_t> forms{};  // forms of a hole; empty: not a hole
};

// No value: the marks in the text do not match these holes, so their forms are unknown.
std::optional<std::vector<TextPiece>> pieces_of(std::string_view text,
                                                const std::vector<HoleKind>& holes);

// The text with a word of the form in each hole: the first word for `which` 0, and another one for
// each number below `words_of(pieces)`. The words in the holes of one text differ.
std::string filled(const std::vector<TextPiece>& pieces, std::size_t which = 0);

// The number of words that represent all words of the forms. They have each kind of character at
// the start, inside and at the end, and the smallest and largest size. 0: a hole may be any text.
std::size_t words_of(const std::vector<TextPiece>& pieces);
// The word that `filled` puts into hole number `place` of a text.
std::string word_in(const TextPiece& hole, std::size_t place, std::size_t which);

struct HoleReach {
  bool may = false;   // some filling of the holes hits
  bool must = false;  // every filling hits
};
// If it is not decided, the result is `may` and not `must`.
HoleReach reach_of(const Check& check, const std::vector<TextPiece>& pieces);

}  // namespace sallyport::guardrails
