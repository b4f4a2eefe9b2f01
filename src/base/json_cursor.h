// Reads JSON text without building values.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sallyport {

// A position in a text. Each `take_` function reads one item at the position and moves past it, or
// reports that it is not there. Together they accept RFC 8259 without blanks and escaped
// surrogates, which CanonicalWriter never writes. They do not check UTF-8.
class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : text_(text) {}

  std::size_t at() const { return at_; }
  bool at_end() const { return at_ == text_.size(); }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  bool take_literal();  // true, false or null
  // The string with its quotes, as written. Empty if there is none here.
  std::string_view take_string();
  std::string_view take_number();
  // Empty if there is no value here, or if it is nested deeper than `depth`. `exact`, if given,
  // becomes false when a number is more than 2^53-1 from zero.
  std::string_view take_value(std::size_t depth, bool* exact = nullptr);

 private:
  bool skip_value(std::size_t depth, bool* exact);
  bool skip_object(std::size_t depth, bool* exact);
  bool skip_array(std::size_t depth, bool* exact);
  bool skip_digits();

  std::string_view text_;
  std::size_t at_ = 0;
};

// The members of an object, each with its name and the text of its value. A name is as written,
// without its quotes. Empty if the text is not an object or has no members.
struct MemberText {
  std::string_view name;
  std::string_view text;
};
std::vector<MemberText> members_in(std::string_view object);

// True when the number is at most 2^53-1 from zero.
bool is_exact_number(std::string_view number);

// The content of a string. `written` is what `take_string` returned for UTF-8 text. `scratch` holds
// the result if the string has escapes.
std::string_view string_in(std::string_view written, std::string& scratch);

// True if the names may follow each other in a canonical object. Both are as `take_string` returned
// them.
bool names_in_order(std::string_view before, std::string_view name);

}  // namespace sallyport
