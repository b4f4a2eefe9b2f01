#include "match/escape_reader.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "match/utf8.h"

namespace sallyport::match {

namespace {

int digit_value(char32_t c) {
  if (c >= '0' && c <= '9') return static_cast<int>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<int>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<int>(c - 'A') + 10;
  return 99;
}

char32_t read_number(PatternCursor& cursor, int base, std::size_t most) {
  char32_t value = 0;
  for (std::size_t i = 0; i < most && !cursor.done() && digit_value(cursor.peek()) < base; ++i) {
    value = value * static_cast<char32_t>(base) + static_cast<char32_t>(digit_value(cursor.next()));
  }
  return value;
}

char32_t read_braced(PatternCursor& cursor, int base) {
  cursor.skip(1);
  const char32_t value = read_number(cursor, base, 12);
  cursor.take("}");
  return value;
}

Result<Escape> read_property(PatternCursor& cursor, bool negated) {
  std::string name;
  if (!cursor.take("{")) {
    append_utf8(name, cursor.next());
  } else {
    if (cursor.take("^")) negated = !negated;
    while (!cursor.done() && cursor.peek() != '}') append_utf8(name, cursor.next());
    cursor.take("}");
  }
  const auto set = property(name);
  if (!set) {
    return cursor.refuse(
        "unsupported",
        fmt::format("property `{}` instead of a general category or a script", name));
  }
  return negated ? set->complement() : *set;
}

std::optional<CharSet> class_escape(char32_t letter, Alphabet alphabet) {
  switch (letter) {
    case 'd':
      return digits(alphabet);
    case 'w':
      return word_characters(alphabet);
    case 's':
      return spaces(alphabet);
    case 'h':
      return horizontal_spaces();
    case 'v':
      return vertical_spaces();
    default:
      return std::nullopt;
  }
}

std::optional<Assertion> assertion_escape(char32_t letter) {
  switch (letter) {
    case 'A':
      return Assertion::TextStart;
    case 'z':
      return Assertion::TextEnd;
    case 'Z':
      return Assertion::FinalEnd;
    case 'b':
      return Assertion::WordEdge;
    case 'B':
      return Assertion::NoWordEdge;
    default:
      return std::nullopt;
  }
}

std::optional<char32_t> control_escape(char32_t letter) {
  switch (letter) {
    case 'a':
      return 7;
    case 'e':
      return 27;
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return std::nullopt;
  }
}

Result<Escape> read_digits(PatternCursor& cursor, char32_t first, bool in_class) {
  if (first != '0' && !in_class) return cursor.refuse("back_reference", "a back-reference");
  if (first >= '8') return first;
  char32_t value = first - '0';
  for (int i = 0; i < 2 && digit_value(cursor.peek()) < 8; ++i) {
    value = value * 8 + (cursor.next() - '0');
  }
  return value;
}

}  // namespace

PatternCursor::PatternCursor(std::string_view text) : text_(text) {
  for (std::size_t at = 0; at < text.size();) {
    const Decoded next = decode_first(text.substr(at));
    characters_.push_back(next.character);
    offsets_.push_back(at);
    at += next.size;
  }
}

bool PatternCursor::looking_at(std::string_view ascii) const {
  for (std::size_t i = 0; i < ascii.size(); ++i) {
    if (at_ + i >= characters_.size()) return false;
    if (characters_[at_ + i] != static_cast<unsigned char>(ascii[i])) return false;
  }
  return true;
}

bool PatternCursor::take(std::string_view ascii) {
  if (!looking_at(ascii)) return false;
  at_ += ascii.size();
  return true;
}

std::unexpected<Error> PatternCursor::refuse(const char* cause, std::string_view what) const {
  const std::size_t offset = at_ < offsets_.size() ? offsets_[at_] : text_.size();
  const std::string_view kind = cause;
  const bool known = kind != "syntax" && kind != "too_large";
  return fail(
      ErrorCode::InvalidInput,
      fmt::format("pattern `{}` {} {} (byte {}){}", well_formed(text_), known ? "uses" : "has",
                  what, offset, known ? ", which is not supported" : ""),
      {}, cause);
}

Result<Escape> read_escape(PatternCursor& cursor, Alphabet alphabet, bool in_class) {
  const char32_t letter = cursor.next();
  if (letter == 'b' && in_class) return char32_t{8};
  if (const auto control = control_escape(letter)) return *control;
  if (const auto set = class_escape(letter, alphabet)) return *set;
  if (letter < 128 && letter >= 'A' && letter <= 'Z') {
    if (const auto set = class_escape(letter + 32, alphabet)) return set->complement();
  }
  if (const auto edge = assertion_escape(letter); edge && !in_class) return *edge;
  switch (letter) {
    case 'x':
      return cursor.looking_at("{") ? read_braced(cursor, 16) : read_number(cursor, 16, 2);
    case 'o':
      return read_braced(cursor, 8);
    case 'c': {
      const char32_t key = cursor.next();
      return (key >= 'a' && key <= 'z' ? key - 32 : key) ^ 64;
    }
    case 'p':
    case 'P':
      return read_property(cursor, letter == 'P');
    case 'k':
      return cursor.refuse("back_reference", "a back-reference");
    case 'g':
      if (cursor.looking_at("<") || cursor.looking_at("'")) {
        return cursor.refuse("unsupported", "a call of a group");
      }
      return cursor.refuse("back_reference", "a back-reference");
    default:
      break;
  }
  if (letter >= '0' && letter <= '9') return read_digits(cursor, letter, in_class);
  const bool plain = letter > 127 || !((letter | 32) >= 'a' && (letter | 32) <= 'z');
  if (!plain) {
    return cursor.refuse("unsupported", fmt::format("\\{}", static_cast<char>(letter)));
  }
  return letter;
}

}  // namespace sallyport::match
