#include "workbench/case_expectations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/nearest.h"
#include "base/try.h"

namespace sallyport::app {

namespace {

std::vector<std::string> rule_ids(const policy::Policy& policy) {
  std::vector<std::string> ids;
  if (!policy.rules) return ids;
  for (const rules::Rule& rule : policy.rules->rules) ids.push_back(rule.id);
  return ids;
}

std::vector<std::string> check_labels(const policy::Policy& policy) {
  std::vector<std::string> labels;
  if (!policy.guardrails) return labels;
  for (const guardrails::Check& check : policy.guardrails->checks) labels.push_back(check.label);
  return labels;
}

Result<void> known(const ExpectedName& name, const std::vector<std::string>& all,
                   std::string_view what) {
  if (std::ranges::find(all, name.name) != all.end()) return {};
  return fail(
      ErrorCode::Unavailable,
      fmt::format("the policy has no {} `{:.80}`{}", what, name.name, did_you_mean(name.name, all)),
      name.place);
}

template <class Table>
std::vector<std::string> keys_of(const Table& table) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : table) keys.push_back(key);
  return keys;
}

// `KIND NAME`, or the name alone.
Result<void> check_decider(const ExpectedName& decider, const policy::Policy& policy) {
  const std::size_t blank = decider.name.find(' ');
  const std::string kind = decider.name.substr(0, blank);
  const bool has_name = blank != std::string::npos;
  const ExpectedName named{has_name ? decider.name.substr(blank + 1) : decider.name, decider.place};
  const autonomy::AutonomyPolicy tiers = policy.autonomy.value_or(autonomy::AutonomyPolicy{});
  if (has_name && kind == "rule") return known(named, rule_ids(policy), "rule");
  if (has_name && kind == "check") return known(named, check_labels(policy), "check");
  if (has_name && kind == "tool") {
    std::vector<std::string> tools;
    for (const policy::ToolEntry& entry : policy.tools) tools.push_back(entry.tool);
    return known(named, tools, "tool");
  }
  if (has_name && kind == "agent_tiers") return known(named, keys_of(tiers.agent_tiers), "agent");
  if (has_name && kind == "action_tiers") return known(named, keys_of(tiers.action_tiers), "tool");
  if (has_name && kind == "agent_action_tiers") {
    const ExpectedName agent{named.name.substr(0, named.name.find(' ')), named.place};
    return known(agent, keys_of(tiers.agent_action_tiers), "agent");
  }
  if (has_name && (kind == "grant" || kind == "guard")) return {};
  std::vector<std::string> all = {
      "tier",  "autonomy_tier",  "default",          "promotion", "demotion", "ceiling",
      "grant", "requires_human", "budget",           "trust",     "observe",  "rule",
      "call",  "scope",          "dispatch_context", "unlisted"};
  for (auto list : {rule_ids(policy), check_labels(policy), keys_of(tiers.agent_tiers)}) {
    all.insert(all.end(), list.begin(), list.end());
  }
  return known(decider, all, "rule, check or tier row");
}

std::string display_text(const json::value& value) {
  return value.is_string() ? std::string(value.get_string()) : json::serialize(value);
}

// Each member that is expected is there and equal.
std::string asks_problem(const json::value& wanted, const json::value& seen) {
  if (wanted.is_bool() || wanted.is_null()) {
    const bool wants = wanted.is_bool() && wanted.get_bool();
    if (wants == !seen.is_null()) return {};
    return wants ? "no person is asked" : "a person is asked";
  }
  if (wanted.is_string()) {
    const json::object* const all = seen.if_object();
    const std::string message = all ? text_or_empty(*all, "message") : std::string();
    if (message == std::string_view(wanted.get_string())) return {};
    return fmt::format("asks `{}`, not `{}`", message, display_text(wanted));
  }
  if (!wanted.is_object()) return "`asks` is true, false, a message or a mapping";
  if (!seen.is_object()) return "no person is asked";
  for (const auto& [name, value] : wanted.get_object()) {
    const json::value* const own = seen.get_object().if_contains(name);
    if (own == nullptr) return fmt::format("`asks` has no member `{}`", std::string_view(name));
    if (canonical_json(*own) == canonical_json(value)) continue;
    return fmt::format("asks with {} {}, not {}", std::string_view(name), display_text(*own),
                       display_text(value));
  }
  return {};
}

