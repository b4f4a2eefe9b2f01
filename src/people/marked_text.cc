#include "people/marked_text.h"

#include <algorithm>
#include <boost/json.hpp>

namespace sallyport::app {

namespace {

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F');
}

// `\u{202E}` and `\x{FF}`; 0: none stands here.
std::size_t escape_at(std::string_view text) {
  if (!text.starts_with("\\u{") && !text.starts_with("\\x{")) return 0;
  std::size_t end = 3;
  while (end < text.size() && is_hex(text[end])) ++end;
  return end > 3 && end < text.size() && text[end] == '}' ? end + 1 : 0;
}

// Marks are short. A search to the end of the text at each place would take quadratic time.
std::size_t between(std::string_view text, std::string_view begin, std::string_view end) {
  constexpr std::size_t kLongestMark = 256;
  if (!text.starts_with(begin)) return 0;
  text = text.substr(0, kLongestMark);
  const std::size_t at = text.find(end);
  return at == std::string_view::npos || at > text.find('\n') ? 0 : at + end.size();
}

}  // namespace

std::vector<TextPiece> marked_pieces(std::string_view text) {
  std::vector<TextPiece> pieces;
  std::string plain;
  const auto put = [&](std::string_view piece, std::string_view mark) {
    if (!plain.empty()) pieces.push_back({std::exchange(plain, {}), {}});
    pieces.push_back({std::string(piece), mark});
  };
  while (!text.empty()) {
    std::size_t size = escape_at(text);
    std::string_view mark = "hidden";
    if (size != 0) {
      // The number behind a character that is there and looks like another.
      const bool behind = !plain.empty() && static_cast<unsigned char>(plain.back()) >= 0x80;
      if (behind) mark = "lookalike";
    } else if ((size = between(text, "[REDACTED:", "]")) != 0) {
      mark = "masked";
    } else if ((size = between(text, "[... ", " ...]")) != 0) {
      mark = "truncated";
    }
    if (size != 0) {
      put(text.substr(0, size), mark);
      text.remove_prefix(size);
      continue;
    }
    plain += text.front();
    text.remove_prefix(1);
  }
  if (!plain.empty()) pieces.push_back({plain, {}});
  return pieces;
}

json::array marked_json(std::string_view text) {
  json::array all;
  for (const TextPiece& piece : marked_pieces(text)) {
    json::object one{{"text", piece.text}};
    if (!piece.mark.empty()) one["mark"] = piece.mark;
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace sallyport::app
