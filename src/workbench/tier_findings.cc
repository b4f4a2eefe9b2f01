#include "workbench/tier_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "autonomy/effect_table.h"
#include "base/json_pointer.h"
#include "base/wildcard.h"
#include "config/yaml_json.h"
#include "effects/profiles.h"
#include "hook/dialect.h"

namespace sallyport::app {

namespace {

using autonomy::AutonomyPolicy;

class TierLint {
 public:
  explicit TierLint(const PolicyToLint& linted) : linted_(linted) {}

  std::vector<PolicyFinding> run() {
    const policy::Policy& policy = *linted_.policy;
    if (policy.autonomy) {
      tiers("/autonomy", *policy.autonomy);
      idle_rows(*policy.autonomy);
    }
    for (std::size_t i = 0; i < policy.scopes.size(); ++i) {
      tiers(fmt::format("/scopes/{}/autonomy", i), policy.scopes[i].policy);
    }
    if (const config::YamlNode* const approvals = linted_.tree.root.find("approvals")) {
      if (const config::YamlNode* const pairs = approvals->find("dual_control")) {
        for (std::size_t i = 0; i < pairs->items.size(); ++i) {
          action(fmt::format("/approvals/dual_control/{}", i), pairs->items[i].text, false);
        }
      }
    }
    quorums();
    return std::move(found_);
  }

 private:
  void find(std::string code, std::string place, std::string text, std::string dead,
            bool is_error = false) {
    found_.push_back(
        {std::move(code), is_error, std::move(place), std::move(text), dead_by(std::move(dead))});
  }

  void tiers(const std::string& section, const AutonomyPolicy& tiers) {
    for (const auto& [name, tier] : tiers.action_tiers) {
      action(pointer_to(section + "/action_tiers", name), name);
    }
    for (const auto& [agent, table] : tiers.agent_action_tiers) {
      const std::string at = pointer_to(section + "/agent_action_tiers", agent);
      if (excluded(agent, place_in(linted_, at, true))) continue;
      for (const auto& [name, tier] : table) action(pointer_to(at, name), name);
    }
    for (const auto& [agent, tier] : tiers.agent_tiers) {
      excluded(agent, place_in(linted_, pointer_to(section + "/agent_tiers", agent), true));
    }
    for (std::size_t i = 0; i < tiers.requires_human_actions.size(); ++i) {
      action(fmt::format("{}/requires_human_actions/{}", section, i),
             tiers.requires_human_actions[i], false);
    }
    for (std::size_t i = 0; i < tiers.requires_human_agents.size(); ++i) {
      excluded(tiers.requires_human_agents[i],
               place_in(linted_, fmt::format("{}/requires_human_agents/{}", section, i)));
    }
  }

  // A policy for one agent refuses all others, so their rows are never read (AT-10).
  bool excluded(const std::string& agent, const std::string& place) {
    const auto& base = linted_.policy->autonomy;
    if (!base || !base->agent_id || *base->agent_id == agent) return false;
    find("unknown_agent", place,
         fmt::format("the policy is for the agent `{}`, so the row of `{}` is never read",
                     *base->agent_id, agent),
         fmt::format("autonomy.agent_id {}", *base->agent_id));
    return true;
  }

  // A row for a tool or a class. `is_key`: the name is the key of the row.
  void action(const std::string& at, const std::string& name, bool is_key = true) {
    if (only_observes(name)) {
      return find("observe_tier", place_in(linted_, at, is_key),
                  fmt::format("`{}` only observes, and such tools have no tier", name),
                  fmt::format("tool {}", name));
    }
    if (is_class_of_calls(name) || is_known_tool(linted_, name)) return;
    find("unreachable_tier", place_in(linted_, at, is_key),
         autonomy::is_effect_class(name)
             ? fmt::format("`{}` is a class of effects that only rules see: no tool has it, so the "
                           "row is never read",
                           name)
             : fmt::format("no profile, no entry of `tools` and no class is called `{}`", name),
         "tools");
  }

  // Tiers look at the class of a tool, which a table or the policy gives (AT-21), and not at the
  // effects that rules find.
  bool is_class_of_calls(const std::string& name) const {
    if (name == "unknown") return true;
    for (const autonomy::EffectRow& row : autonomy::effect_rows()) {
      if (row.effect.effect_class == name) return true;
    }
    for (const std::string& agent : hook::dialect_names()) {
      for (const hook::HostTool& tool : hook::dialect_named(agent)->tools()) {
        if (tool.tier == Tier::Confirm && tool.effect_class == name) return true;
      }
    }
    return std::ranges::any_of(linted_.policy->tools, [&](const policy::ToolEntry& entry) {
      return entry.classification.effect_class == name;
    });
  }

  // True if the tool only observes, on every server that the policy names.
  bool only_observes(const std::string& tool) const {
    bool named = false;
    for (const policy::ToolEntry& entry : linted_.policy->tools) {
      if (entry.tool != tool) continue;
      named = named || entry.server.empty();
      if (entry.classification.tier != Tier::Observe) return false;
    }
    return named;
  }

