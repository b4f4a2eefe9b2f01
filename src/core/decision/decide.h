// The one function that decides about a call (WB-1, RU-78): grants, guards, rules, tiers. A call that
// is made runs through it (`FirstDoor`), and so does a rehearsal (`policy explain`, `policy test`,
// backtests). What differs between them is an input.
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
  std::vector<Finding> hidden{};  // commands that redaction hides a part of
  // The call cannot be judged: its tool is unknown, or a hook refused. No guard is asked.
  std::optional<Refusal> unfit{};
  // Lets the tool prepare after the guards allow the call; the preparation is decided about too.
  // Null: the tool does not prepare, or this is a rehearsal.
  std::function<Async<void>()> prepare{};
  // Continues after a refusal: asks every guard, the rules and the tiers (WB-27).
  bool hears_all = false;
  std::vector<TierStep>* tier_steps = nullptr;  // for a caller that asks why; null: none
};

// Afterwards the decision is open, needs a person, or is refused with a reason, and every guard of
// the plan is listed once for each pass. It reads `facts` and nothing else of the ledger, writes
// nothing and emits nothing: `rows` has what is to be written. It acts only through guards that
// wait, and through `prepare`.
Async<void> decide(Decision& decision, const Circumstances& seen);

// Lists all guards as skipped, for a decision that ended before any guard was asked.
void list_unreached(Decision& decision);

// Tells programs that follow the outbox what would have run (LG-8).
void propose(Decision& decision);

}  // namespace sallyport::core
