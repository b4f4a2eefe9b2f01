#include <fmt/format.h>
#include <simdjson.h>

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "sallyport/json.h"

namespace sallyport {

namespace {

constexpr double kLargestInteger = 9007199254740991.0;  // 2^53-1

// A decimal number independent of notation: its digits without outer zeros, and its point.
struct Decimal {
  std::string digits;
  long exponent = 0;
  bool operator==(const Decimal&) const = default;
};

Decimal decimal(std::string_view token) {
  Decimal number;
  long point = 0;
  bool behind_point = false;
  std::size_t i = token.starts_with('-') ? 1 : 0;
  for (; i < token.size() && token[i] != 'e' && token[i] != 'E'; ++i) {
    if (token[i] == '.') {
      behind_point = true;
      continue;
    }
    number.digits += token[i];
    if (behind_point) --point;
  }
  if (i < token.size()) {
    long exponent = 0;
    const char* first = token.data() + i + 1;
    if (first < token.data() + token.size() && *first == '+') ++first;
    std::from_chars(first, token.data() + token.size(), exponent);
    point += exponent;
  }
  const std::size_t last = number.digits.find_last_not_of('0');
  if (last == std::string::npos) return {};
  point += static_cast<long>(number.digits.size() - 1 - last);
  number.digits.erase(last + 1);
  number.digits.erase(0, number.digits.find_first_not_of('0'));
  number.exponent = point;
  return number;
}

// Builds the value and detects what Boost.JSON accepts: duplicate names and inexact numbers.
class Builder {
 public:
  static constexpr std::size_t max_object_size = std::size_t(-1);
  static constexpr std::size_t max_array_size = std::size_t(-1);
  static constexpr std::size_t max_key_size = std::size_t(-1);
  static constexpr std::size_t max_string_size = std::size_t(-1);

  explicit Builder(const JsonLimits& limits) : numbers_(limits.numbers), most_(limits.values) {
    stack_.reset();
    names_.reserve(16);
    frames_.reserve(8);
  }

  using Code = boost::system::error_code;
  using View = json::string_view;

  bool on_document_begin(Code&) { return true; }
  bool on_document_end(Code&) { return true; }
  bool on_object_begin(Code& code) {
    frames_.push_back({names_.size(), text_.size()});
    return count(code);
  }
  bool on_object_end(std::size_t n, Code& code) {
    if (!names_differ(frames_.back().names)) return refuse(code);
    names_.resize(frames_.back().names);
    text_.resize(frames_.back().text);
    frames_.pop_back();
    stack_.push_object(n);
    return true;
  }
  bool on_array_begin(Code& code) { return count(code); }
  bool on_array_end(std::size_t n, Code&) {
    stack_.push_array(n);
    return true;
  }
  bool on_key_part(View s, std::size_t, Code&) {
    stack_.push_chars(s);
    text_.append(s.data(), s.size());
    return true;
  }
  bool on_key(View s, std::size_t, Code& code) {
    if (!count(code)) return false;
    stack_.push_key(s);
    const std::size_t begin = names_.empty() ? 0 : names_.back().begin + names_.back().size;
    text_.append(s.data(), s.size());
    names_.push_back({begin, text_.size() - begin});
    return true;
  }
  bool on_string_part(View s, std::size_t, Code&) {
    stack_.push_chars(s);
    return true;
  }
  bool on_string(View s, std::size_t, Code& code) {
    if (!count(code)) return false;
    stack_.push_string(s);
    return true;
  }
  bool on_number_part(View s, Code&) {
    token_.append(s.data(), s.size());
    return true;
  }
  bool on_int64(std::int64_t i, View s, Code& code) {
    return take_number(s, static_cast<double>(i), true, code, [&] { stack_.push_int64(i); });
  }
  bool on_uint64(std::uint64_t u, View s, Code& code) {
    return take_number(s, static_cast<double>(u), true, code, [&] { stack_.push_uint64(u); });
  }
  bool on_double(double, View s, Code& code) {
    // Boost.JSON 1.81 rounds some decimals to a double next to the nearest one.
    const std::string token = token_ + std::string(s);
    double nearest = 0;
    const auto read = std::from_chars(token.data(), token.data() + token.size(), nearest);
    if (read.ec == std::errc::result_out_of_range) {
      const Decimal written = decimal(token);
      const long magnitude = written.exponent + static_cast<long>(written.digits.size());
      nearest = magnitude > 0 ? HUGE_VAL : 0.0;
    }
    return take_number(s, nearest, false, code, [&] { stack_.push_double(nearest); });
  }
  bool on_bool(bool b, Code& code) {
    stack_.push_bool(b);
    return count(code);
  }
  bool on_null(Code& code) {
    stack_.push_null();
    return count(code);
  }
  bool on_comment_part(View, Code&) { return true; }
  bool on_comment(View, Code&) { return true; }

