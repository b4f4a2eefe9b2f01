// Matches rules against one call and each of its effects.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "effects/call_facts.h"
#include "effects/effect.h"
#include "rules/condition.h"
#include "rules/rule.h"
#include "rules/rule_index.h"

namespace sallyport::rules {

// Used for one decision, on one thread. `facts` and `effects` must outlive it.
class RuleMatcher {
 public:
  RuleMatcher(const effects::CallFacts& facts, const effects::Effects& effects);

  const Scene& scene() const { return scene_; }

  // False if the key already shows that the rule matches no effect.
  bool may_meet(const RuleKey& rule) const;
  // False if the rule matches no effect. Cheaper than `matches`, because it makes no list.
  bool may_match(const Rule& rule, bool allowing) const;
  // The match of each effect, as for an `allow` rule (`allowing`) or for a restrictive one.
  std::vector<Match> matches(const Rule& rule, bool allowing) const;
  // The first condition that one of these effects fails. No value: all of them fit.
  std::optional<std::string> misfit(const Alternative& alternative,
                                    const std::vector<std::size_t>& which) const;

 private:
  std::vector<Match> one_of(const std::vector<Conditions>& list, Match without, Side side,
                            bool allowing, bool opaque_is_unknown) const;
  // The features of all paths of the call. Computed on first use, because it reads the disk.
  std::uint64_t path_features() const;
  // The name of the first condition that fails; `conditions` if none fails alone.
  std::string first_misfit(const Conditions& all, const SeenEffect& seen) const;

  Scene scene_;
  RuleKey to_allow_;
  RuleKey to_restrict_;
  std::vector<SeenEffect> seen_;
  mutable std::optional<std::uint64_t> path_features_;
};

}  // namespace sallyport::rules
