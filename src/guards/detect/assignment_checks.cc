#include "guards/detect/assignment_checks.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "base/cut_text.h"
#include "base/lower_case.h"
#include "guards/detect/char_class.h"
#include "guards/redact/redaction_mark.h"

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
  // `:=`, `=>` and `==` assign or compare: the secret follows them too.
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

// The end of a quoted value. No value: it cannot be a password, or its quote never closes.
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
  constexpr std::size_t kLeast = 8;
  return code_points(value) >= kLeast && holds(value, kLetter | kBeyondAscii) &&
         holds(value, kDigit);
}

// True for characters that end an unquoted value in a command line or a query.
bool is_delimiter(char c) {
  return c == ';' || c == '&' || c == '|';
}

bool is_path(std::string_view value) {
  constexpr CharMask kInPath = kWord | kDash | kDot | kSlash;
  return value.starts_with('/') &&
         std::ranges::all_of(value, [](char c) { return is(c, kInPath); });
}

void check_bare_value(Candidates& found, std::size_t begin) {
  const std::string_view text = found.text();
  // From any place inside an examined stretch, the rest of the value is a part of it.
  if (found.examined(Detector::PasswordAssignment, begin)) return;
  std::size_t end = begin;
  while (end < text.size() && !is(text[end], kNeverInPassword | kLineEnd | kQuote) &&
         !is_delimiter(text[end])) {
    ++end;
  }
  found.set_examined(Detector::PasswordAssignment, begin, end);
  if (is_at(text, end, kBracket | kDollar)) return;
  if (text[end - 1] == ',') --end;  // at least the `=` stands before it
  if (is_path(text.substr(begin, end - begin))) return;
  if (!looks_like_password(text.substr(begin, end - begin))) return;
  found.add(Detector::PasswordAssignment, begin, end);
}

// True for names as in `password: hunter22`, as YAML and people write it. After other names, types
// of program code are usual.
bool is_plain_password_name(std::string_view text, std::size_t name_end) {
  constexpr auto kNames = std::to_array<std::string_view>({"password", "passwd", "passphrase"});
  return std::ranges::any_of(kNames, [&](std::string_view name) {
    if (name_end < name.size()) return false;
    return std::ranges::equal(text.substr(name_end - name.size(), name.size()), name, {},
                              [](char c) { return is(c, kUpper) ? c - 'A' + 'a' : c; });
  });
}

constexpr std::size_t kLongestPassphrase = 160;

// Words of sentences about passwords. Sorted.
constexpr auto kProse = std::to_array<std::string_view>(
    {"a",        "an",        "and",       "any",        "are",       "as",        "at",
     "be",       "been",      "but",       "by",         "can",       "cannot",    "change",
     "changed",  "char",      "character", "characters", "contain",   "contains",  "could",
     "default",  "denied",    "did",       "do",         "does",      "each",      "empty",
     "enter",    "error",     "expected",  "expired",    "failed",    "failure",   "field",
     "for",      "forgot",    "from",      "has",        "have",      "hidden",    "if",
     "in",       "incorrect", "input",     "invalid",    "is",        "it",        "its",
     "least",    "length",    "may",       "minimum",    "missing",   "must",      "new",
     "no",       "none",      "not",       "null",       "of",        "old",       "on",
     "one",      "only",      "optional",  "or",         "password",  "passwords", "please",
     "provided", "required",  "reset",     "same",       "see",       "sent",      "set",
     "shall",    "should",    "so",        "string",     "than",      "that",      "the",
     "then",     "this",      "to",        "too",        "undefined", "use",       "used",
     "user",     "users",     "value",     "was",        "were",      "when",      "which",
     "will",     "with",      "without",   "wrong",      "you",       "your"});
static_assert(std::ranges::is_sorted(kProse));

bool is_prose(std::string_view word) {
  while (!word.empty() && !is(word.back(), kAlnum | kBeyondAscii)) word.remove_suffix(1);
  return std::ranges::binary_search(kProse, lower_case(word));
}

// Three words or more, or two words of which one has more than letters. No words of prose.
bool is_passphrase(std::string_view value) {
  constexpr std::size_t kShortest = 12;
  if (value.size() < kShortest || value.size() > kLongestPassphrase) return false;
  std::size_t words = 0;
  bool odd = false;
  for (std::size_t at = 0; at < value.size();) {
    const std::size_t end = std::min(value.find(' ', at), value.size());
    const std::string_view word = value.substr(at, end - at);
    if (word.empty() || is_prose(word)) return false;
    odd = odd || !std::ranges::all_of(word, [](char c) { return is(c, kLetter | kBeyondAscii); });
    ++words;
    at = end + 1;
  }
  constexpr std::size_t kMostWords = 16;
  return words <= kMostWords && words >= (odd ? 2 : 3);
}

