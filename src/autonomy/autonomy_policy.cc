#include "autonomy/autonomy_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "autonomy/effect_table.h"
#include "autonomy/policy_reader.h"

namespace sallyport::autonomy {

namespace {

constexpr std::uint64_t kLongestDeadline = 7 * 24 * 3600;
// Every counted dispatch is remembered for a day.
constexpr std::uint64_t kLargestBudget = 100'000;

std::optional<Autonomy> find(const TierTable& table, std::string_view name) {
  const auto found = table.find(name);
  return found == table.end() ? std::nullopt : std::optional(found->second);
}

bool names(const std::vector<std::string>& list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

Budget budget_in(PolicyReader& in) {
  if (!in.has("budget")) return {};
  PolicyReader budget = in.inner("budget");
  budget.only({"max_per_hour", "max_per_day"});
  Budget read{.max_per_hour = budget.count("max_per_hour", 0, kLargestBudget),
              .max_per_day = budget.count("max_per_day", 0, kLargestBudget)};
  in.take_fault(budget);
  return read;
}

void check_ceiling(PolicyReader& in, const AutonomyPolicy& policy) {
  if (!policy.ceiling) return;
  const auto check = [&](std::optional<Autonomy> tier, const std::string& place) {
    if (tier && *tier > *policy.ceiling) {
      in.refuse(place, "is `" + std::string(to_string(*tier)) + "`, which is above the ceiling `" +
                           std::string(to_string(*policy.ceiling)) + "`");
    }
  };
  const auto check_table = [&](const TierTable& table, const std::string& place) {
    for (const auto& [name, tier] : table) check(tier, place + "." + name);
  };
  check(policy.autonomy_tier, "autonomy_tier");
  check(policy.tier, "tier");
  check_table(policy.action_tiers, "action_tiers");
  check_table(policy.agent_tiers, "agent_tiers");
  for (const auto& [agent, table] : policy.agent_action_tiers) {
    check_table(table, "agent_action_tiers." + agent);
  }
}

void check_quorum(PolicyReader& in, const AutonomyPolicy& policy) {
  if (policy.reviewers.empty()) return;
  // The agent cannot answer for its own calls (AP-13).
  const auto others = static_cast<std::uint64_t>(std::ranges::count_if(
      policy.reviewers, [&](const std::string& name) { return policy.agent_id != name; }));
  if (others == 0) return in.refuse("reviewers", "names only the agent itself");
  if (!policy.quorum || *policy.quorum <= others) return;
  in.refuse("quorum",
            fmt::format("is {}, but only {} named{}", *policy.quorum,
                        others == 1 ? "1 reviewer is" : fmt::format("{} reviewers are", others),
                        others < policy.reviewers.size() ? " besides the agent" : ""));
}

}  // namespace

std::string_view to_string(TierMember member) {
  constexpr std::array<std::string_view, 5> kNames = {"agent_action_tiers", "agent_tiers",
                                                      "action_tiers", "autonomy_tier", "tier"};
  return kNames[static_cast<std::size_t>(member)];
}

// A server chooses the names of its tools. One that is named like a class of effects does not get
// the tier that the policy means for that class, unless it is lower.
std::optional<DeclaredTier> AutonomyPolicy::tier_for(const Action& action) const {
  const std::optional<DeclaredTier> named = listed_tier(action);
  if (!named || action.tool == action.effect_class || !is_effect_class(action.tool)) return named;
  Action unnamed = action;
  unnamed.tool.clear();
  const std::optional<DeclaredTier> other = listed_tier(unnamed);
  // Without any tier the default applies, which is never above `act_auto`.
  const bool lower = other ? named->tier < other->tier : named->tier < Autonomy::ActAuto;
  return lower ? named : other;
}

std::optional<DeclaredTier> AutonomyPolicy::listed_tier(const Action& action) const {
  using enum TierMember;
  if (const auto own = agent_action_tiers.find(action.agent); own != agent_action_tiers.end()) {
    if (const auto found = find(own->second, action.tool)) return {{*found, AgentActionTiers}};
    if (const auto found = find(own->second, action.effect_class)) {
      return {{*found, AgentActionTiers}};
    }
  }
  if (const auto found = find(agent_tiers, action.agent)) return {{*found, AgentTiers}};
  if (const auto found = find(action_tiers, action.tool)) return {{*found, ActionTiers}};
  if (const auto found = find(action_tiers, action.effect_class)) return {{*found, ActionTiers}};
  if (autonomy_tier) return {{*autonomy_tier, AutonomyTier}};
  if (tier) return {{*tier, Tier}};
  return std::nullopt;
}

bool AutonomyPolicy::needs_human_for(const Action& action) const {
  return requires_human || names(requires_human_actions, action.tool) ||
         names(requires_human_actions, action.effect_class) ||
         names(requires_human_agents, action.agent);
}

Result<AutonomyPolicy> autonomy_policy_from_json(const json::value& value, std::string where) {
  PolicyReader in(value, std::move(where));
  in.only({"agent_id", "autonomy_tier", "tier", "action_tiers", "agent_tiers", "agent_action_tiers",
           "reviewers", "requires_human", "requires_human_actions", "requires_human_agents",
           "quorum", "deadline_s", "use_within_s", "budget", "ceiling"});
  AutonomyPolicy policy;
  policy.agent_id = in.name("agent_id");
  policy.autonomy_tier = in.tier("autonomy_tier");
  policy.tier = in.tier("tier");
  policy.action_tiers = in.action_tiers("action_tiers");
  policy.agent_tiers = in.agent_tiers("agent_tiers");
  policy.agent_action_tiers = in.agent_action_tiers("agent_action_tiers");
  policy.reviewers = in.names("reviewers");
  policy.requires_human = in.flag("requires_human");
  policy.requires_human_actions = in.actions("requires_human_actions");
  policy.requires_human_agents = in.agents("requires_human_agents");
  policy.quorum = in.count("quorum", 1, 1000);
  policy.deadline_s = in.count("deadline_s", 1, kLongestDeadline);
  policy.use_within_s = in.count("use_within_s", 1, kLongestDeadline);
  policy.budget = budget_in(in);
  policy.ceiling = in.tier("ceiling");
  check_quorum(in, policy);
  check_ceiling(in, policy);
  if (!in.ok()) return std::unexpected(in.error());
  return policy;
}

}  // namespace sallyport::autonomy