  bool exact() const { return exact_; }
  std::size_t values() const { return values_; }
  bool over() const { return values_ > most_; }
  const std::string& refusal() const { return refusal_; }
  json::value release() { return stack_.release(); }

 private:
  struct Name {
    std::size_t begin;
    std::size_t size;
  };
  struct Frame {
    std::size_t names;
    std::size_t text;
  };

  bool refuse(Code& code) {
    code = json::error::exception;
    return false;
  }

  bool count(Code& code) {
    if (++values_ <= most_) return true;
    refusal_ = fmt::format("over {} values and member names, the limit", most_);
    return refuse(code);
  }

  bool names_differ(std::size_t from) {
    const auto text = [this](const Name& name) {
      return std::string_view(text_).substr(name.begin, name.size);
    };
    const auto begin = names_.begin() + static_cast<std::ptrdiff_t>(from);
    // Most objects are small; comparing is faster than sorting there.
    const bool sorted = names_.end() - begin > 8;
    if (sorted) std::ranges::sort(begin, names_.end(), {}, text);
    for (auto a = begin; a != names_.end(); ++a) {
      const auto stop = sorted ? std::min(a + 2, names_.end()) : names_.end();
      for (auto b = a + 1; b < stop; ++b) {
        if (text(*a) != text(*b)) continue;
        refusal_ = fmt::format("member `{}` occurs twice in one object", text(*a));
        return false;
      }
    }
    return true;
  }

  template <class Push>
  bool take_number(View rest, double number, bool whole, Code& code, Push push) {
    if (!count(code)) return false;
    // JSON has only one notation for a whole number, except `-0`.
    if (whole && token_.empty() && std::abs(number) <= kLargestInteger &&
        (number != 0 || rest == "0")) {
      push();
      return true;
    }
    token_.append(rest.data(), rest.size());
    const std::string token = std::exchange(token_, {});
    if (!std::isfinite(number)) {
      refusal_ = fmt::format("number `{:.40}` is out of range", token);
      return refuse(code);
    }
    std::string written;
    append_canonical_number(written, number);
    const bool held = std::abs(number) <= kLargestInteger;
    if (numbers_ == Numbers::Strict && (!held || written != token)) {
      refusal_ = fmt::format("number `{:.40}` is not in its shortest form within 2^53-1", token);
      return refuse(code);
    }
    const bool same = held && (written == token || decimal(written) == decimal(token));
    exact_ = exact_ && same;
    if (same || numbers_ != Numbers::Exact) {
      push();
    } else {
      stack_.push_string(token);
    }
    return true;
  }

