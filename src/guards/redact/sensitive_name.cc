#include "guards/redact/sensitive_name.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <span>

#include "guards/detect/char_class.h"

namespace sallyport::guards {

namespace {

// All lists are without separators, as `Folded` makes them.
constexpr auto kSensitiveNames = std::to_array<std::string_view>(
    {"password",     "passwd",      "pwd",           "secret",
     "token",        "apikey",      "accesstoken",   "refreshtoken",
     "idtoken",      "authtoken",   "authorization", "proxyauthorization",
     "clientsecret", "privatekey",  "secretkey",     "secretaccesskey",
     "credential",   "credentials", "cookie",        "setcookie",
     "passphrase"});

constexpr auto kLastWords =
    std::to_array<std::string_view>({"password", "passwd", "passphrase", "secret", "token",
                                     "apikey", "privatekey", "secretkey", "secretaccesskey"});

// Where a listing goes on, what a price is per, and the words of a model's vocabulary.
constexpr auto kHarmlessLastWords = std::to_array<std::string_view>(
    {"progresstoken", "pagetoken", "nexttoken",   "continuationtoken", "cursortoken", "synctoken",
     "resumetoken",   "pertoken",  "firsttoken",  "lasttoken",         "maxtoken",    "mintoken",
     "eostoken",      "bostoken",  "padtoken",    "unktoken",          "septoken",    "clstoken",
     "masktoken",     "stoptoken", "specialtoken"});

constexpr char lower(char c) {
  return is(c, kUpper) ? static_cast<char>(c - 'A' + 'a') : c;
}

// A name in lower case without separators, and where its words begin.
class Folded {
 public:
  explicit Folded(std::string_view name) {
    if (name.starts_with("x-") || name.starts_with("X-")) name.remove_prefix(2);
    // Every list is about how a name ends.
    name.remove_prefix(name.size() - std::min(name.size(), kLongest));
    bool behind_separator = true;
    for (std::size_t i = 0; i < name.size(); ++i) {
      const bool separator = is(name[i], kUnderscore | kDash);
      if (!separator) append(name[i], behind_separator || is_hump(name, i));
      behind_separator = separator;
    }
  }

  bool is_one_of(std::span<const std::string_view> names) const {
    return std::ranges::find(names, text()) != names.end();
  }

  bool ends_in_one_of(std::span<const std::string_view> words) const {
    return std::ranges::any_of(words, [this](std::string_view last) {
      return text().ends_with(last) && begins_.test(size_ - last.size());
    });
  }

 private:
  static constexpr std::size_t kLongest = 96;

  // The T of idToken and of IDToken; never the first character of a name.
  static bool is_hump(std::string_view name, std::size_t i) {
    return is(name[i], kUpper) && (!is(name[i - 1], kUpper) || is_at(name, i + 1, kLower));
  }

  void append(char c, bool begins_word) {
    bytes_[size_] = lower(c);
    begins_.set(size_++, begins_word);
  }

  std::string_view text() const { return {bytes_.data(), size_}; }

  std::array<char, kLongest> bytes_{};
  std::bitset<kLongest> begins_;
  std::size_t size_ = 0;
};

// The last two letters of every name and word of the lists that say yes.
constexpr auto kEndings =
    std::to_array<std::string_view>({"rd", "wd", "et", "en", "ey", "on", "al", "ls", "ie", "se"});

constexpr bool ends_in_one_of_the_endings(std::span<const std::string_view> names) {
  return std::ranges::all_of(names, [](std::string_view name) {
    return std::ranges::find(kEndings, name.substr(name.size() - 2)) != kEndings.end();
  });
}
static_assert(ends_in_one_of_the_endings(kSensitiveNames));
static_assert(ends_in_one_of_the_endings(kLastWords));

// False for nearly every name, at the cost of two letters.
bool may_be_sensitive(std::string_view name) {
  std::array<char, 2> last{};
  std::size_t found = 0;
  for (std::size_t i = name.size(); i > 0 && found < last.size(); --i) {
    if (!is(name[i - 1], kUnderscore | kDash)) last[1 - found++] = lower(name[i - 1]);
  }
  return std::ranges::find(kEndings, std::string_view(last.data(), last.size())) != kEndings.end();
}

}  // namespace

bool is_sensitive_name(std::string_view name) {
  if (!may_be_sensitive(name)) return false;
  const Folded folded(name);
  if (folded.is_one_of(kSensitiveNames)) return true;
  return folded.ends_in_one_of(kLastWords) && !folded.ends_in_one_of(kHarmlessLastWords);
}

}  // namespace sallyport::guards