// The end of unquoted words.
std::size_t words_end(std::string_view text, std::size_t begin) {
  constexpr CharMask kStops = kLineEnd | kQuote | kBracket | kDollar;
  std::size_t end = begin;
  while (end < text.size() && end - begin <= kLongestPassphrase && !is(text[end], kStops) &&
         !is_delimiter(text[end]) && text[end] != ',' && text[end] != '\\' &&
         !is(text[end], kEquals | kColon | kSlash)) {
    ++end;
  }
  // The last word is the name of something else, or a path.
  if (is_at(text, end, kEquals | kColon | kSlash)) {
    while (end > begin && text[end - 1] != ' ') --end;
  }
  while (end > begin && is(text[end - 1], kBlank | kDot)) --end;
  return end;
}

constexpr std::size_t kAwsSecretSize = 40;

// Not a path: 40 random characters have letters of both cases, digits and few `/`.
bool is_aws_secret(std::string_view value) {
  constexpr std::ptrdiff_t kMostSlashes = 4;
  return value.size() == kAwsSecretSize &&
         std::ranges::all_of(value, [](char c) { return is(c, kAlnum | kSlash | kPlus); }) &&
         (!holds(value, kSlash) ||
          (holds(value, kUpper) && holds(value, kLower) && holds(value, kDigit) &&
           std::ranges::count(value, '/') <= kMostSlashes));
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

// The letters at the end of a name, or none if no name of a secret ends like that, as most do not.
std::string last_letters_of(std::string_view name) {
  constexpr std::string_view kLastLetters = "dtnyeDTNYE";
  constexpr std::size_t kLongestEnding = 24;
  if (name.empty() || kLastLetters.find(name.back()) == std::string_view::npos) return {};
  return letters_of(name.substr(name.size() - std::min(name.size(), kLongestEnding)));
}

bool is_password(std::string_view value) {
  return !holds(value, kNeverInPassword | kLineEnd) && looks_like_password(value);
}

}  // namespace

bool may_name_secret(std::string_view name) {
  const std::string letters = last_letters_of(name);
  if (letters.empty()) return false;
  return ends_in_one_of(letters, kAwsSecretNames) || ends_in_one_of(letters, kPasswordNames) ||
         is_plain_password_name(name, name.size());
}

std::optional<Detector> secret_of_member(std::string_view name, std::string_view value,
                                         const DetectorSet& wanted) {
  // This is called for every member, and most are neither.
  constexpr std::size_t kShortest = 8;
  if (value.size() < kShortest) return std::nullopt;
  const std::string letters = last_letters_of(name);
  if (letters.empty()) return std::nullopt;
  if (wanted.test(index_of(Detector::AwsSecretAccessKey)) &&
      ends_in_one_of(letters, kAwsSecretNames) && is_aws_secret(value)) {
    return Detector::AwsSecretAccessKey;
  }
  if (wanted.test(index_of(Detector::PasswordAssignment)) &&
      ends_in_one_of(letters, kPasswordNames) && is_password(value)) {
    return Detector::PasswordAssignment;
  }
  if (wanted.test(index_of(Detector::PassphraseAssignment)) &&
      is_plain_password_name(name, name.size()) && is_passphrase(value)) {
    return Detector::PassphraseAssignment;
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
    const std::size_t name_end = at.end - 1;
    const bool listed = is_plain_password_name(text, name_end) && is_at(text, name_end, kColon) &&
                        is_at(text, name_end + 1, kBlank);
    if (value->bare_equals || listed) check_bare_value(found, value->begin);
    return;
  }
  const std::optional<std::size_t> end = quoted_end(text, *value);
  if (!end || !looks_like_password(text.substr(value->begin, *end - value->begin))) return;
  found.add(Detector::PasswordAssignment, value->begin, *end);
}

void check_passphrase_assignment(Candidates& found, Anchor at) {
  const std::string_view text = found.text();
  const std::optional<Value> value = value_behind_name(text, at.end - 1);
  if (!value) return;
  std::size_t end = value->begin;
  if (value->quote == '\0') {
    end = words_end(text, value->begin);
  } else {
    const std::string_view rest = text.substr(value->begin, kLongestPassphrase + 1);
    const std::size_t closing = rest.find(value->quote);
    if (closing == std::string_view::npos || closing < value->escapes) return;
    end = value->begin + closing - value->escapes;
  }
  if (!is_passphrase(text.substr(value->begin, end - value->begin))) return;
  found.add(Detector::PassphraseAssignment, value->begin, end);
}

// True for text that runs a command if a shell reads the URL unquoted. In a real password it is
// percent-encoded.
bool may_run(std::string_view password) {
  return std::ranges::any_of(password, is_delimiter) || holds(password, kBracket);
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
  if (is_redaction_mark(password) || may_run(password)) return;
  found.add(Detector::UrlPassword, colon + 1, sign);
}

}  // namespace sallyport::guards
