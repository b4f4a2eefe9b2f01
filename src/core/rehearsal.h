// What would become of a call, and why: the first door without its consequences.
#pragma once

#include <boost/json/object.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/autonomy_rules.h"
#include "core/call_rules.h"
#include "core/grant_use.h"
#include "sallyport/approval.h"
#include "sallyport/audit_record.h"
#include "sallyport/call.h"

namespace sallyport::core {

struct Rehearsal {
  Call call{};  // as it would run: with the input as the guards left it
  bool rewritten = false;
  Classification classification{};
  std::string policy_hash{};
  std::vector<GuardRun> guard_runs{};
  std::optional<RuleAnswer> rules{};     // none: the policy has no rules
  std::vector<json::object> findings{};  // what guards found, each with its excerpt
  std::shared_ptr<const GrantUse> grant{};
  bool weighed = false;  // grants and guards let it come as far as the tiers
  Autonomy tier = Autonomy::ActWithApproval;
  std::string tier_source{};
  std::vector<TierStep> tier_steps{};
  std::optional<std::string> refusal{};
  // What a person would be asked; none: nobody needs to be.
  std::optional<Question> question{};
  std::chrono::seconds use_within{};

  bool runs() const { return !refusal && !question; }
};

}  // namespace sallyport::core
