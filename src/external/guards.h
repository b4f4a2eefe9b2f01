// External programs as parts of a plan, with the rights that a function of the library has in the
// same place.
#pragma once

#include <memory>

#include "core/decision/rehearsal.h"
#include "core/plan/plan.h"
#include "external/entry.h"
#include "external/peer.h"
#include "external/scope.h"

namespace sallyport::external {

// Adds every entry to the plan. `host`: null: nothing is started, and a call that an entry would be
// asked about is undecided, which denies.
Result<void> add_to_plan(core::PlanBuilder& plan, const std::vector<Entry>& entries,
                         std::shared_ptr<const Scope> scope, std::shared_ptr<Host> host);

// The entries that would be asked before this call runs. A decision without them does not know
// their answers (`undecided: guard_not_ours`). If `around` is null, only the call itself is known.
std::vector<std::string> asked_about(const std::vector<Entry>& entries, const Scope& scope,
                                     const Call& call,
                                     const core::CallSurroundings* around = nullptr);

// The external guard whose answer this decision lacks (`undecided: guard_not_ours`). No value: the
// decision does not depend on it.
std::optional<std::string> missing_answer(const core::Rehearsal& now);

}  // namespace sallyport::external
