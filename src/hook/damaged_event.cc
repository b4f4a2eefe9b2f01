#include "hook/damaged_event.h"

#include <algorithm>
#include <boost/json.hpp>
#include <optional>
#include <string>

#include "hook/dialect.h"

namespace sallyport::hook {

namespace {

constexpr std::size_t kDeepest = 64;
constexpr std::size_t kMostMembers = 256;   // of the event itself
constexpr std::size_t kLongestText = 4096;  // that is read
constexpr std::string_view kSomeText = "?";

// A position in the text. Each `take_` function moves past what it returns, and skips what it does
// not understand.
class DamagedText {
 public:
  explicit DamagedText(std::string_view text) : text_(text) {}

  json::object take_event() {
    constexpr std::string_view kMark = "\xef\xbb\xbf";
    if (text_.starts_with(kMark)) at_ = kMark.size();
    skip_blanks();
    return peek() == '{' ? take_object(0) : json::object();
  }

 private:
  bool at_end() const { return at_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  json::object take_object(std::size_t depth) {
    json::object object;
    ++at_;
    while (!at_end() && peek() != '}') {
      if (peek() != '"') {
        ++at_;
        continue;
      }
      const std::string_view name = take_text();
      skip_blanks();
      if (peek() != ':') continue;
      ++at_;
      json::value value = take_value(depth + 1);
      if (!has_room(depth, object.size())) continue;
      if (const auto read = read_text(name)) object.insert_or_assign(*read, std::move(value));
    }
    ++at_;
    return object;
  }

  json::array take_array(std::size_t depth) {
    json::array array;
    ++at_;
    skip_blanks();
    while (!at_end() && peek() != ']') {
      const std::size_t before = at_;
      json::value value = take_value(depth + 1);
      // Nothing begins here: a comma, or what belongs to no array.
      if (at_ == before) {
        ++at_;
      } else if (has_room(depth, array.size())) {
        array.push_back(std::move(value));
      }
      skip_blanks();
    }
    ++at_;
    return array;
  }

  json::value take_value(std::size_t depth) {
    skip_blanks();
    switch (peek()) {
      case '{':
      case '[':
        if (depth > kDeepest) return skip_nested();
        return peek() == '{' ? json::value(take_object(depth)) : json::value(take_array(depth));
      case '"': {
        const std::string_view text = take_text();
        return depth == 1 ? json::value(read_text(text).value_or(std::string(kSomeText)))
                          : json::value(kSomeText);
      }
      default:
        return take_word();
    }
  }

  // With its quotes.
  std::string_view take_text() {
    const std::size_t begin = at_++;
    while (!at_end() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
    return text_.substr(begin, at_ - begin);
  }

  json::value take_word() {
    const std::size_t end = std::min(text_.find_first_of(" \t\r\n,:{}[]\"", at_), text_.size());
    const std::string_view word = text_.substr(at_, end - at_);
    at_ = end;
    if (word.empty() || word == "null") return nullptr;
    if (word == "true" || word == "false") return word == "true";
    return 0;
  }

  json::value skip_nested() {
    std::size_t open = 0;
    do {
      const char c = peek();
      if (c == '"') {
        take_text();
        continue;
      }
      ++at_;
      if (c == '{' || c == '[') ++open;
      if (c == '}' || c == ']') --open;
    } while (open > 0 && !at_end());
    return nullptr;
  }

  // No value: it is too long or cannot be read.
  static std::optional<std::string> read_text(std::string_view text) {
    if (text.size() > kLongestText) return std::nullopt;
    const Result<ParsedJson> parsed = parse_json(text);
    if (!parsed || !parsed->value.is_string()) return std::nullopt;
    return std::string(parsed->value.get_string());
  }

  // The members of the event have their own room, because its name may be the last one.
  bool has_room(std::size_t depth, std::size_t size) {
    return depth == 0 ? size < kMostMembers : ++kept_ <= kEventLimits.values;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t kept_ = 0;
};

}  // namespace

json::object readable_part(std::string_view text) {
  return DamagedText(text).take_event();
}

}  // namespace sallyport::hook
