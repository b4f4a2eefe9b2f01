#include "grants/patterns.h"

#include <vector>

#include "base/try.h"
#include "match/pattern_set.h"

namespace sallyport::grants {

namespace {

// Bytes for the automaton of one constraint; it changes no verdict.
constexpr std::size_t kRoom = std::size_t{1} << 20;

}  // namespace

Result<Patterns> Patterns::anywhere(std::span<const std::string> patterns) {
  std::vector<match::Rule> rules(1);
  for (const std::string& pattern : patterns) {
    rules.front().entries.push_back({.text = pattern});
  }
  SALLYPORT_TRY(std::shared_ptr<const match::PatternSet> set,
                match::PatternSet::compile(rules, kRoom));
  return Patterns(std::move(set));
}

Result<Patterns> Patterns::in_full(const std::string& pattern) {
  // Compiled alone first: `a)|(b` would be valid only inside our parentheses.
  SALLYPORT_CHECK_OK(anywhere(std::span(&pattern, 1)));
  const std::string whole = "\\A(?:" + pattern + ")\\z";
  return anywhere(std::span(&whole, 1));
}

bool Patterns::match(std::string_view text) const {
  return !set_->find(text).empty();
}

}  // namespace sallyport::grants
