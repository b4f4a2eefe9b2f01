// The rules of a policy and their decision on a call (docs/rules.md). One function decides for
// calls, `policy test` and `policy explain` (RU-78).
//
//   const Judged judged = judge(set, facts, now);
//   judged.decision.verdict;   // Verdict::Refused
//   judged.decision.text;      // Blocked by rule `no-wipe`: Delete folders only inside ...
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "effects/call_facts.h"
#include "effects/effect.h"
#include "effects/tool_effects.h"
#include "rules/rule.h"
#include "sallyport/classification.h"

namespace sallyport::rules {

enum class Unlisted { Ask, Deny };

struct RuleSet {
  std::vector<Rule> rules{};
  std::optional<Unlisted> unlisted{};
  std::vector<std::string> workspace{};  // of the policy; empty: the host's workspace counts
  effects::ToolBook book{};

  const Rule* find(std::string_view id) const;
  // Everything that affects decisions, for the hash of the plan.
  json::object dump() const;
};

// From worst to best. `Free`: an effect that is not tiered.
enum class RuleVerdict { Refused, Asks, Open, Allowed, Free };
std::string_view to_string(RuleVerdict verdict);

// A rule that matched an effect.
struct RuleMatch {
  const Rule* rule = nullptr;
  Then then = Then::Log;  // what the rule does to this effect
  Match match = Match::Yes;
  std::size_t effect = 0;  // its index in the effects

  bool operator==(const RuleMatch&) const = default;
};

struct RuleDecision {
  RuleVerdict verdict = RuleVerdict::Free;
  const Rule* rule = nullptr;  // the rule that decided; null: none
  std::string message{};  // of that rule with variables replaced, or made from the matched effect
  std::string text{};     // what the agent receives (RU-71); empty: the call is not stopped
  bool all_free = true;   // no effect is tiered, independent of the verdict (RU-9)
  std::vector<RuleMatch> matches{};            // in the order of the file
  std::vector<RuleVerdict> effect_verdicts{};  // one for each effect
  ApprovalTerms asking{};                      // combined from all matching `ask` rules
  std::vector<const Rule*> logged{};
  std::vector<const Rule*> escalated{};  // `allow` and `log` rules that add to the queue
  std::vector<const Rule*> expired{};    // rules that no longer match
  // Rules that judge the result of this call, because `when` holds or may hold (RU-62). In the
  // order of the file, each with the first effect that it matched.
  std::vector<RuleMatch> results{};
};

// `facts` and `effects` must be as `judge` makes them.
RuleDecision decide(const RuleSet& set, const effects::CallFacts& facts,
                    const effects::Effects& effects, WallTime now);

struct Judged {
  effects::Effects effects{};
  RuleDecision decision{};
};
// Computes the effects and decides. The workspace of the policy takes precedence over that of the
// facts. The disk is not read for files on another machine (RU-36, RU-42).
Judged judge(const RuleSet& set, const effects::CallFacts& facts, WallTime now);
// The facts that `judge` uses.
effects::CallFacts seen_by(const RuleSet& set, const effects::CallFacts& facts);

// The outcome of a call under a tier (RU-6..RU-9): a verdict of WB-2 and the rule that decided it,
// or null if the tier did. `observes`: the tool is never tiered (AT-9).
struct CallOutcome {
  std::string_view verdict{};
  const Rule* rule = nullptr;
};
CallOutcome outcome_of(const RuleDecision& decision, Autonomy tier, bool observes);

// How a single rule matches each effect of a call. Used for its examples.
std::vector<Match> matches_of(const Rule& rule, const effects::CallFacts& facts,
                              const effects::Effects& effects);

// The member `rules` of a record (RU-73), without the effects, which are sealed.
json::object record_of(const Judged& judged);
json::array effects_json(const effects::Effects& effects, const effects::CallFacts& facts);
json::array opaque_json(const effects::Effects& effects);

}  // namespace sallyport::rules
