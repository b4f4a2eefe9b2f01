// Would a check hit a text from which redaction took something? A hole is an unknown word of the
// form that its detector finds (WB-38).
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

// What stands in a text, or which forms what stood there may have.
struct TextPiece {
  std::string text{};                // of a hole: its mark
  std::vector<std::size_t> forms{};  // empty: the text itself
};

// No value: the marks in the text are not these holes, so what was there cannot be told.
std::optional<std::vector<TextPiece>> pieces_of(std::string_view text,
                                                const std::vector<HoleKind>& holes);

// The text with a word of the form in each hole: the first for `which` 0, and another one for each
// number below `words_of(pieces)`. Words in holes of one text differ.
std::string filled(const std::vector<TextPiece>& pieces, std::size_t which = 0);

// How many words of the forms stand for all of them: they have each kind of character at the start,
// inside and at the end, and the smallest and the largest size. 0: a hole may be any text.
std::size_t words_of(const std::vector<TextPiece>& pieces);
// The word that `filled` puts into the hole that is the `place`th of its text.
std::string word_in(const TextPiece& hole, std::size_t place, std::size_t which);

struct HoleReach {
  bool may = false;   // some filling of the holes hits
  bool must = false;  // every filling hits
};
// Errs to the side that is not decided: `may` and not `must`.
HoleReach reach_of(const Check& check, const std::vector<TextPiece>& pieces);

// A pattern that all finds of the detector match as a whole; no value: they may be any text.
std::optional<std::string> form_pattern(std::string_view detector);

}  // namespace sallyport::guardrails
