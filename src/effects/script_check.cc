// Recognizes scripts of sed and awk that only print and change text.
#include <algorithm>
#include <array>

#include "effects/program_effects.h"

namespace sallyport::effects {

namespace {

class SedScript {
 public:
  explicit SedScript(std::string_view text) : text_(text) {}

  bool plain() {
    while (true) {
      skip(" \t\n;");
      if (done()) return true;
      if (!address()) return false;
      skip(" \t");
      if (at() == ',') {
        ++at_;
        skip(" \t");
        if (!address()) return false;
      }
      skip(" \t!");
      if (done()) return false;
      const char command = text_[at_++];
      if (command == 'a' || command == 'i' || command == 'c') {
        // Text up to the end of the line; a backslash continues it.
        while (!done() && at() != '\n') at_ += at() == '\\' ? 2 : 1;
        continue;
      }
      if (command == 's') {
        if (!substitution()) return false;
      } else if (command == 'q') {
        skip(" \t0123456789");
      } else if (command != 'p' && command != 'd' && command != '=') {
        return false;
      }
      skip(" \t");
      if (!done() && at() != ';' && at() != '\n') return false;
    }
  }

 private:
  bool done() const { return at_ >= text_.size(); }
  char at() const { return done() ? '\0' : text_[at_]; }
  void skip(std::string_view letters) {
    while (!done() && letters.contains(at())) ++at_;
  }

  bool address() {
    if (at() == '/' || at() == '\\') {
      char end = '/';
      if (at() == '\\') {
        ++at_;
        end = at();
      }
      ++at_;
      if (!pattern(end)) return false;
      skip("IM");
      return true;
    }
    skip("0123456789$~+");
    return true;
  }

  // After the delimiter that ends a pattern.
  bool pattern(char end) {
    while (!done()) {
      const char c = text_[at_++];
      if (c == '\n') return false;
      if (c == end) return true;
      if (c == '\\') ++at_;
      if (c != '[') continue;
      // Programs disagree whether a delimiter in brackets ends the pattern.
      if (at() == '^') ++at_;
      const std::size_t close = text_.find(']', at_ + 1);
      if (close == std::string_view::npos) return false;
      const std::string_view set = text_.substr(at_, close - at_);
      if (set.contains(end) || set.contains('\n') || set.contains('[') || set.contains('\\'))
        return false;
      at_ = close + 1;
    }
    return false;
  }

  bool substitution() {
    const char end = at();
    if (done() || end == '\\' || end == '\n') return false;
    ++at_;
    if (!pattern(end)) return false;
    // The replacement may have more lines, each after a backslash.
    while (!done() && at() != end) {
      if (at() == '\n') return false;
      at_ += at() == '\\' ? 2 : 1;
    }
    if (done()) return false;
    ++at_;
    skip("gIip0123456789");
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

bool is_plain_sed_script(std::string_view script) {
  return SedScript(script).plain();
}

bool is_plain_awk_script(std::string_view script) {
  constexpr auto kRuns =
      std::to_array<std::string_view>({"system", "getline", "|", ">", "@", "ARGV"});
  return std::ranges::none_of(kRuns, [&](std::string_view word) {
    for (std::size_t at = script.find(word); at != std::string_view::npos;
         at = script.find(word, at + 1)) {
      // `a || b` runs nothing.
      const char next = at + 1 < script.size() ? script[at + 1] : '\0';
      if (word == "|" && next == '|') {
        ++at;
        continue;
      }
      return true;
    }
    return false;
  });
}

}  // namespace sallyport::effects
