#include <charconv>
#include <cmath>

#include "base/json_cursor.h"
#include "sallyport/json.h"

namespace sallyport {

namespace {

constexpr std::size_t kDeepest = 128;

// Reads the text once. Strictly rising member names also exclude duplicates.
class Walker {
 public:
  explicit Walker(std::string_view text) : cursor_(text) {}

  bool whole_text_is_canonical() { return value(kDeepest) && cursor_.at_end(); }

 private:
  bool value(std::size_t depth) {
    switch (cursor_.peek()) {
      case '{':
        return object(depth);
      case '[':
        return array(depth);
      case '"':
        return is_canonical_string(cursor_.take_string());
      case 't':
      case 'f':
      case 'n':
        return cursor_.take_literal();
      default:
        return is_canonical_number(cursor_.take_number());
    }
  }

  bool object(std::size_t depth) {
    if (depth == 0) return false;
    cursor_.take('{');
    if (cursor_.take('}')) return true;
    std::string_view before;
    do {
      const std::string_view name = cursor_.take_string();
      if (!is_canonical_string(name)) return false;
      if (!before.empty() && !names_in_order(before, name)) return false;
      before = name;
      if (!cursor_.take(':') || !value(depth - 1)) return false;
    } while (cursor_.take(','));
    return cursor_.take('}');
  }

  bool array(std::size_t depth) {
    if (depth == 0) return false;
    cursor_.take('[');
    if (cursor_.take(']')) return true;
    do {
      if (!value(depth - 1)) return false;
    } while (cursor_.take(','));
    return cursor_.take(']');
  }

  // Accepts only required escapes in their shortest form. Empty: not a string.
  static bool is_canonical_string(std::string_view written) {
    if (written.find('\\') == std::string_view::npos) return !written.empty();
    std::string scratch;
    std::string again;
    append_canonical_string(again, string_in(written, scratch));
    return again == written;
  }

  static bool is_canonical_number(std::string_view written) {
    if (written.empty()) return false;
    if (is_small_integer(written)) return true;
    double number = 0;
    (void)std::from_chars(written.data(), written.data() + written.size(), number);
    std::string again;
    append_canonical_number(again, number);
    return again == written && std::abs(number) <= 9007199254740991.0;
  }

  // Fast path for most numbers, without a conversion.
  static bool is_small_integer(std::string_view written) {
    constexpr std::size_t kExactDigits = 15;
    return written.size() <= kExactDigits &&
           written.find_first_not_of("0123456789") == std::string_view::npos;
  }

  JsonCursor cursor_;
};

}  // namespace

bool is_canonical_json(std::string_view text) {
  return is_utf8(text) && Walker(text).whole_text_is_canonical();
}

}  // namespace sallyport
