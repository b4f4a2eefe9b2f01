// The one function that decides about a call (WB-1, RU-78): grants, guards, rules, tiers. Real
// calls (`FirstDoor`) and rehearsals (`policy explain`, `policy test`, backtests) both use it. They
// differ only in its inputs.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/async.h"
#include "base/clock.h"
#include "core/decision/decision.h"
#include "core/decision/decision_facts.h"
#include "sallyport/event.h"

namespace sallyport::core {

// The inputs of a decision beside its plan and its call. `FirstDoor::look` reads them.
struct Circumstances {
  DecisionFacts& facts;  // of one moment of the ledger; all reads go there
  WallTime now{};        // for rules, tiers and budgets (WB-10)
  const Clock& clock;    // how long guards take
  std::stop_token cancel{};
  Preview preview{};
  std::vector<Finding> hidden{};  // commands that redaction hides in part
  // The call cannot be judged: its tool is unknown, or a hook refused. No guard is asked.
  std::optional<Refusal> unfit{};
  // Lets the tool prepare after the guards allow the call; then the preparation is decided too.
  // Null: the tool does not prepare, or this is a rehearsal.
  std::function<Async<void>()> prepare{};
  // Continues after a refusal: asks every guard, the rules and the tiers (WB-27).
  bool asks_all = false;
  std::vector<TierStep>* tier_steps = nullptr;  // for a caller that asks why; null: none
};

// Afterwards the decision is open, needs a person, or is refused with a reason, and every guard of
// the plan is listed once for each pass. It reads only `facts` of the ledger. It writes and emits
// nothing: `rows` collects the entries to write. Only guards that wait and `prepare` have effects.
Async<void> decide(Decision& decision, const Circumstances& seen);

// Lists all guards as skipped, for a decision that ended before any guard was asked.
void list_unreached(Decision& decision);

// The entry that tells followers of the outbox what would have run (LG-8).
Draft proposal_of(const Decision& decision);

}  // namespace sallyport::core
