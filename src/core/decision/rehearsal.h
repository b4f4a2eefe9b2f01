// What would happen to a call, and why: the first door without its consequences.
//
// Real calls and rehearsals use the same function `decide` (WB-1, RU-78). A rehearsal notifies no
// hook, prepares nothing and writes nothing. The caller gives every input of the decision:
//
//   NoRecords facts;                          // or StoreReader (now), app::PastFacts (at a
//                                             // ledger size), or a reader of given values
//   ReadingRecorder records(facts);           // writes nothing
//   FixedPlan plans(plan);                    // made with the same records, clock and file view
//   Governor governor({plans, records, redactor, clock, entropy, KeyedDigest(key)});
//   co_await governor.rehearse(call, upstream);   // `call.setting` has front, folder, workspace
//
// `upstream` has what the server says about the tool: hints, definition, command.
#pragma once

#include <boost/json/object.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/plan/autonomy_rules.h"
#include "core/plan/call_rules.h"
#include "core/plan/grant_use.h"
#include "sallyport/approval.h"
#include "sallyport/audit_record.h"
#include "sallyport/call.h"

namespace sallyport::core {

// How much of a plan is asked.
enum class RehearsalScope {
  UntilRefused,  // as for a real call: what comes after a refusal is skipped
  All,           // every guard, the rules and the tiers, so that every cause is known (WB-27)
  Approved,      // as `UntilRefused`, and a person who is asked says yes
};

struct Rehearsal {
  Call call{};  // as it would run: with its final input after all guards
  bool rewritten = false;
  Classification classification{};
  std::string policy_hash{};
  std::vector<GuardRun> guard_runs{};
  std::optional<RuleAnswer> rules{};     // none: the policy has no rules
  std::vector<json::object> findings{};  // what guards found, each with its excerpt
  std::shared_ptr<const GrantUse> grant{};
  bool weighed = false;  // grants and guards allowed it, and the tiers were resolved
  bool tiered = false;   // its tier decides whether it runs by itself
  bool asked_by_guard = false;
  Autonomy tier = Autonomy::ActWithApproval;
  std::string tier_source{};
  std::vector<TierStep> tier_steps{};
  std::optional<std::string> refusal{};
  // The question to a person. No value: no person is needed.
  std::optional<Question> question{};
  std::chrono::seconds use_within{};  // how long a yes is valid

  bool runs() const { return !refusal && !question; }
};

}  // namespace sallyport::core
