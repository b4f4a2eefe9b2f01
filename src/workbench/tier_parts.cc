#include "workbench/tier_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>

#include "base/json_pointer.h"
#include "base/smaller_of.h"
#include "workbench/tier_source.h"

namespace sallyport::app {

namespace {

using autonomy::AutonomyPolicy;
using autonomy::TierMember;

// The section `autonomy` of the policy, or of a scope around the call.
struct Section {
  std::string at;
  const AutonomyPolicy* tiers = nullptr;
};

bool used_up(std::string_view about, std::string_view window) {
  const std::size_t end = about.find(fmt::format(" in the last {}", window));
  if (end == std::string_view::npos) return false;
  std::string_view counts = about.substr(0, end);  // it ends with `USED of LIMIT`
  if (const std::size_t comma = counts.rfind(", "); comma != std::string_view::npos) {
    counts.remove_prefix(comma + 2);
  }
  std::uint64_t used = 0;
  std::uint64_t limit = 0;
  const auto number = [&](std::uint64_t& out) {
    const auto [after, code] = std::from_chars(counts.data(), counts.data() + counts.size(), out);
    counts.remove_prefix(static_cast<std::size_t>(after - counts.data()));
    return code == std::errc();
  };
  if (!number(used) || !counts.starts_with(" of ")) return false;
  counts.remove_prefix(4);
  return number(limit) && used >= limit;
}

class TierParts {
 public:
  TierParts(const core::TierStep& step, const core::Rehearsal& seen, const policy::Policy& policy,
            const PolicyTree& tree)
      : step_(step),
        action_{seen.call.agent_id, seen.call.tool, seen.classification.effect_class},
        tree_(tree) {
    if (policy.autonomy) base_.tiers = &*policy.autonomy;
    for (std::size_t i = 0; i < policy.scopes.size(); ++i) {
      const autonomy::PolicyScope& scope = policy.scopes[i];
      if (!scope.covers(seen.call)) continue;
      scopes_.push_back({fmt::format("/scopes/{}/autonomy", i), &scope.policy});
    }
  }

  std::vector<TierPart> all() {
    find();
    if (found_.empty()) add("");
    return std::move(found_);
  }

 private:
  void add(std::string pointer) { add(std::move(pointer), step_.tier); }
  void add(std::string pointer, Autonomy tier) { found_.push_back({std::move(pointer), tier}); }
  void add_if_there(std::string pointer) {
    if (tree_.at(pointer) != nullptr) add(std::move(pointer));
  }

  void find() {
    using autonomy::Source;
    const std::optional<TierSource> source = tier_source_from(step_.source);
    if (!source) return;
    switch (*source) {
      case Source::AgentActionTiers:
        return row(TierMember::AgentActionTiers);
      case Source::AgentTiers:
        return row(TierMember::AgentTiers);
      case Source::ActionTiers:
        return row(TierMember::ActionTiers);
      case Source::AutonomyTier:
      case Source::Tier:
      case Source::Ceiling:
        return add_if_there(base_.at + "/" + step_.source);
      case Source::Trust:
        return add_if_there("/trust/enforce");
      case Source::Scope:
        for (const Section& one : scopes_) scope(one);
        return;
      case Source::RequiresHuman:
        people(base_);
        for (const Section& one : scopes_) people(one);
        return;
      case Source::Budget:
        return budgets();
      default:
        return;
    }
  }

  void row(TierMember member) {
    if (base_.tiers == nullptr) return;
    add_if_there(row_in(base_, member, step_.tier));
  }

  // A row is named by the tool or by its class. The one that has the tier counts (AT-3).
  std::string row_in(const Section& section, TierMember member, Autonomy tier) const {
    const std::string table = fmt::format("{}/{}", section.at, autonomy::to_string(member));
    const auto in = [&](const autonomy::TierTable& rows, const std::string& place) {
      const auto tool = rows.find(action_.tool);
      const bool by_tool = tool != rows.end() && tool->second == tier;
      return pointer_to(place, by_tool ? action_.tool : action_.effect_class);
    };
    switch (member) {
      case TierMember::AgentActionTiers: {
        const auto own = section.tiers->agent_action_tiers.find(action_.agent);
        if (own == section.tiers->agent_action_tiers.end()) return {};
        return in(own->second, pointer_to(table, action_.agent));
      }
      case TierMember::AgentTiers:
        return pointer_to(table, action_.agent);
      case TierMember::ActionTiers:
        return in(section.tiers->action_tiers, table);
      case TierMember::AutonomyTier:
      case TierMember::Tier:
        return table;
    }
    return {};
  }

  void scope(const Section& section) {
    if (const auto declared = section.tiers->tier_for(action_)) {
      add(row_in(section, declared->member, declared->tier), declared->tier);
    }
    if (section.tiers->ceiling) add(section.at + "/ceiling", *section.tiers->ceiling);
  }

  void people(const Section& section) {
    const json::value* const all = tree_.at(section.at + "/requires_human");
    if (all != nullptr && *all == json::value(true)) add(section.at + "/requires_human");
    listed(section.at + "/requires_human_actions", {action_.tool, action_.effect_class});
    listed(section.at + "/requires_human_agents", {action_.agent});
  }

  void listed(const std::string& list, const std::vector<std::string>& names) {
    const json::value* const all = tree_.at(list);
    if (all == nullptr || !all->is_array()) return;
    for (std::size_t i = 0; i < all->get_array().size(); ++i) {
      const json::value& item = all->get_array()[i];
      const bool counts = std::ranges::any_of(
          names, [&](const std::string& name) { return item == json::value(name); });
      if (counts) add(fmt::format("{}/{}", list, i));
    }
  }

  // The budgets with the smallest limit of a window that is used up.
  void budgets() {
    std::vector<Section> sections = scopes_;
    if (base_.tiers != nullptr) sections.insert(sections.begin(), base_);
    std::optional<std::uint64_t> hour, day;
    for (const Section& one : sections) {
      hour = smaller_of(hour, one.tiers->budget.max_per_hour);
      day = smaller_of(day, one.tiers->budget.max_per_day);
    }
    for (const Section& one : sections) {
      const autonomy::Budget& own = one.tiers->budget;
      const bool counts =
          (own.max_per_hour && own.max_per_hour == hour && used_up(step_.about, "hour")) ||
          (own.max_per_day && own.max_per_day == day && used_up(step_.about, "day"));
      if (counts) add(one.at + "/budget");
    }
  }

  const core::TierStep& step_;
  const autonomy::Action action_;
  const PolicyTree& tree_;
  Section base_{.at = "/autonomy"};
  std::vector<Section> scopes_;
  std::vector<TierPart> found_;
};

}  // namespace

std::vector<TierPart> tier_parts(const core::TierStep& step, const core::Rehearsal& seen,
                                 const policy::Policy& policy, const PolicyTree& tree) {
  return TierParts(step, seen, policy, tree).all();
}

}  // namespace sallyport::app