  // Rows of agents without effect: a cap lowers their tier to the one that holds without the row.
  void idle_rows(const AutonomyPolicy& tiers) {
    // A row keeps its agent from the rows of actions, which a promotion does not replace (AT-5).
    if (!tiers.action_tiers.empty()) return;
    const Autonomy base =
        tiers.autonomy_tier.value_or(tiers.tier.value_or(Autonomy::ActWithApproval));
    for (const auto& [agent, tier] : tiers.agent_tiers) {
      if (tiers.agent_id && *tiers.agent_id != agent) continue;
      const bool human =
          tiers.requires_human || std::ranges::find(tiers.requires_human_agents, agent) !=
                                      tiers.requires_human_agents.end();
      Autonomy cap = tiers.ceiling.value_or(Autonomy::ActAuto);
      if (human) cap = std::min(cap, Autonomy::ActWithApproval);
      const bool capped = tiers.ceiling || human;
      if (!capped || tier < cap || base < cap) continue;
      const bool by_human = human && cap == Autonomy::ActWithApproval && tiers.ceiling != cap;
      find("idle_tier", place_in(linted_, pointer_to("/autonomy/agent_tiers", agent), true),
           by_human ? fmt::format("`{}` needs a person with and without this row", agent)
                    : fmt::format("the ceiling `{}` holds for `{}` with and without this row",
                                  to_string(cap), agent),
           by_human ? std::string("autonomy.requires_human")
                    : fmt::format("autonomy.ceiling {}", to_string(cap)));
    }
  }

  // The people who may approve, if the policy says who. The agent is none of them (AP-13).
  std::optional<std::set<std::string>> people() const {
    const auto& tiers = linted_.policy->autonomy;
    const auto& approvals = linted_.policy->approvals;
    std::vector<std::string> names;
    if (approvals && !approvals->reviewers.empty()) {
      names = approvals->reviewers;
    } else if (tiers && !tiers->reviewers.empty()) {
      names = tiers->reviewers;
    } else if (approvals && approvals->people) {
      names = approvals->people->with_role("approver");
    }
    if (names.empty()) return std::nullopt;
    std::set<std::string> all(names.begin(), names.end());
    if (tiers && tiers->agent_id) all.erase(*tiers->agent_id);
    return all;
  }

  void quorums() {
    if (!linted_.policy->rules) return;
    const std::optional<std::set<std::string>> people = this->people();
    for (const rules::Rule& rule : linted_.policy->rules->rules) {
      const rules::ApprovalTerms& asking = rule.asking;
      const std::uint64_t needed =
          std::max<std::uint64_t>(asking.quorum.value_or(1), asking.dual_control ? 2 : 1);
      std::set<std::string> left(asking.reviewers.begin(), asking.reviewers.end());
      if (left.empty() && (!people || rule.then != rules::Then::Ask)) continue;
      if (left.empty()) {
        left = *people;
      } else if (people) {
        std::erase_if(left, [&](const std::string& name) { return !people->contains(name); });
      }
      if (needed <= left.size()) continue;
      find("quorum", rule.place,
           fmt::format("rule `{}` needs {} approvals, and {} {} approve", rule.id, needed,
                       left.size(), asking.reviewers.empty() ? "may" : "of its reviewers may"),
           "reviewers", true);
    }
  }

  const PolicyToLint& linted_;
  std::vector<PolicyFinding> found_;
};

}  // namespace

std::vector<PolicyFinding> tier_findings(const PolicyToLint& linted) {
  return TierLint(linted).run();
}

std::string place_in(const PolicyToLint& linted, const std::string& pointer, bool key) {
  const std::string section = pointer.substr(1, pointer.find('/', 1) - 1);
  return place_of(config::node_at(linted.tree.root, pointer, key), linted.tree.file_of(section));
}

bool is_known_tool(const PolicyToLint& linted, const std::string& pattern) {
  const auto fits = [&](std::string_view tool) {
    return fits_wildcard(pattern, tool) || fits_wildcard(tool, pattern);
  };
  for (const effects::ProfileTool& row : effects::profile_tools()) {
    if (fits(row.tool)) return true;
  }
  for (const autonomy::EffectRow& row : autonomy::effect_rows()) {
    if (std::ranges::any_of(row.names, fits)) return true;
  }
  for (const autonomy::Profile& profile : autonomy::profiles()) {
    if (std::ranges::any_of(profile.observing, fits)) return true;
  }
  if (linted.policy == nullptr) return false;
  return std::ranges::any_of(linted.policy->tools,
                             [&](const policy::ToolEntry& entry) { return fits(entry.tool); });
}

json::object dead_by(std::string unit) {
  return {{"dead", std::move(unit)}};
}

}  // namespace sallyport::app
