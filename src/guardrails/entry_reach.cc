#include "guardrails/entry_reach.h"

#include "match/pattern_reach.h"

namespace sallyport::guardrails {

EntryReach reach_of_pattern(const Check& check, const std::string& pattern) {
  return static_cast<EntryReach>(match::reach_of({.text = pattern, .unicode = check.unicode}));
}
static_assert(static_cast<int>(EntryReach::Everything) ==
              static_cast<int>(match::Reach::Everything));

}  // namespace sallyport::guardrails
