#include "base/json_cursor.h"

#include <boost/json.hpp>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/encoding.h"
#include "sallyport/json.h"

namespace sallyport {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The index of the first quote, backslash or control character in eight bytes; 8: none.
std::size_t next_special(const char* from) {
  constexpr std::uint64_t kOnes = 0x0101010101010101u;
  constexpr std::uint64_t kHigh = 0x8080808080808080u;
  std::uint64_t bytes;
  std::memcpy(&bytes, from, sizeof bytes);
  const auto zeros = [](std::uint64_t x) { return (x - kOnes) & ~x & kHigh; };
  const std::uint64_t control = (bytes - kOnes * 0x20) & ~bytes & kHigh;
  const std::uint64_t found =
      control | zeros(bytes ^ (kOnes * '"')) | zeros(bytes ^ (kOnes * '\\'));
  // A borrow can mark a byte after a found one, but never before it.
  return found == 0 ? 8 : static_cast<std::size_t>(__builtin_ctzll(found)) / 8;
}

}  // namespace

bool JsonCursor::take_literal() {
  for (const std::string_view word : {"true", "false", "null"}) {
    if (text_.compare(at_, word.size(), word) != 0) continue;
    at_ += word.size();
    return true;
  }
  return false;
}

std::string_view JsonCursor::take_string() {
  const std::size_t begin = at_;
  if (!take('"')) return {};
  while (at_ < text_.size()) {
    while (at_ + 8 <= text_.size()) {
      const std::size_t plain = next_special(text_.data() + at_);
      at_ += plain;
      if (plain < 8) break;
    }
    if (at_ == text_.size()) break;
    const char c = text_[at_++];
    if (c == '"') return text_.substr(begin, at_ - begin);
    if (static_cast<unsigned char>(c) < 0x20) return {};
    if (c != '\\') continue;
    if (take('u')) {
      if (text_.size() - at_ >= 2 && (text_[at_] | 0x20) == 'd' && text_[at_ + 1] >= '8') return {};
      for (int i = 0; i < 4; ++i) {
        if (hex_digit(peek()) < 0) return {};
        ++at_;
      }
    } else if (std::string_view("\"\\/bfnrt").find(peek()) == std::string_view::npos || at_end()) {
      return {};
    } else {
      ++at_;
    }
  }
  return {};
}

bool JsonCursor::skip_digits() {
  const std::size_t begin = at_;
  while (is_digit(peek())) ++at_;
  return at_ > begin;
}

std::string_view JsonCursor::take_number() {
  const std::size_t begin = at_;
  take('-');
  if (!take('0') && !skip_digits()) return {};
  if (take('.') && !skip_digits()) return {};
  if (peek() == 'e' || peek() == 'E') {
    ++at_;
    if (peek() == '+' || peek() == '-') ++at_;
    if (!skip_digits()) return {};
  }
  return text_.substr(begin, at_ - begin);
}

std::string_view JsonCursor::take_value(std::size_t depth, bool* exact) {
  const std::size_t begin = at_;
  return skip_value(depth, exact) ? text_.substr(begin, at_ - begin) : std::string_view();
}

bool JsonCursor::skip_value(std::size_t depth, bool* exact) {
  switch (peek()) {
    case '{':
      return skip_object(depth, exact);
    case '[':
      return skip_array(depth, exact);
    case '"':
      return !take_string().empty();
    case 't':
    case 'f':
    case 'n':
      return take_literal();
    default: {
      const std::string_view number = take_number();
      if (exact != nullptr && !number.empty()) *exact = *exact && is_exact_number(number);
      return !number.empty();
    }
  }
}

bool JsonCursor::skip_object(std::size_t depth, bool* exact) {
  if (depth == 0) return false;
  take('{');
  if (take('}')) return true;
  do {
    if (take_string().empty() || !take(':') || !skip_value(depth - 1, exact)) return false;
  } while (take(','));
  return take('}');
}

bool JsonCursor::skip_array(std::size_t depth, bool* exact) {
  if (depth == 0) return false;
  take('[');
  if (take(']')) return true;
  do {
    if (!skip_value(depth - 1, exact)) return false;
  } while (take(','));
  return take(']');
}

std::vector<MemberText> members_in(std::string_view object) {
  constexpr std::size_t kDeepest = 128;
  std::vector<MemberText> members;
  JsonCursor cursor(object);
  if (!cursor.take('{') || cursor.take('}')) return {};
  do {
    const std::string_view name = cursor.take_string();
    if (name.empty() || !cursor.take(':')) return {};
    const std::string_view text = cursor.take_value(kDeepest);
    if (text.empty()) return {};
    members.push_back({name.substr(1, name.size() - 2), text});
  } while (cursor.take(','));
  if (!cursor.take('}') || !cursor.at_end()) return {};
  return members;
}

bool is_exact_number(std::string_view number) {
  constexpr std::size_t kSurely = 15;
  if (number.size() <= kSurely && number.find_first_of("eE") == std::string_view::npos) return true;
  double value = 0;
  const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), value);
  // A number too small for a double is nearly zero; one too large is not exact.
  if (code == std::errc::result_out_of_range) return number.contains("e-") || number.contains("E-");
  return code == std::errc() && std::abs(value) <= 9007199254740991.0;
}

std::string_view string_in(std::string_view written, std::string& scratch) {
  const std::string_view inside = written.substr(1, written.size() - 2);
  if (inside.find('\\') == std::string_view::npos) return inside;
  const Result<ParsedJson> parsed = parse_json(written, {.bytes = written.size(), .depth = 1});
  scratch = parsed ? std::string(parsed->value.get_string()) : std::string();
  return scratch;
}

bool names_in_order(std::string_view before, std::string_view name) {
  // Most names differ in their first letter.
  const auto is_letter = [](char c) { return c >= '_' && c <= 'z'; };
  if (before[1] != name[1] && is_letter(before[1]) && is_letter(name[1])) {
    return before[1] < name[1];
  }
  std::string scratch[2];
  return canonical_less(string_in(before, scratch[0]), string_in(name, scratch[1]));
}

}  // namespace sallyport
