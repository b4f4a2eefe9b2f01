#include "policy/rule_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/nearest.h"
#include "base/try.h"
#include "config/yaml_json.h"
#include "effects/command_line.h"
#include "effects/profiles.h"
#include "policy/rule_keys.h"
#include "rules/case_view.h"
#include "rules/rule_set.h"

namespace sallyport::policy {

namespace {

using rules::Conditions;
using rules::Rule;

// Checks every `class` below `when`, `unless` and `only` of the rules.
Result<void> check_classes(const config::YamlNode& node, const std::string& file,
                           const std::vector<std::string>& known) {
  for (const config::YamlNode& item : node.items)
    SALLYPORT_CHECK_OK(check_classes(item, file, known));
  const config::YamlNode* const classes = node.find("class");
  if (classes == nullptr) return {};
  const auto check = [&](const config::YamlNode& name) -> Result<void> {
    if (std::ranges::find(known, name.text) != known.end()) return {};
    return config::Place{name, file}.refuse(
        fmt::format("unknown class `{:.80}`{}", name.text, did_you_mean(name.text, known)));
  };
  if (classes->kind == config::YamlNode::Kind::Scalar) return check(*classes);
  for (const config::YamlNode& name : classes->items) SALLYPORT_CHECK_OK(check(name));
  return {};
}

// Refuses two rules with `only` that have the same rank and can match the same call (RU-17).
Result<void> check_ranks(const std::vector<Rule>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!all[i].has_only() || !all[j].has_only()) continue;
      if (rules::rank_of(all[i]) != rules::rank_of(all[j])) continue;
      if (!rules::can_meet(all[i], all[j])) continue;
      return fail(ErrorCode::InvalidInput,
                  fmt::format("rule `{}` and rule `{}` have `only`, are equally specific and can "
                              "match the same call; name another agent, server or tool in one",
                              all[j].id, all[i].id),
                  all[i].place);
    }
  }
  return {};
}

// Makes a call that the conditions match, for the examples of their rule.
Call example_call(const Conditions& named, const rules::Example& example) {
  const auto first = [](const std::vector<std::string>& names, std::string other) {
    if (names.empty()) return other;
    std::string name = names.front();
    std::erase(name, '*');
    return name;
  };
  Call call{.agent_id = first(named.agent, "agent"),
            .session_id = first(named.session, "session"),
            .server = first(named.server, "server"),
            .tool = first(named.tool, "tool")};
  call.input = example.input.is_string() ? json::value{{"command", example.input}} : example.input;
  return call;
}

// The best match of the rule with an effect of the example.
rules::Match example_match(const rules::RuleSet& set, const Rule& rule, const Conditions& named,
                           const rules::Example& example) {
  const rules::CaseView nothing({}, {});
  const Call call = example_call(named, example);
  const effects::CallFacts facts{
      .call = call,
      .front = named.front.empty() ? std::string_view("hook") : named.front.front(),
      .interactive = named.interactive.value_or(false),
      .cwd = "/workspace",
      .workspace = {"/workspace"},
      .machine = {.home = "/home/user"},
      .files = &nothing};
  const effects::Effects found =
      example.input.is_string()
          ? effects::effects_of_line(
                std::string_view(example.input.get_string()),
                {.folder = "/workspace", .home = "/home/user", .files = &nothing})
          : effects::effects_of_call(facts, set.book);
  rules::Match best = rules::Match::No;
  for (const rules::Match each : rules::matches_of(rule, facts, found))
    best = rules::either(best, each);
  return best;
}

Result<void> check_examples(const rules::RuleSet& set) {
  static const std::vector<Conditions> kAny(1);
  for (const Rule& rule : set.rules) {
    for (const rules::Example& example : rule.examples) {
      rules::Match match = rules::Match::No;
      for (const Conditions& named : rule.when.empty() ? kAny : rule.when)
        match = rules::either(match, example_match(set, rule, named, example));
      if (match == (example.hits ? rules::Match::Yes : rules::Match::No)) continue;
      return fail(ErrorCode::InvalidInput,
                  fmt::format("rule `{}` {} this example, which is one of its {}", rule.id,
                              match == rules::Match::Yes  ? "matches"
                              : match == rules::Match::No ? "does not match"
                                                          : "may match",
                              example.hits ? "`hits`" : "`misses`"),
                  example.place);
    }
  }
  return {};
}

std::vector<std::string> classes_of(const Policy& policy) {
  std::vector<std::string> classes = effects::known_classes();
  for (const ToolEntry& entry : policy.tools) {
    const std::string& name = entry.classification.effect_class;
    if (std::ranges::find(classes, name) == classes.end()) classes.push_back(name);
  }
  return classes;
}

// Refuses an `escalate` to a role that no registered person has. Only for policies with people.
Result<void> check_passed_on(const Policy& policy, const Rule& rule) {
  if (!policy.approvals || !policy.approvals->people) return {};
  for (const rules::PassOn& step : rule.asking.pass_on) {
    for (const std::string& name : step.to) {
      const bool role = name.starts_with(kRolePrefix);
      if (!role || !policy.approvals->people->with_role(name.substr(kRolePrefix.size())).empty())
        continue;
      return fail(ErrorCode::InvalidInput,
                  fmt::format("no approver has the role that `escalate` names, `{}`", name),
                  rule.place);
    }
  }
  return {};
}

}  // namespace

Result<void> check_when(const Policy& policy, const config::Place& conditions) {
  return check_classes(conditions.node, conditions.file, classes_of(policy));
}

Result<void> finish_rules(Policy& policy, const config::YamlNode& root, const std::string& file) {
  if (root.find("extends") == nullptr) {
    constexpr std::string_view kNeeds[] = {"without"};
    SALLYPORT_CHECK_OK(refuse_keys({root, file}, kNeeds, "needs `extends`"));
  }
  if (!policy.rules) {
    constexpr std::string_view kNeeds[] = {"unlisted"};
    return refuse_keys({root, file}, kNeeds, "needs `rules`");
  }
  rules::RuleSet& set = *policy.rules;
  set.unlisted = policy.unlisted;
  set.workspace = policy.workspace;
  const std::vector<std::string> classes = classes_of(policy);
  set.book = tool_book(policy);
  for (const config::YamlNode& rule : config::node_at(root, "/rules").items) {
    for (const char* const part : {"when", "unless", "only"}) {
      const config::YamlNode* const conditions = rule.find(part);
      if (conditions) SALLYPORT_CHECK_OK(check_classes(*conditions, file, classes));
    }
  }
  for (const Rule& rule : set.rules) SALLYPORT_CHECK_OK(check_passed_on(policy, rule));
  SALLYPORT_CHECK_OK(check_ranks(set.rules));
  return check_examples(set);
}

}  // namespace sallyport::policy
