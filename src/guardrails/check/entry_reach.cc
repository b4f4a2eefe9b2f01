#include "guardrails/check/entry_reach.h"

#include <algorithm>

#include "match/pattern_cover.h"
#include "match/pattern_reach.h"

namespace sallyport::guardrails {

EntryReach reach_of_pattern(const Check& check, const std::string& pattern) {
  return static_cast<EntryReach>(match::reach_of({.text = pattern, .unicode = check.unicode}));
}
bool is_covered(const Check& check, const std::string& entry,
                const std::vector<std::string>& others) {
  const bool words = check.type == CheckType::Blocklist;
  const auto expression = [&](const std::string& text) {
    return match::Expression{
        .kind = words ? match::Expression::Kind::Word : match::Expression::Kind::Pattern,
        .text = text,
        .unicode = check.unicode,
        .caseless = words && !check.case_sensitive,
        .whole_word = words && check.whole_word};
  };
  std::vector<match::Expression> wide;
  for (const std::string& other : others) wide.push_back(expression(other));
  // Each state of the search has a part for each of the others.
  constexpr std::size_t kMostStates = 4'000;
  const std::size_t most = kMostStates / std::max<std::size_t>(1, others.size() / 4);
  return match::covered_by(expression(entry), wide, most) == match::Cover::Yes;
}
static_assert(static_cast<int>(EntryReach::Everything) ==
              static_cast<int>(match::Reach::Everything));

}  // namespace sallyport::guardrails