std::string or_none(const std::optional<std::string>& text) {
  return text ? fmt::format("`{}`", *text) : "none";
}

// The expectations of a case that were not met, in the order of the checks.
class CaseProblems {
 public:
  // An empty text is not a problem.
  void add(std::string problem) {
    if (!problem.empty()) all_.push_back(std::move(problem));
  }
  void differ(std::string_view what, const std::string& seen, const std::string& wanted) {
    add(fmt::format("{} `{}`, not `{}`", what, seen, wanted));
  }
  void compare(std::string_view what, const std::optional<std::string>& wanted,
               const std::string& seen) {
    if (wanted && *wanted != seen) differ(what, seen, *wanted);
  }
  void compare(std::string_view what, const std::optional<std::vector<ExpectedName>>& wanted,
               const std::vector<std::string>& seen) {
    if (!wanted) return;
    std::vector<std::string> names;
    for (const ExpectedName& name : *wanted) names.push_back(name.name);
    if (names != seen) add(fmt::format("{} {}, not {}", what, seen, names));
  }
  void compare_rule(std::string_view what, const std::optional<std::optional<ExpectedName>>& wanted,
                    const std::optional<std::string>& seen) {
    if (!wanted) return;
    const auto name = *wanted ? std::optional((*wanted)->name) : std::nullopt;
    if (name != seen) add(fmt::format("{} {}, not {}", what, or_none(seen), or_none(name)));
  }
  std::string text() const { return fmt::format("{}", fmt::join(all_, "; ")); }

 private:
  std::vector<std::string> all_;
};

}  // namespace

Result<void> check_expected_names(const CallCase& test_case, const policy::Policy& policy) {
  const CaseExpect& expect = test_case.expect;
  const std::vector<std::string> rules = rule_ids(policy);
  if (expect.rule && *expect.rule) SALLYPORT_CHECK_OK(known(**expect.rule, rules, "rule"));
  if (expect.result_rule && *expect.result_rule) {
    SALLYPORT_CHECK_OK(known(**expect.result_rule, rules, "rule"));
  }
  for (const ExpectedName& name : expect.logged.value_or(std::vector<ExpectedName>{})) {
    SALLYPORT_CHECK_OK(known(name, rules, "rule"));
  }
  for (const ExpectedName& name : expect.hits.value_or(std::vector<ExpectedName>{})) {
    SALLYPORT_CHECK_OK(known(name, check_labels(policy), "check"));
  }
  if (expect.decided_by) SALLYPORT_CHECK_OK(check_decider(*expect.decided_by, policy));
  return {};
}

std::string problem_of(const CallCase& test_case, const CaseAnswer& answer) {
  const CaseExpect& expect = test_case.expect;
  CaseProblems problems;
  if (expect.verdict && *expect.verdict != answer.verdict) {
    problems.add(fmt::format("verdict `{}` by {}, not `{}`{}", to_string(answer.verdict),
                             answer.decided_by, to_string(*expect.verdict),
                             answer.reason.empty() ? "" : ": " + answer.reason));
  }
  problems.compare_rule("rule", expect.rule, answer.rule);
  if (expect.decided_by) {
    const std::string& wanted = expect.decided_by->name;
    const std::size_t blank = answer.decided_by.find(' ');
    const bool same = wanted == answer.decided_by ||
                      (blank != std::string::npos && wanted == answer.decided_by.substr(blank + 1));
    if (!same) problems.differ("decided by", answer.decided_by, wanted);
  }
  problems.compare("class", expect.effect_class, answer.effect_class);
  problems.compare("tier", expect.tier, answer.tier);
  problems.compare("tier source", expect.tier_source, answer.tier_source);
  if (expect.input && canonical_json(*expect.input) != canonical_json(answer.input)) {
    problems.differ("input", canonical_json(answer.input), canonical_json(*expect.input));
  }
  if (expect.result) {
    const json::value seen = answer.result.value_or(json::value("not reached"));
    if (canonical_json(*expect.result) != canonical_json(seen)) {
      problems.differ("result", display_text(seen), display_text(*expect.result));
    }
  }
  problems.compare_rule("result rule", expect.result_rule, answer.result_rule);
  if (expect.asks) problems.add(asks_problem(*expect.asks, answer.asks));
  problems.compare("hits", expect.hits, answer.hits);
  problems.compare("logged", expect.logged, answer.logged);
  return problems.text();
}

}  // namespace sallyport::app
