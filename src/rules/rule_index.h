// A bit mask of what a rule requires of a call. Rules that do not concern a call are skipped
// without reading them (RU-78). Names with the same hash share a bit, so a mismatch is always
// certain and a match is not.
#pragma once

#include <cstdint>

#include "effects/call_facts.h"
#include "effects/effect.h"
#include "rules/rule_set.h"

namespace sallyport::rules {

struct RuleKey {
  static constexpr std::uint64_t kAll = ~std::uint64_t{0};
  static constexpr std::uint64_t kNoCondition = std::uint64_t{1} << 63;  // every call has it

  std::uint64_t agents = kNoCondition;
  std::uint64_t servers = kNoCondition;
  std::uint64_t tools = kNoCondition;
  std::uint64_t classes = kNoCondition;
  std::uint64_t programs = kNoCondition;
  std::uint64_t parts = kNoCondition;  // a path or a host
  std::uint64_t paths = kNoCondition;  // features of paths; for a call they are computed separately
  bool allowing = false;               // the rule only allows
  bool expires = false;
};

// True for an `allow` rule without `only`.
constexpr bool allows_only(const Rule& rule) {
  return !rule.has_only() && rule.then == Then::Allow;
}
RuleKey key_of(const Rule& rule);

// The keys of all rules of a set, in order. If it is empty, every rule is read.
using RuleIndex = std::vector<RuleKey>;
RuleIndex index_of(const RuleSet& set);
// Same result as `decide` without an index.
RuleDecision decide(const RuleSet& set, const RuleIndex& index, const effects::CallFacts& facts,
                    const effects::Effects& effects, WallTime now);

// The key of a call with its effects, for `allow` rules or for restrictive ones. An opaque effect
// may be anything for a restrictive rule (RU-55), and nothing for an `allow` rule.
RuleKey key_of(const effects::CallFacts& facts, const effects::Effects& effects, bool allowing);

// False if the rule cannot match the call. Has no branches: a mispredicted branch costs more than
// all six comparisons.
constexpr bool may_meet(const RuleKey& rule, const RuleKey& call) {
  const auto meets = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<unsigned>((a & b) != 0);
  };
  return (meets(rule.agents, call.agents) & meets(rule.servers, call.servers) &
          meets(rule.tools, call.tools) & meets(rule.classes, call.classes) &
          meets(rule.programs, call.programs) & meets(rule.parts, call.parts)) != 0;
}

}  // namespace sallyport::rules
