// The rules of a policy and what they say of a call (section 2 of the rules page). One function
// decides for calls, `policy test` and `policy explain` (RU-78).
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
  std::vector<std::string> workspace{};  // of the policy; empty: what the host names
  effects::ToolBook book{};

  const Rule* find(std::string_view id) const;
  // All that decides, for the hash of the plan.
  json::object dump() const;
};

// From worst to best; `Free`: nothing that is tiered.
enum class RuleVerdict { Refused, Asks, Open, Allowed, Free };
std::string_view to_string(RuleVerdict verdict);

// A rule that matched an effect.
struct RuleMatch {
  const Rule* rule = nullptr;
  Then then = Then::Log;  // what the rule does to this effect
  Match match = Match::Yes;
  std::size_t effect = 0;  // its place in the effects

  bool operator==(const RuleMatch&) const = default;
};

struct RuleDecision {
  RuleVerdict verdict = RuleVerdict::Free;
  const Rule* rule = nullptr;  // that decided; null: none did
  std::string message{};       // of that rule, with its variables, or made of what matched
  std::string text{};          // what the agent receives (RU-71); empty: the call is not stopped
  bool all_free = true;        // no effect is tiered, whatever the verdict (RU-9)
  std::vector<RuleMatch> matches{};            // in the order of the file
  std::vector<RuleVerdict> effect_verdicts{};  // one for each effect
  Asking asking{};                             // of all `ask` rules that matched
  std::vector<const Rule*> logged{};
  std::vector<const Rule*> escalated{};  // `allow` and `log` rules that add an item to the queue
  std::vector<const Rule*> expired{};    // that match nothing any more
  // Rules that judge the result of this call: `when` holds or may hold (RU-62). In the order of the
  // file, each with the first effect that it matched.
  std::vector<RuleMatch> results{};
};

// `facts` and `effects` as `judge` makes them.
RuleDecision decide(const RuleSet& set, const effects::CallFacts& facts,
                    const effects::Effects& effects, WallTime now);

struct Judged {
  effects::Effects effects{};
  RuleDecision decision{};
};
// Finds the effects and decides. The workspace of the policy counts before that of the facts, and
// no disk is asked about files on another machine (RU-36, RU-42).
Judged judge(const RuleSet& set, const effects::CallFacts& facts, WallTime now);
// The facts as `judge` sees them.
effects::CallFacts seen_by(const RuleSet& set, const effects::CallFacts& facts);

// What becomes of a call under a tier (RU-6..RU-9): a verdict of WB-2, and the rule that decided
// it; null where the tier did. `observes`: the tool is not tiered whatever its effects are (AT-9).
struct CallOutcome {
  std::string_view verdict{};
  const Rule* rule = nullptr;
};
CallOutcome outcome_of(const RuleDecision& decision, Autonomy tier, bool observes);

// How one rule matches each effect of a call, as if it stood alone: for its examples.
std::vector<Match> matches_of(const Rule& rule, const effects::CallFacts& facts,
                              const effects::Effects& effects);

// `rules` of a record (RU-73), without the effects, which are sealed.
json::object record_of(const Judged& judged);
json::array effects_json(const effects::Effects& effects, const effects::CallFacts& facts);
json::array opaque_json(const effects::Effects& effects);

}  // namespace sallyport::rules
