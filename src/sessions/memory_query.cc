#include "sessions/memory_query.h"

#include <set>

#include "base/cut_text.h"

namespace sallyport::sessions {

namespace {

// FTS5 reads a text up to its first NUL. Here a NUL ends a word, like a space.
bool is_between_words(char c) {
  return static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
}

// FTS5 ignores a word of punctuation only, because it has no token.
bool has_token(std::string_view word) {
  for (const char c : word) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (is_letter || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80) return true;
  }
  return false;
}

std::string as_phrase(std::string_view word) {
  std::string text = "\"";
  for (const char c : word) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + '"';
}

}  // namespace

std::string memory_query(std::string_view query) {
  std::string expression;
  std::set<std::string> seen;
  std::size_t at = 0;
  while (at < query.size() && seen.size() < kQueryWords) {
    if (is_between_words(query[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < query.size() && !is_between_words(query[end])) ++end;
    const std::string word = cut_utf8_bytes(query.substr(at, end - at), kQueryWordBytes);
    at = end;
    if (!has_token(word) || !seen.insert(word).second) continue;
    if (!expression.empty()) expression += " OR ";
    expression += as_phrase(word);
  }
  return expression;
}

}  // namespace sallyport::sessions
