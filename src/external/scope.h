// Decides which calls an entry is asked about, and finds their effects. Uses the conditions of
// rules, also for a policy without rules.
#pragma once

#include <boost/json/array.hpp>

#include "core/plan/guard.h"
#include "external/entry.h"
#include "rules/plan_rules.h"

namespace sallyport::external {

// Immutable; any thread.
class Scope {
 public:
  // `set`: tools, servers and workspace of the policy; its rules are ignored.
  Scope(rules::RuleSet set, effects::Machine machine, const effects::FileView* files = nullptr)
      : workspaces_(rules::usable_workspace(set.workspace, machine.home)),
        rules_(std::move(set), std::move(machine), files) {}

  struct Seen {
    bool asked = true;      // the conditions of the entry hold, or may hold
    json::array effects{};  // of the call
    std::vector<std::string> workspaces{};
    std::optional<std::string> cwd{};
  };
  // An approver answers only where the conditions hold for certain, for every effect.
  Seen look(const Entry& entry, const Call& call, const core::CallSurroundings* around) const;

  // The part of the conditions that does not depend on an input.
  bool concerns(const Entry& entry, const Call& call) const;

  // The workspace of the policy.
  const std::vector<std::string>& workspaces() const { return workspaces_; }

 private:
  std::vector<std::string> workspaces_;
  rules::PlanRules rules_;
};

}  // namespace sallyport::external
