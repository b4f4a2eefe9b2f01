// Why a call does not simply run, and what would let it: all causes, and changes each of which was
// applied and decided again before it is said (WB-27, WB-28).
#pragma once

#include <string>
#include <vector>

#include "app/workbench/call_trial.h"
#include "app/workbench/policy_tree.h"

namespace sallyport::app {

// One unit, limit or fact that keeps a call from running.
struct Cause {
  std::string kind{};     // check, rule, unlisted, tier, grant, pin, guard, call
  std::string name{};     // of the check, rule, guard; where the tier comes from
  std::string place{};    // file:line:column of the policy text; empty: it is no part of it
  std::string verdict{};  // refused, shadow, proposed, asks
  std::string text{};

  bool operator==(const Cause&) const = default;
};

// In the order in which they are weighed; empty: the call runs. `seen` was decided with
// `Hearing::All`.
std::vector<Cause> causes_of(const core::Rehearsal& seen, const policy::Policy& policy,
                             const PolicyTree& tree);

// The unit that decides (WB-26). Also of a call that runs.
Cause decider_of(const core::Rehearsal& seen, const policy::Policy& policy, const PolicyTree& tree);

struct EditText {
  std::string place{};  // in the policy or in the input; empty: neither
  std::string text{};   // `on_fail: block -> log`
};

// Edits that together give the verdict; no one of them can be left out.
struct Change {
  std::string kind{};  // policy, input, world
  std::vector<EditText> edits{};
  std::string verdict{};  // as tried
};

// What lets the call run, cheapest first, at most three of each kind. Empty where it runs, and
// where nothing that was tried helps.
Result<std::vector<Change>> changes_for(const CallTrial& trial, const std::vector<Cause>& causes);

}  // namespace sallyport::app