  Numbers numbers_;
  std::size_t most_;
  std::size_t values_ = 0;
  json::value_stack stack_;
  std::string text_;           // names of all objects that are open, innermost last
  std::vector<Name> names_;    // the place of each name
  std::vector<Frame> frames_;  // the first name of each open object
  std::string token_;
  std::string refusal_;
  bool exact_ = true;
};

std::string place(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  const std::string_view before = text.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t start = before.rfind('\n');
  const std::size_t column = start == std::string_view::npos ? offset + 1 : offset - start;
  return fmt::format("{}:{}", line, column);
}

// The index of the first byte that is not UTF-8. There must be one; simdjson only detects it.
std::size_t invalid_utf8_in(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t length = 1;
    while (length <= 4 && !simdjson::validate_utf8(text.substr(at, length))) ++length;
    if (length > 4) break;
    at += length;
  }
  return at;
}

constexpr std::string_view kLoneSurrogate = "a lone surrogate, which is half a character";

// True if `text` ends with the escape of a first half of a surrogate pair, or one character behind
// it: the parser then expects the second half.
bool ends_with_half(std::string_view text) {
  constexpr std::size_t kEscape = 6;  // \ud83d
  if (text.ends_with('\\')) text.remove_suffix(1);
  if (text.size() < kEscape) return false;
  const std::string_view escape = text.substr(text.size() - kEscape);
  return escape.starts_with("\\u") && (escape[2] == 'd' || escape[2] == 'D') &&
         std::string_view("89abAB").contains(escape[3]);
}

// Names the two faults that programs make most, which the parser calls `syntax error`.
std::string syntax_fault(std::string_view text, std::size_t at) {
  if (at < text.size() && static_cast<unsigned char>(text[at]) < ' ') {
    return fmt::format("a raw control character (U+{:04X}); write it as an escape",
                       static_cast<unsigned>(static_cast<unsigned char>(text[at])));
  }
  return std::string(ends_with_half(text.substr(0, at)) ? kLoneSurrogate : "syntax error");
}

std::string explain(const boost::system::error_code& code, const JsonLimits& limits,
                    std::string_view text, std::size_t at) {
  if (code == json::error::too_deep) return fmt::format("nested deeper than {}", limits.depth);
  if (code == json::error::extra_data) return "text after the value";
  if (code == json::error::incomplete) return "ends in the middle of a value";
  if (code == json::error::illegal_leading_surrogate ||
      code == json::error::illegal_trailing_surrogate) {
    return fmt::format("not JSON: {}", kLoneSurrogate);
  }
  const bool syntax = code == json::error::syntax;
  return "not JSON: " + (syntax ? syntax_fault(text, at) : code.message());
}

}  // namespace

Result<ParsedJson> parse_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{} bytes, the limit is {}", text.size(), limits.bytes), {},
                kOverLimit);
  }
  if (text.starts_with("\xef\xbb\xbf")) {
    return fail(ErrorCode::InvalidInput, "begins with a byte order mark, remove it", "1:1");
  }
  if (!simdjson::validate_utf8(text.data(), text.size())) {
    return fail(ErrorCode::InvalidInput, "not valid UTF-8", place(text, invalid_utf8_in(text)));
  }
  json::parse_options options;
  options.max_depth = limits.depth;
  json::basic_parser<Builder> parser(options, limits);
  boost::system::error_code code;
  const std::size_t read = parser.write_some(false, text.data(), text.size(), code);
  if (!code && read < text.size()) code = json::error::extra_data;
  if (code) {
    const std::string& refusal = parser.handler().refusal();
    const bool over = parser.handler().over() || code == json::error::too_deep;
    return fail(ErrorCode::InvalidInput,
                refusal.empty() ? explain(code, limits, text, read) : refusal, place(text, read),
                over ? kOverLimit : "");
  }
  const std::size_t values = parser.handler().values();
  const bool exact = parser.handler().exact();
  return ParsedJson{parser.handler().release(), exact, values};
}

Result<json::value> parse_own_json(std::string_view text, JsonLimits limits) {
  limits.numbers = Numbers::Strict;
  limits.values = std::numeric_limits<std::size_t>::max();
  Result<ParsedJson> parsed = parse_json(text, limits);
  if (parsed) return std::move(parsed->value);
  Error error = parsed.error();
  error.cause.clear();  // in our own documents this is damage, like any other fault
  return std::unexpected(std::move(error));
}

}  // namespace sallyport
