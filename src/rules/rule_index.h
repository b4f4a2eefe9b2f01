// What a rule needs of a call, in a few words of bits: most rules of a policy say nothing about a
// call, and are passed over without being read (RU-78). A bit stands for all names of one hash, so
// a key says `no` only where no name fits.
#pragma once

#include <cstdint>

#include "effects/call_facts.h"
#include "effects/effect.h"
#include "rules/rule_set.h"

namespace sallyport::rules {

struct RuleKey {
  static constexpr std::uint64_t kAll = ~std::uint64_t{0};
  static constexpr std::uint64_t kUnasked = std::uint64_t{1} << 63;  // every call has this bit

  std::uint64_t agents = kUnasked;
  std::uint64_t servers = kUnasked;
  std::uint64_t tools = kUnasked;
  std::uint64_t classes = kUnasked;
  std::uint64_t programs = kUnasked;
  std::uint64_t parts = kUnasked;  // a path, a host
  std::uint64_t paths = kUnasked;  // features of paths; of a call they are asked for by themselves
  bool allowing = false;           // the rule only allows
  bool expires = false;
};

// An `allow` rule without `only`.
constexpr bool allows_only(const Rule& rule) {
  return !rule.has_only() && rule.then == Then::Allow;
}
RuleKey key_of(const Rule& rule);

// The keys of all rules of a set, in order. Empty: every rule is read.
using RuleIndex = std::vector<RuleKey>;
RuleIndex index_of(const RuleSet& set);
// Decides as `decide` does without an index.
RuleDecision decide(const RuleSet& set, const RuleIndex& index, const effects::CallFacts& facts,
                    const effects::Effects& effects, WallTime now);

// Of a call with its effects, as an `allow` rule or a restrictive one sees them: to the latter an
// opaque effect may be anything (RU-55), to the former it is nothing.
RuleKey key_of(const effects::CallFacts& facts, const effects::Effects& effects, bool allowing);

// False: the rule does not match the call. Without branches: what a rule fails by differs from rule
// to rule, and a wrong guess costs more than all six comparisons.
constexpr bool may_meet(const RuleKey& rule, const RuleKey& call) {
  const auto meets = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<unsigned>((a & b) != 0);
  };
  return (meets(rule.agents, call.agents) & meets(rule.servers, call.servers) &
          meets(rule.tools, call.tools) & meets(rule.classes, call.classes) &
          meets(rule.programs, call.programs) & meets(rule.parts, call.parts)) != 0;
}

}  // namespace sallyport::rules
