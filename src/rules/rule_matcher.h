// How rules match one call and each of its effects.
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

// For one decision, on one thread. Facts and effects must outlive it.
class RuleMatcher {
 public:
  RuleMatcher(const effects::CallFacts& facts, const effects::Effects& effects);

  const Scene& scene() const { return scene_; }

  // False: by its key alone, the rule matches no effect.
  bool may_meet(const RuleKey& rule) const;
  // False: the rule matches no effect. Most rules of a policy say nothing about a call, and this
  // finds that out without making a list.
  bool may_match(const Rule& rule, bool allowing) const;
  // One for each effect. `allowing`: as in an `allow` rule, else as in a restrictive one.
  std::vector<Match> matches(const Rule& rule, bool allowing) const;
  // Do all of these effects fit? Else what was wrong first.
  std::optional<std::string> misfit(const Alternative& alternative,
                                    const std::vector<std::size_t>& which) const;

 private:
  std::vector<Match> one_of(const std::vector<Conditions>& list, Match without, Side side,
                            bool allowing, bool opaque_is_unknown) const;
  // Of all paths of the call. Found when a rule first asks: the disk is read for it.
  std::uint64_t path_features() const;
  // The name of the condition that fails alone.
  std::string first_misfit(const Conditions& all, const SeenEffect& seen) const;

  Scene scene_;
  RuleKey to_allow_;
  RuleKey to_restrict_;
  std::vector<SeenEffect> seen_;
  mutable std::optional<std::uint64_t> path_features_;
};

}  // namespace sallyport::rules
