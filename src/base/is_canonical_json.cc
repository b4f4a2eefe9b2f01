#include <charconv>
#include <cmath>

#include "base/encoding.h"
#include "sallyport/json.h"

namespace sallyport {

namespace {

constexpr std::size_t kDeepest = 128;

// Walks over the text once. Members in strictly rising order also means that none stands twice.
class Walker {
 public:
  explicit Walker(std::string_view text) : text_(text) {}

  bool whole_text_is_canonical() { return value(0) && at_ == text_.size(); }

 private:
  // A member name as it stands in the text.
  struct Name {
    std::string_view written;
    bool escaped = false;
  };

  bool value(std::size_t depth) {
    switch (peek()) {
      case '{':
        return object(depth);
      case '[':
        return array(depth);
      case '"':
        return string();
      case 't':
        return word("true");
      case 'f':
        return word("false");
      case 'n':
        return word("null");
      default:
        return number();
    }
  }

  bool object(std::size_t depth) {
    if (depth == kDeepest) return false;
    ++at_;
    if (peek() == '}') return take('}');
    Name previous;
    for (bool first = true;; first = false) {
      const std::size_t begin = at_ + 1;
      escaped_ = false;
      if (peek() != '"' || !string()) return false;
      const Name name{text_.substr(begin, at_ - 1 - begin), escaped_};
      if (!first && !in_order(previous, name)) return false;
      previous = name;
      if (!take(':') || !value(depth + 1)) return false;
      if (peek() == '}') return take('}');
      if (!take(',')) return false;
    }
  }

  bool array(std::size_t depth) {
    if (depth == kDeepest) return false;
    ++at_;
    if (peek() == ']') return take(']');
    while (value(depth + 1)) {
      if (peek() == ']') return take(']');
      if (!take(',')) return false;
    }
    return false;
  }

  bool string() {
    for (++at_; at_ < text_.size(); ++at_) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c == '"') {
        ++at_;
        return true;
      }
      if (c < 0x20) return false;
      if (c == '\\' && !escape()) return false;
    }
    return false;
  }

  // Only the shortest ones: two characters where JSON has such, \u00xx for other control
  // characters.
  bool escape() {
    escaped_ = true;
    const char kind = ++at_ < text_.size() ? text_[at_] : '\0';
    if (kind != 'u') return std::string_view("\"\\bfnrt").find(kind) != std::string_view::npos;
    if (text_.substr(at_ + 1, 2) != "00" || at_ + 4 >= text_.size()) return false;
    const int high = hex_digit(text_[at_ + 3]);
    const int low = hex_digit(text_[at_ + 4]);
    const int code = high * 16 + low;
    at_ += 4;
    return high >= 0 && high <= 1 && low >= 0 && code != '\b' && code != '\f' && code != '\n' &&
           code != '\r' && code != '\t';
  }

  static bool in_order(const Name& a, const Name& b) {
    if (!a.escaped && !b.escaped) return canonical_less(a.written, b.written);
    return canonical_less(decoded(a), decoded(b));
  }

  static std::string decoded(const Name& name) {
    const Result<ParsedJson> parsed = parse_json("\"" + std::string(name.written) + "\"");
    return parsed ? std::string(parsed->value.get_string()) : std::string();
  }

  bool number() {
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           std::string_view("+-.0123456789e").find(text_[at_]) != std::string_view::npos)
      ++at_;
    const std::string_view token = text_.substr(begin, at_ - begin);
    if (is_small_integer(token)) return true;
    double number = 0;
    const auto read = std::from_chars(token.data(), token.data() + token.size(), number);
    if (read.ec != std::errc{} || read.ptr != token.data() + token.size()) return false;
    std::string written;
    append_canonical_number(written, number);
    return written == token && std::abs(number) <= 9007199254740991.0;
  }

  // Almost every number of ours, without a conversion.
  static bool is_small_integer(std::string_view token) {
    if (token.empty() || token.size() > 15) return false;
    if (token.size() > 1 && token[0] == '0') return false;
    for (const char c : token) {
      if (c < '0' || c > '9') return false;
    }
    return true;
  }

  bool word(std::string_view expected) {
    if (text_.substr(at_, expected.size()) != expected) return false;
    at_ += expected.size();
    return true;
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool escaped_ = false;  // since the last member name began
};

}  // namespace

bool is_canonical_json(std::string_view text) {
  return is_utf8(text) && Walker(text).whole_text_is_canonical();
}

}  // namespace sallyport
