// A text for people as pieces, so that a page can mark what a terminal shows by escapes alone
// (CO-29). The pieces joined are the text, byte for byte.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sallyport/json.h"

namespace sallyport::app {

struct TextPiece {
  std::string text;
  std::string_view mark{};  // hidden, lookalike, masked, truncated; empty: plain

  bool operator==(const TextPiece&) const = default;
};

// Escapes, marks of redaction and notes of left-out bytes, as the rendering of a question writes
// them.
std::vector<TextPiece> marked_pieces(std::string_view text);
json::array marked_json(std::string_view text);

}  // namespace sallyport::app
