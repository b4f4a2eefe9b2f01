// How much agents may do on their own: the policy of a plan, or a scope that library code, a
// session or a parent agent pushed (AT-2).
//
//   SALLYPORT_TRY(AutonomyPolicy policy, autonomy_policy_from_json(value, "autonomy"));
//   policy.tier_for({.agent = "deploy-bot", .tool = "write_file", .effect_class = "fs.write"});
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/classification.h"
#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport::autonomy {

// The action that a tier is looked up for: the agent, the tool and its class.
struct Action {
  std::string agent;
  std::string tool;
  std::string effect_class;
};

struct Budget {
  std::optional<std::uint64_t> max_per_hour;
  std::optional<std::uint64_t> max_per_day;

  bool operator==(const Budget&) const = default;
};

using TierTable = std::map<std::string, Autonomy, std::less<>>;

// The member of a policy that a tier came from, in the order of lookup (AT-3).
enum class TierMember { AgentActionTiers, AgentTiers, ActionTiers, AutonomyTier, Tier };
std::string_view to_string(TierMember member);

struct DeclaredTier {
  Autonomy tier = Autonomy::ActWithApproval;
  TierMember member = TierMember::Tier;

  bool operator==(const DeclaredTier&) const = default;
};

struct AutonomyPolicy {
  std::optional<std::string> agent_id{};
  std::optional<Autonomy> autonomy_tier{};
  std::optional<Autonomy> tier{};
  TierTable action_tiers{};  // by tool or by class
  TierTable agent_tiers{};
  std::map<std::string, TierTable, std::less<>> agent_action_tiers{};
  std::vector<std::string> reviewers{};  // empty: no reviewers are named
  bool requires_human = false;
  std::vector<std::string> requires_human_actions{};
  std::vector<std::string> requires_human_agents{};
  std::optional<std::uint64_t> quorum{};
  std::optional<std::uint64_t> deadline_s{};
  std::optional<std::uint64_t> use_within_s{};
  Budget budget{};
  std::optional<Autonomy> ceiling{};

  // No value: this policy sets no tier for the action.
  std::optional<DeclaredTier> tier_for(const Action& action) const;
  // The tier of the first table that lists the action (AT-3).
  std::optional<DeclaredTier> listed_tier(const Action& action) const;
  // True if a person is required for all, for this tool or class, or for this agent (AT-17).
  bool needs_human_for(const Action& action) const;

  bool operator==(const AutonomyPolicy&) const = default;
};

// `InvalidInput` names a member that is unknown, has the wrong type, or is forbidden by AT-32.
// `where` names the object in messages.
Result<AutonomyPolicy> autonomy_policy_from_json(const json::value& value,
                                                 std::string where = "autonomy");

}  // namespace sallyport::autonomy
