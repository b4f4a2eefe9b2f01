// The rules of a policy inside a plan. The first door calls `judge`.
#pragma once

#include "core/plan/call_rules.h"
#include "rules/disk_view.h"
#include "rules/rule_index.h"

namespace sallyport::rules {

class PlanRules final : public core::CallRules {
 public:
  // If `files` is null, rules see the disk of this machine.
  PlanRules(RuleSet set, effects::Machine machine, const effects::FileView* files = nullptr)
      : set_(std::move(set)),
        index_(index_of(set_)),
        machine_(std::move(machine)),
        files_(files ? files : &disk_) {}
  PlanRules(const PlanRules&) = delete;

  core::RuleAnswer judge(const core::RuleQuestion& question) const override;
  bool judges_results() const override;
  json::object dump() const override { return set_.dump(); }

  const RuleSet& set() const { return set_; }
  // The facts that `judge` uses.
  effects::CallFacts facts_of(const core::RuleQuestion& question) const;

 private:
  RuleSet set_;
  RuleIndex index_;
  effects::Machine machine_;
  DiskView disk_;
  const effects::FileView* files_;
};

}  // namespace sallyport::rules
