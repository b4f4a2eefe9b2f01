#include "workbench/causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/json_pointer.h"
#include "workbench/call_trial.h"
#include "workbench/tier_parts.h"
#include "workbench/tier_source.h"

namespace sallyport::app {

std::optional<std::size_t> check_index(const policy::Policy& policy, std::string_view label) {
  if (!policy.guardrails) return std::nullopt;
  const auto& checks = policy.guardrails->checks;
  const auto found = std::ranges::find(checks, label, &guardrails::Check::label);
  if (found == checks.end()) return std::nullopt;
  return static_cast<std::size_t>(found - checks.begin());
}

namespace {

CallVerdict tier_verdict(Autonomy tier) {
  if (tier == Autonomy::Shadow) return CallVerdict::Shadow;
  return tier == Autonomy::Suggest ? CallVerdict::Proposed : CallVerdict::Asks;
}

// The row of `tools` that classifies the tool. Empty: none does.
std::string tool_pointer(const core::Rehearsal& seen, const PolicyTree& tree) {
  const json::value* const tools = tree.at("/tools");
  if (tools == nullptr || !tools->is_array()) return {};
  std::string any;
  for (std::size_t i = 0; i < tools->get_array().size(); ++i) {
    const json::object* const row = tools->get_array()[i].if_object();
    if (row == nullptr || text_in(*row, "tool") != seen.call.tool) continue;
    const auto server = text_in(*row, "server");
    if (server == seen.call.server) return fmt::format("/tools/{}", i);
    if (!server) any = fmt::format("/tools/{}", i);
  }
  return any;
}

std::string grant_pointer(const PolicyTree& tree) {
  return tree.at("/grants/required") ? "/grants/required" : "/grants";
}

// True if such a step lowers the tier of an earlier one.
bool lowers(std::optional<TierSource> source) {
  constexpr TierSource kLowering[] = {
      TierSource::Ceiling,       TierSource::Demotion, TierSource::Scope, TierSource::Grant,
      TierSource::RequiresHuman, TierSource::Budget,   TierSource::Trust};
  return source && std::ranges::find(kLowering, *source) != std::end(kLowering);
}

// The tiers that keep the call from running automatically.
std::vector<core::TierStep> holding_steps(const core::Rehearsal& seen) {
  std::optional<core::TierStep> base;
  std::vector<core::TierStep> holding;
  for (const core::TierStep& step : seen.tier_steps) {
    // A rule that lifts is a base; one that asks is a cause of its own.
    const std::optional<TierSource> source = tier_source_from(step.source);
    if (source == TierSource::Rule && step.tier != Autonomy::ActAuto) continue;
    if (!lowers(source)) {
      base = step;
    } else if (step.tier < Autonomy::ActAuto) {
      holding.push_back(step);
    }
  }
  if (base && base->tier < Autonomy::ActAuto) holding.insert(holding.begin(), *base);
  return holding;
}

// `class fs.delete, recursive true, outside workspace or temp`.
std::string conditions_text(const json::value& conditions) {
  const json::object* const all = conditions.if_object();
  std::vector<std::string> parts;
  for (const auto& [key, value] : all ? *all : json::object()) {
    std::vector<std::string> values;
    const json::array* const list = value.if_array();
    for (const json::value& each : list ? *list : json::array{value}) {
      values.push_back(each.is_string() ? std::string(each.get_string()) : canonical_json(each));
    }
    parts.push_back(fmt::format("{} {}", std::string_view(key), fmt::join(values, " or ")));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// One mapping of conditions, or a list of them.
std::string alternatives_text(const json::value& conditions) {
  const json::array* const list = conditions.if_array();
  if (list == nullptr) return conditions_text(conditions);
  std::vector<std::string> parts;
  for (const json::value& each : *list) parts.push_back(conditions_text(each));
  return fmt::format("{}", fmt::join(parts, "; and one of: "));
}

// The conditions to change in the call so that the rule does not match (RU-77).
std::string would_differ(const PolicyTree& tree, const std::string& id) {
  const std::optional<std::size_t> index = tree.rule_index(id);
  if (!index) return {};
  const std::string rule = fmt::format("/rules/{}", *index);
  std::vector<std::string> ways;
  if (const json::value* const when = tree.at(rule + "/when"))
    ways.push_back("without one of these the rule does not match: " + alternatives_text(*when));
  if (const json::value* const unless = tree.at(rule + "/unless"))
    ways.push_back("`unless` would have to hold: " + alternatives_text(*unless));
  if (tree.at(rule + "/only") != nullptr) ways.emplace_back("one alternative would have to fit");
  return ways.empty() ? "it matches every effect" : fmt::format("{}", fmt::join(ways, "; or "));
}

// The restriction of a call by a matching rule (RU-3). No value: none.
std::optional<CallVerdict> match_verdict(const json::object& match) {
  const auto then = text_in(match, "then");
  if (then == "ask") return CallVerdict::Asks;
  if (then != "deny") return std::nullopt;
  return text_in(match, "match") == "yes" ? CallVerdict::Refused : CallVerdict::Asks;
}

class CauseList {
 public:
  CauseList(const core::Rehearsal& seen, const policy::Policy& policy, const PolicyTree& tree)
      : seen_(seen), policy_(policy), tree_(tree) {}

  std::vector<Cause> all() {
    for (const GuardRun& run : seen_.guard_runs) add_guard(run);
    add_rules();
    add_tiers();
    if (causes_.empty() && seen_.refusal) {
      causes_.push_back({.kind = CauseKind::Call, .text = *seen_.refusal});
    }
    return std::move(causes_);
  }

 private:
  void add(Cause cause) {
    if (std::ranges::find(causes_, cause) == causes_.end()) causes_.push_back(std::move(cause));
  }

  void add_guard(const GuardRun& run) {
    const bool denies = run.verdict == GuardVerdict::Deny ||
                        (run.verdict == GuardVerdict::Error && run.why != "fail_open");
    if (!denies && run.verdict != GuardVerdict::Ask) return;
    const CallVerdict verdict = denies ? CallVerdict::Refused : CallVerdict::Asks;
    if (run.guard == "guardrails" && run.verdict == GuardVerdict::Deny) return add_checks(run);
    if (run.stage == "grant") {
      return add({CauseKind::Grant, run.rule.value_or("grant"), tree_.place(grant_pointer(tree_)),
                  verdict, why_of(run)});
    }
    if (run.guard == "tool-pins") {
      return add({CauseKind::Pin, run.rule.value_or("pin"), "", verdict,
                  "the definition of the tool has changed since it was accepted"});
    }
    add({CauseKind::Guard, run.guard, "", verdict, run.why.value_or(run.rule.value_or(""))});
  }

  static std::string why_of(const GuardRun& run) {
    const json::object* const evidence = run.evidence.if_object();
    return evidence ? text_or_empty(*evidence, "why") : std::string();
  }

  void add_checks(const GuardRun& run) {
    bool any = false;
    for (const json::object& finding : seen_.findings) {
      if (text_in(finding, "action") != "block") continue;
      const std::string check = text_or_empty(finding, "check");
      add({CauseKind::Check, check, place_of_check(check), CallVerdict::Refused,
           fmt::format("it finds something at {}",
                       text_in(finding, "path").value_or("the input"))});
      any = true;
    }
    const std::string check = run.rule.value_or("guardrails");
    if (!any)
      add({CauseKind::Check, check, place_of_check(check), CallVerdict::Refused,
           run.why.value_or("")});
  }

  std::string place_of_check(const std::string& check) const {
    const std::optional<std::size_t> index = check_index(policy_, check);
    return tree_.place(index ? fmt::format("/guardrails/checks/{}", *index) : "/guardrails");
  }

  void add_rules() {
    if (!seen_.rules) return;
    const auto verdict = seen_.rules->verdict;
    const bool restricts =
        verdict == core::RuleAnswer::Verdict::Refused || verdict == core::RuleAnswer::Verdict::Asks;
    if (!restricts) return;
    const std::size_t before = causes_.size();
    const json::value* const matches = seen_.rules->record.if_contains("matches");
    if (matches != nullptr && matches->is_array()) {
      for (const json::value& each : matches->get_array()) {
        const json::object& match = each.as_object();
        const std::string rule = text_or_empty(match, "rule");
        const std::optional<CallVerdict> says = match_verdict(match);
        if (!says) continue;
        add({CauseKind::Rule, rule, tree_.place_of_rule(rule), *says,
             fmt::format("it matches: {}; {}", text_in(match, "match").value_or("?"),
                         would_differ(tree_, rule))});
      }
    }
    const bool refused = verdict == core::RuleAnswer::Verdict::Refused;
    const bool by_rule = !seen_.rules->rule.empty();
    if (causes_.size() != before && (by_rule || !refused)) return;
    const CallVerdict says = refused ? CallVerdict::Refused : CallVerdict::Asks;
    if (by_rule) {
      add({CauseKind::Rule, seen_.rules->rule, tree_.place_of_rule(seen_.rules->rule), says,
           seen_.rules->text});
    } else {
      add({CauseKind::Unlisted, "unlisted", tree_.place("/unlisted"), says,
           "no rule decides an effect of the call"});
    }
  }

  void add_tiers() {
    if (!seen_.tiered) return;
    for (const core::TierStep& step : holding_steps(seen_)) {
      for (const TierPart& part : tier_parts(step, seen_, policy_, tree_)) {
        if (part.tier == Autonomy::ActAuto) continue;
        add({CauseKind::Tier, step.source,
             part.pointer.empty() ? std::string() : tree_.place(part.pointer),
             tier_verdict(part.tier),
             step.about.empty() ? std::string(to_string(part.tier))
                                : fmt::format("{}, {}", to_string(part.tier), step.about),
             part.pointer});
      }
    }
  }

  const core::Rehearsal& seen_;
  const policy::Policy& policy_;
  const PolicyTree& tree_;
  std::vector<Cause> causes_;
};

}  // namespace

std::vector<Cause> causes_of(const core::Rehearsal& seen, const policy::Policy& policy,
                             const PolicyTree& tree) {
  if (verdict_of(seen) == CallVerdict::Runs) return {};
  return CauseList(seen, policy, tree).all();
}

namespace {

// The place of the tier that holds. Empty: the policy does not give it.
std::string place_of_tier(const core::Rehearsal& seen, const policy::Policy& policy,
                          const PolicyTree& tree) {
  const auto held = std::ranges::find(seen.tier_steps, std::string_view(seen.tier_source),
                                      &core::TierStep::source);
  const core::TierStep step{seen.tier_source, seen.tier,
                            held == seen.tier_steps.end() ? std::string() : held->about};
  for (const TierPart& part : tier_parts(step, seen, policy, tree)) {
    if (part.tier == seen.tier && !part.pointer.empty()) return tree.place(part.pointer);
  }
  return {};
}

}  // namespace

// The first cause of the verdict; of a call that runs, what lets it.
Cause decider_of(const core::Rehearsal& seen, const policy::Policy& policy,
                 const PolicyTree& tree) {
  const CallVerdict verdict = verdict_of(seen);
  const std::vector<Cause> causes = causes_of(seen, policy, tree);
  if (seen.rules && !seen.rules->rule.empty()) {
    const core::RuleAnswer::Verdict by_rules = seen.rules->verdict;
    const bool by_rule =
        (verdict == CallVerdict::Refused && by_rules == core::RuleAnswer::Verdict::Refused) ||
        (verdict == CallVerdict::Asks && by_rules == core::RuleAnswer::Verdict::Asks) ||
        (verdict == CallVerdict::Runs && (by_rules == core::RuleAnswer::Verdict::Allowed ||
                                          by_rules == core::RuleAnswer::Verdict::Free));
    const bool guard_first = std::ranges::any_of(causes, [&](const Cause& cause) {
      return cause.verdict == CallVerdict::Refused && cause.kind != CauseKind::Rule &&
             cause.kind != CauseKind::Unlisted && cause.kind != CauseKind::Tier;
    });
    if (by_rule && !guard_first) {
      return {CauseKind::Rule, seen.rules->rule, tree.place_of_rule(seen.rules->rule), verdict,
              seen.rules->text};
    }
  }
  // The tier that holds is the decider among tiers, not the first that was weighed.
  for (const Cause& cause : causes) {
    if (cause.verdict == verdict && cause.kind != CauseKind::Tier) return cause;
  }
  if (tier_source_from(seen.tier_source) == TierSource::Observe || !seen.tiered) {
    const std::string row = tool_pointer(seen, tree);
    const bool by_policy = seen.classification.source == "policy" && !row.empty();
    return {by_policy ? CauseKind::Tool : CauseKind::Class,
            by_policy ? seen.call.tool : seen.classification.source,
            by_policy ? tree.place(row) : std::string(), verdict, "the tool only observes"};
  }
  if (!seen.refusal || verdict == CallVerdict::Shadow) {
    return {CauseKind::Tier, seen.tier_source, place_of_tier(seen, policy, tree), verdict,
            std::string(to_string(seen.tier))};
  }
  return causes.empty() ? Cause{.kind = CauseKind::Call, .verdict = verdict, .text = *seen.refusal}
                        : causes.front();
}

}  // namespace sallyport::app
