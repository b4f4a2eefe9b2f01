#include "guards/assignment_checks.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "guards/char_class.h"
#include "guards/redaction_mark.h"

namespace sallyport::guards {

namespace {

struct Value {
  std::size_t begin = 0;  // behind the opening quote where there is one
  char quote = '\0';
  std::size_t escapes = 0;   // backslashes before the opening quote: JSON inside of JSON
  bool bare_equals = false;  // NAME=value: one `=` with nothing around it
};

// JSON inside of JSON inside of JSON has up to seven. With a limit, at most so many unclosed values
// are read past any byte, which keeps the search linear.
constexpr std::size_t kMostEscapes = 7;

// Behind one quote with the backslashes before it, or `at` itself.
std::size_t skip_quote(std::string_view text, std::size_t at) {
  std::size_t quote = at;
  while (quote < text.size() && text[quote] == '\\' && quote - at < kMostEscapes) ++quote;
  return is_at(text, quote, kQuote) ? quote + 1 : at;
}

std::optional<Value> value_behind_name(std::string_view text, std::size_t name_end) {
  std::size_t at = run_end(text, skip_quote(text, name_end), kBlank);
  if (!is_at(text, at, kEquals | kColon)) return std::nullopt;
  Value value;
  const bool tight = at == name_end && text[at] == '=';
  ++at;
  // `:=`, `=>` and `==` assign or compare: what stands behind them is the same secret.
  if (at < text.size() && (text[at] == '=' || text[at] == '>')) ++at;
  value.begin = run_end(text, at, kBlank);
  value.bare_equals = tight && value.begin == name_end + 1;
  const std::size_t behind_quote = skip_quote(text, value.begin);
  if (behind_quote > value.begin) {
    value.quote = text[behind_quote - 1];
    value.escapes = behind_quote - value.begin - 1;
    value.begin = behind_quote;
  }
  return value;
}

constexpr CharMask kNeverInPassword = kBlank | kBracket | kDollar;

// The end of a quoted value, or nothing when it holds what a password does not or never closes.
std::optional<std::size_t> quoted_end(std::string_view text, const Value& value) {
  std::size_t backslashes = 0;
  for (std::size_t at = value.begin; at < text.size(); ++at) {
    const char c = text[at];
    if (c == value.quote) {
      const bool closes = value.escapes == 0 ? backslashes % 2 == 0 : backslashes <= value.escapes;
      if (closes) return at - std::min(backslashes, value.escapes);
    }
    if (is(c, kNeverInPassword | kLineEnd)) return std::nullopt;
    backslashes = c == '\\' ? backslashes + 1 : 0;
  }
  return std::nullopt;
}

bool looks_like_password(std::string_view value) {
  constexpr std::ptrdiff_t kLeast = 8;
  const auto characters = std::ranges::count_if(
      value, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
  return characters >= kLeast && holds(value, kLetter | kBeyondAscii) && holds(value, kDigit);
}

void check_rest_of_line(Candidates& found, std::size_t begin) {
  const std::string_view text = found.text();
  // From any place inside a stretch that was read, the rest of the line is a part of it.
  if (found.examined(Detector::PasswordAssignment, begin)) return;
  std::size_t end = begin;
  while (end < text.size() && !is(text[end], kNeverInPassword | kLineEnd | kQuote)) ++end;
  found.set_examined(Detector::PasswordAssignment, begin, end);
  const std::size_t blanks = run_end(text, end, kBlank);
  const bool line_ends = blanks == text.size() || is(text[blanks], kLineEnd);
  if (!line_ends && !is(text[end], kQuote)) return;
  if (!looks_like_password(text.substr(begin, end - begin))) return;
  found.add(Detector::PasswordAssignment, begin, end);
}

constexpr std::size_t kAwsSecretSize = 40;

bool is_aws_secret(std::string_view value) {
  return value.size() == kAwsSecretSize &&
         std::ranges::all_of(value, [](char c) { return is(c, kAlnum | kSlash | kPlus); });
}

// Letters and digits alone, in lower case: `AWS_Secret-Key` is `awssecretkey`.
std::string letters_of(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (is(c, kUpper)) {
      letters += static_cast<char>(c - 'A' + 'a');
    } else if (c != '_' && c != '-' && c != '.' && c != ' ') {
      letters += c;
    }
  }
  return letters;
}

bool ends_in_one_of(std::string_view name, std::span<const std::string_view> endings) {
  return std::ranges::any_of(endings,
                             [name](std::string_view ending) { return name.ends_with(ending); });
}

constexpr auto kPasswordNames =
    std::to_array<std::string_view>({"password", "passwd", "pwd", "secret", "token", "apikey"});
constexpr auto kAwsSecretNames =
    std::to_array<std::string_view>({"secretaccesskey", "awssecret", "awssecretkey"});

bool is_password(std::string_view value) {
  return !holds(value, kNeverInPassword | kLineEnd) && looks_like_password(value);
}

}  // namespace

std::optional<Detector> secret_of_member(std::string_view name, std::string_view value,
                                         const DetectorSet& wanted) {
  // Most members are neither, and this is asked of every one.
  constexpr std::size_t kShortest = 8;
  constexpr std::string_view kLastLetters = "dtnyDTNY";
  if (value.size() < kShortest || name.empty()) return std::nullopt;
  if (kLastLetters.find(name.back()) == std::string_view::npos) return std::nullopt;
  constexpr std::size_t kLongestEnding = 24;
  const std::size_t ending = name.size() > kLongestEnding ? name.size() - kLongestEnding : 0;
  const std::string letters = letters_of(name.substr(ending));
  if (wanted.test(index_of(Detector::AwsSecretAccessKey)) &&
      ends_in_one_of(letters, kAwsSecretNames) && is_aws_secret(value)) {
    return Detector::AwsSecretAccessKey;
  }
  if (wanted.test(index_of(Detector::PasswordAssignment)) &&
      ends_in_one_of(letters, kPasswordNames) && is_password(value)) {
    return Detector::PasswordAssignment;
  }
  return std::nullopt;
}

void check_aws_secret_access_key(Candidates& found, Anchor at) {
  const std::string_view text = found.text();
  const std::optional<Value> value = value_behind_name(text, at.end - 1);
  if (!value) return;
  const std::size_t end = value->begin + kAwsSecretSize;
  if (end > text.size() || is_at(text, end, kWord | kSlash | kPlus)) return;
  if (!is_aws_secret(text.substr(value->begin, kAwsSecretSize))) return;
  found.add(Detector::AwsSecretAccessKey, value->begin, end);
}

void check_password_assignment(Candidates& found, Anchor at) {
  const std::string_view text = found.text();
  const std::optional<Value> value = value_behind_name(text, at.end - 1);
  if (!value) return;
  if (value->quote == '\0') {
    if (value->bare_equals) check_rest_of_line(found, value->begin);
    return;
  }
  const std::optional<std::size_t> end = quoted_end(text, *value);
  if (!end || !looks_like_password(text.substr(value->begin, *end - value->begin))) return;
  found.add(Detector::PasswordAssignment, value->begin, *end);
}

void check_url_password(Candidates& found, Anchor at) {
  const std::string_view text = found.text();
  std::size_t colon = 0;
  std::size_t sign = 0;
  std::size_t end = at.end;
  // The authority cannot hold `/`, so no byte is read for two URLs.
  for (; end < text.size(); ++end) {
    const char c = text[end];
    if (is(c, kSlash | kBlank | kLineEnd | kQuote) || c == '?' || c == '#' || c == '\\') break;
    if (c == ':' && colon == 0) colon = end;
    if (c == '@') sign = end;
  }
  if (colon == 0 || sign < colon + 2) return;
  const std::string_view password = text.substr(colon + 1, sign - colon - 1);
  if (is_redaction_mark(password)) return;
  found.add(Detector::UrlPassword, colon + 1, sign);
}

}  // namespace sallyport::guards
