#include "guards/detect/key_lines.h"

#include <algorithm>

#include "guards/detect/char_class.h"

namespace sallyport::guards {

namespace {

// Behind an escaped line end or tab at `at` (`\n`, `\\n`), or `at` itself.
std::size_t skip_escape(std::string_view text, std::size_t at) {
  std::size_t letter = at;
  while (letter < text.size() && text[letter] == '\\') ++letter;
  if (letter == at || letter == text.size()) return letter;
  const char c = text[letter];
  if (is(c, kLineEnd | kQuote)) return letter;
  return c == 'n' || c == 'r' || c == 't' ? letter + 1 : at;
}

// Behind an arrow or a sign of a frame at `at`, such as `→` and `│`, or `at` itself.
std::size_t skip_frame(std::string_view text, std::size_t at) {
  const std::string_view sign = text.substr(at, 3);
  const bool framed = sign.starts_with("\xe2\x94") || sign.starts_with("\xe2\x95");
  return sign.size() == 3 && (framed || sign == "\xe2\x86\x92") ? at + 3 : at;
}

// Behind all line ends at `at`, also escaped ones, or `at` itself.
std::size_t skip_line_ends(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const std::size_t behind = is(text[at], kLineEnd) ? at + 1 : skip_escape(text, at);
    if (behind == at || text[behind - 1] == 't') break;
    at = behind;
  }
  return at;
}

bool begins_line(std::string_view text, std::size_t at) {
  if (at == 0 || is(text[at - 1], kLineEnd)) return true;
  return at > 1 && text[at - 2] == '\\' && (text[at - 1] == 'n' || text[at - 1] == 'r');
}

// Behind the name of a file with its colon at `at`, or `at` itself. Context lines of grep have
// dashes in the place of colons.
std::size_t skip_file_name(std::string_view text, std::size_t at) {
  const std::size_t end = run_end(text, at, kWord | kDash | kDot | kSlash | kTilde);
  if (end > at && is_at(text, end, kColon)) return end + 1;
  const bool numbered = end > at + 2 && text[end - 1] == '-' && is(text[end - 2], kDigit);
  return numbered ? end : at;
}

// True if no command can be hidden in such a text.
bool is_prefix(std::string_view text) {
  constexpr std::string_view kMarks = ":#/|>+-*";
  std::size_t at = skip_file_name(text, run_end(text, 0, kBlank));
  while (at < text.size()) {
    std::size_t behind = skip_frame(text, at);
    const bool plain = is(text[at], kBlank | kDigit) || kMarks.contains(text[at]);
    if (plain) behind = at + 1;
    if (text.substr(at).starts_with("\\t")) behind = at + 2;
    if (behind == at) return false;
    at = behind;
  }
  return true;
}

bool is_separator(char c) {
  return c == ':' || c == '-';
}

}  // namespace

std::size_t skip_between(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const char c = text[at];
    const bool alone = c == '+' && !is_at(text, at + 1, kBase64);  // joins two texts
    if (is(c, kBlank | kLineEnd | kQuote) || c == ',' || c == '>' || c == '|' || alone) {
      ++at;
      continue;
    }
    const std::size_t behind = skip_escape(text, at);
    if (behind == at) break;
    at = behind;
  }
  return at;
}

std::string_view line_prefix(std::string_view text, std::size_t dashes) {
  constexpr std::size_t kLongest = 200;
  constexpr std::size_t kDashes = 5;
  std::size_t begin = dashes;
  while (!begins_line(text, begin)) {
    if (dashes - begin == kLongest) return {};
    --begin;
  }
  // A dash before every line stands before the five of the BEGIN line.
  const std::size_t run = run_end(text, dashes, kDash) - dashes;
  const std::size_t end = dashes + (run > kDashes ? run - kDashes : 0);
  const std::string_view prefix = text.substr(begin, end - begin);
  return is_prefix(prefix) ? prefix : std::string_view();
}

std::size_t KeyLines::skip(std::size_t at) const {
  if (prefix_.empty()) return skip_between(text_, at);
  while (true) {
    const std::size_t line = next_line(at);
    const auto content = line == at ? std::nullopt : behind_prefix(line);
    if (!content) return at;
    at = *content;
    if (skip_line_ends(text_, at) == at) return at;
  }
}

// Behind the rest of the line at `at`, which may hold the right side of a frame and what ends a
// text in program code. `at` itself: it holds something else.
std::size_t KeyLines::next_line(std::size_t at) const {
  std::size_t rest = at;
  while (rest < text_.size()) {
    const std::size_t line = skip_line_ends(text_, rest);
    if (line > rest) return line;
    std::size_t behind = skip_frame(text_, rest);
    if (is(text_[rest], kBlank | kQuote) || text_[rest] == '|' || text_[rest] == ',') {
      behind = rest + 1;
    }
    if (behind == rest) break;
    rest = behind;
  }
  return at;
}

std::optional<std::size_t> KeyLines::behind_prefix(std::size_t at) const {
  for (std::size_t i = 0; i < prefix_.size();) {
    if (is(prefix_[i], kDigit)) {
      if (!is_at(text_, at, kDigit)) return std::nullopt;
      i = run_end(prefix_, i, kDigit);
      at = run_end(text_, at, kDigit);
    } else if (is(prefix_[i], kBlank)) {
      i = run_end(prefix_, i, kBlank);
      at = run_end(text_, at, kBlank);
    } else {
      const bool same =
          at < text_.size() &&
          (text_[at] == prefix_[i] || (is_separator(text_[at]) && is_separator(prefix_[i])));
      if (!same) return std::nullopt;
      ++i;
      ++at;
    }
  }
  return at;
}

}  // namespace sallyport::guards
