#include "workbench/case_coverage.h"

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "base/json_members.h"
#include "base/try.h"
#include "core/record/read_field.h"
#include "rules/warnings.h"

namespace sallyport::app {

namespace {

using config::YamlMember;
using config::YamlNode;

constexpr core::Word<PartKind> kPartKinds[] = {
    {"rule", PartKind::Rule},
    {"only", PartKind::Only},
    {"tool", PartKind::Tool},
    {"server", PartKind::Server},
    {"result", PartKind::Result},
    {"agent_tiers", PartKind::AgentTiers},
    {"action_tiers", PartKind::ActionTiers},
    {"agent_action_tiers", PartKind::AgentActionTiers},
    {"requires_human", PartKind::RequiresHuman},
    {"requires_human_actions", PartKind::RequiresHumanActions},
    {"requires_human_agents", PartKind::RequiresHumanAgents},
    {"dual_control", PartKind::DualControl},
    {"ceiling", PartKind::Ceiling},
    {"budget", PartKind::Budget},
    {"grants.required", PartKind::RequiredGrant},
    {"pattern", PartKind::Pattern},
    {"word", PartKind::Word},
    {"wildcard", PartKind::Wildcard},
    {"exception", PartKind::Exception},
    {"args", PartKind::Args}};

constexpr core::Word<CoverageStatus> kCoverageStatuses[] = {
    {"decides", CoverageStatus::Decides}, {"hits", CoverageStatus::Hits},
    {"reaches", CoverageStatus::Reaches}, {"never", CoverageStatus::Never},
    {"matches", CoverageStatus::Matches}, {"shadowed", CoverageStatus::Shadowed}};

// A part of the tree of a policy, and the way to it.
struct Part {
  PartKind kind = PartKind::Rule;
  std::string name{};
  const YamlNode* node = nullptr;
  std::vector<std::string> way{};  // keys, and places in lists
};

// Finds every part that has a place of its own.
class PartFinder {
 public:
  explicit PartFinder(const YamlNode& root) : root_(root) {}

  std::vector<Part> find() {
    rules();
    rows("tools", PartKind::Tool, {"server", "tool"});
    rows("servers", PartKind::Server, {"server"});
    rows("results", PartKind::Result, {"hook"});
    autonomy();
    if (const YamlNode* const pairs = at(at(&root_, "approvals"), "dual_control")) {
      list({"approvals", "dual_control"}, *pairs, PartKind::DualControl);
    }
    if (const YamlNode* const required = at(at(&root_, "grants"), "required")) {
      list({"grants", "required"}, *required, PartKind::RequiredGrant);
    }
    checks();
    return std::move(parts_);
  }

 private:
  static const YamlNode* at(const YamlNode* node, std::string_view key) {
    if (node == nullptr) return nullptr;
    for (const YamlMember& member : node->members) {
      if (member.key.text == key) return &member.value;
    }
    return nullptr;
  }

  static std::string text_at(const YamlNode& node, std::string_view key) {
    const YamlNode* const found = at(&node, key);
    return found ? found->text : std::string();
  }

  // The label of a list of names or of mappings: their text.
  static std::string node_label(const YamlNode& node) {
    if (node.kind == YamlNode::Kind::Scalar) return node.text;
    std::string text;
    for (const YamlMember& member : node.members) {
      if (!text.empty()) text += ' ';
      text += member.key.text + '=' + node_label(member.value);
    }
    for (const YamlNode& item : node.items) text += (text.empty() ? "" : ",") + node_label(item);
    return text;
  }

  void add(PartKind kind, std::string name, const YamlNode& node, std::vector<std::string> way) {
    parts_.push_back({kind, std::move(name), &node, std::move(way)});
  }

  void list(std::vector<std::string> way, const YamlNode& node, PartKind kind,
            const std::string& owner = {}) {
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      std::vector<std::string> to = way;
      to.push_back(std::to_string(i));
      const std::string name = node_label(node.items[i]);
      add(kind, owner.empty() ? name : owner + ' ' + name, node.items[i], std::move(to));
    }
  }

  void rules() {
    const YamlNode* const all = at(&root_, "rules");
    if (all == nullptr) return;
    for (std::size_t i = 0; i < all->items.size(); ++i) {
      const YamlNode& rule = all->items[i];
      const std::string id = text_at(rule, "id");
      add(PartKind::Rule, id, rule, {"rules", std::to_string(i)});
      const YamlNode* const only = at(&rule, "only");
      if (only == nullptr || only->items.size() < 2) continue;
      list({"rules", std::to_string(i), "only"}, *only, PartKind::Only, id);
    }
  }

  void rows(const char* section, PartKind kind, std::vector<std::string_view> names) {
    const YamlNode* const all = at(&root_, section);
    if (all == nullptr) return;
    for (std::size_t i = 0; i < all->items.size(); ++i) {
      std::string name;
      for (const std::string_view key : names) {
        const std::string text = text_at(all->items[i], key);
        if (!text.empty()) name += (name.empty() ? "" : "/") + text;
      }
      add(kind, name, all->items[i], {section, std::to_string(i)});
    }
  }

  void table(std::vector<std::string> way, const YamlNode* node, PartKind kind,
             const std::string& owner = {}) {
    if (node == nullptr) return;
    for (const YamlMember& row : node->members) {
      std::vector<std::string> to = way;
      to.push_back(row.key.text);
      if (row.value.kind == YamlNode::Kind::Mapping) {
        table(std::move(to), &row.value, kind, row.key.text);
      } else {
        add(kind, owner.empty() ? row.key.text : owner + ' ' + row.key.text, row.key,
            std::move(to));
      }
    }
  }

  void autonomy() {
    const YamlNode* const tiers = at(&root_, "autonomy");
    if (tiers == nullptr) return;
    // These parts are called as their keys.
    for (const PartKind kind :
         {PartKind::AgentTiers, PartKind::ActionTiers, PartKind::AgentActionTiers}) {
      const std::string name(to_string(kind));
      table({"autonomy", name}, at(tiers, name), kind);
    }
    for (const PartKind kind : {PartKind::RequiresHumanActions, PartKind::RequiresHumanAgents}) {
      const std::string name(to_string(kind));
      if (const YamlNode* const names = at(tiers, name)) list({"autonomy", name}, *names, kind);
    }
    for (const PartKind kind : {PartKind::RequiresHuman, PartKind::Ceiling}) {
      const std::string name(to_string(kind));
      const YamlNode* const node = at(tiers, name);
      if (node) add(kind, node->text, *node, {"autonomy", name});
    }
    table({"autonomy", "budget"}, at(tiers, "budget"), PartKind::Budget);
  }

  void checks() {
    const YamlNode* const all = at(at(&root_, "guardrails"), "checks");
    if (all == nullptr) return;
    for (std::size_t i = 0; i < all->items.size(); ++i) {
      const YamlNode& check = all->items[i];
      const std::string id = text_at(check, "id");
      const std::string owner = id.empty() ? text_at(check, "type") + '#' + std::to_string(i) : id;
      constexpr std::pair<const char*, PartKind> kLists[] = {{"patterns", PartKind::Pattern},
                                                             {"words", PartKind::Word},
                                                             {"tools", PartKind::Wildcard},
                                                             {"except", PartKind::Exception},
                                                             {"args", PartKind::Args}};
      for (const auto& [key, kind] : kLists) {
        if (const YamlNode* const entries = at(&check, key)) {
          list({"guardrails", "checks", std::to_string(i), key}, *entries, kind, owner);
        }
      }
    }
  }

  const YamlNode& root_;
  std::vector<Part> parts_;
};

// The tree without a part. A list that would be empty goes too, and with the last pattern its
// check.
YamlNode without(YamlNode root, const Part& part) {
  std::vector<YamlNode*> nodes = {&root};
  for (std::size_t i = 0; i + 1 < part.way.size(); ++i) {
    YamlNode& node = *nodes.back();
    YamlNode* next = nullptr;
    if (node.kind == YamlNode::Kind::Sequence) {
      next = &node.items[std::stoul(part.way[i])];
    } else {
      for (YamlMember& member : node.members) {
        if (member.key.text == part.way[i]) next = &member.value;
      }
    }
    nodes.push_back(next);
  }
  std::size_t level = part.way.size() - 1;
  const bool needed = part.kind == PartKind::Pattern || part.kind == PartKind::Word;
  while (true) {
    YamlNode& node = *nodes[level];
    const std::string& step = part.way[level];
    if (node.kind == YamlNode::Kind::Sequence) {
      node.items.erase(node.items.begin() + static_cast<std::ptrdiff_t>(std::stoul(step)));
      const bool keeps = !node.items.empty() || part.way.size() <= 2;
      if (keeps) return root;
      level -= 1;
      // A check without patterns is none.
      if (needed && nodes[level]->kind == YamlNode::Kind::Mapping) level -= 1;
      continue;
    }
    std::erase_if(node.members, [&](const YamlMember& member) { return member.key.text == step; });
    return root;
  }
}

// How a policy without the part answers the cases.
struct Look {
  bool reached = false;
  bool hit = false;
  bool missed = false;
  bool decided = false;
  std::string stronger{};  // that decided where the part hit and did not decide
  bool only_by_rules = true;
};

bool stage_was_reached(PartKind kind, const CaseAnswer& answer) {
  const json::object& trace = answer.trace;
  const auto ran = [&](std::string_view guard) {
    return std::ranges::any_of(trace.at("guards").as_array(), [&](const json::value& run) {
      const json::object& guard_run = run.as_object();
      return text_in(guard_run, "guard") == guard && text_in(guard_run, "verdict") != "skipped";
    });
  };
  switch (kind) {
    case PartKind::Rule:
    case PartKind::Only:
      return trace.at("rules").is_object();
    case PartKind::Tool:
    case PartKind::Server:
      return true;
    case PartKind::Result:
      return trace.contains("result");
    case PartKind::RequiredGrant:
      return ran("grants");
    case PartKind::Pattern:
    case PartKind::Word:
    case PartKind::Wildcard:
    case PartKind::Exception:
    case PartKind::Args:
      return ran("guardrails") || trace.contains("result");
    default:  // the keys of `autonomy`
      return !trace.at("steps").as_array().empty();
  }
}

bool same_verdict(const CaseAnswer& a, const CaseAnswer& b) {
  return a.verdict == b.verdict && a.input == b.input && a.result == b.result && a.asks == b.asks &&
         a.result_rule == b.result_rule;
}

std::string rule_of_record(const json::object& trace) {
  const json::object* const record = trace.at("rules").if_object();
  return record ? text_or_empty(*record, "rule") : std::string();
}

bool judges_results(const Part& part) {
  return part.kind == PartKind::Rule &&
         std::ranges::any_of(part.node->members,
                             [](const YamlMember& member) { return member.key.text == "result"; });
}

// True if the rule found what it looks for in the result.
bool found_in_result(const std::string& rule, const CaseAnswer& answer) {
  const json::value* const result = answer.trace.if_contains("result");
  const json::object* const release = result ? result->if_object() : nullptr;
  if (release == nullptr) return false;
  return std::ranges::any_of(release->at("evidence").as_array(), [&](const json::value& item) {
    return text_or_empty(item.as_object(), "guard_name") == "rule " + rule;
  });
}

void look_at_call(const Part& part, const CaseAnswer& with, const CaseAnswer& less, Look& look) {
  look.reached = look.reached || stage_was_reached(part.kind, with);
  const bool is_rule = part.kind == PartKind::Rule;
  // A rule that alone allows what is free anyway is still the one that decides (RU-12).
  const bool alone = is_rule && with.rule == part.name && !less.rule;
  const bool decides = !same_verdict(with, less) || alone;
  const bool changes = with.trace != less.trace || with.decided_by != less.decided_by;
  // The conditions of a rule about results match calls whose results it leaves alone.
  const bool hits = decides || (judges_results(part) ? found_in_result(part.name, with) : changes);
  look.decided = look.decided || decides;
  look.hit = look.hit || hits;
  look.missed = look.missed || !hits;
  if (!hits || decides) return;
  if (look.stronger.empty()) look.stronger = with.decided_by;
  const std::string other = rule_of_record(less.trace);
  if (other.empty()) look.only_by_rules = false;
}

void look_at_text(const guardrails::Guardrails* with, const guardrails::Guardrails* less,
                  const guardrails::Case& test_case, Look& look) {
  if (with == nullptr) return;
  look.reached = true;
  const std::string before = run_cases(*with, {&test_case, 1}).front().problem;
  const std::string after =
      less ? run_cases(*less, {&test_case, 1}).front().problem : "there are no checks";
  const bool decides = before != after;
  look.decided = look.decided || decides;
  look.hit = look.hit || decides;
  look.missed = look.missed || !decides;
}

class Coverage {
 public:
  Coverage(const CaseSubject& subject, const std::vector<CoveredCase>& cases)
      : subject_(subject), cases_(cases) {}

  Result<std::vector<CoverageUnit>> list() {
    SALLYPORT_TRY(const policy::PolicyTree tree, policy::policy_tree(subject_.text, subject_.name));
    for (const rules::Warning& warning : warnings()) {
      if (warning.code == "unreachable" || warning.code == "shadowed" ||
          warning.code == "expired") {
        dead_.insert(warning.place);
      }
    }
    std::vector<CoverageUnit> units;
    for (const Part& part : PartFinder(tree.root).find()) {
      SALLYPORT_TRY(const Look look, look_at(tree, part));
      units.push_back(unit_of(tree, part, look));
    }
    std::ranges::sort(units, {}, [](const CoverageUnit& unit) {
      return std::pair(to_string(unit.kind), unit.name);
    });
    return units;
  }

 private:
  std::vector<rules::Warning> warnings() const {
    if (!subject_.policy || !subject_.policy->rules) return {};
    return rules::warnings(*subject_.policy->rules, {.home = "/home/user"});
  }

  std::string place_of_part(const policy::PolicyTree& tree, const Part& part) const {
    if (part.kind == PartKind::Rule && subject_.policy && subject_.policy->rules) {
      if (const rules::Rule* const rule = subject_.policy->rules->find(part.name)) {
        return rule->place;
      }
    }
    return place_of(*part.node, tree.file_of(part.way.front()));
  }

  Result<Look> look_at(const policy::PolicyTree& tree, const Part& part) const {
    Look look;
    Result<policy::Policy> less = policy::read_policy_tree(without(tree.root, part), subject_.name);
    // The rest does not load without this part, so the cases prove nothing about it.
    if (!less) return look;
    SALLYPORT_TRY(const auto guardrails, policy::compile_guardrails(*less, 1));
    SALLYPORT_TRY(const std::unique_ptr<CaseTrial> trial, CaseTrial::build(std::move(*less)));
    for (const CoveredCase& covered : cases_) {
      if (covered.test_case->guardrail) {
        const bool of_checks = part.way.front() == "guardrails";
        if (!of_checks) continue;
        look_at_text(subject_.guardrails.get(), guardrails.get(), *covered.test_case->guardrail,
                     look);
        continue;
      }
      SALLYPORT_TRY(const CaseAnswer answer, trial->answer(*covered.test_case->call));
      look_at_call(part, *covered.answer, answer, look);
    }
    return look;
  }

  CoverageUnit unit_of(const policy::PolicyTree& tree, const Part& part, const Look& look) const {
    CoverageUnit unit{.kind = part.kind, .name = part.name, .place = place_of_part(tree, part)};
    const bool is_rule = part.kind == PartKind::Rule;
    const rules::Rule* const rule = is_rule && subject_.policy && subject_.policy->rules
                                        ? subject_.policy->rules->find(part.name)
                                        : nullptr;
    const bool logs = rule && !rule->has_only() && rule->then == rules::Then::Log;
    unit.tested_both_ways = (look.decided || (logs && look.hit)) && look.missed;
    if (look.decided) {
      unit.status = CoverageStatus::Decides;
      return unit;
    }
    if (look.hit) {
      const bool shadowed = is_rule && !logs && look.only_by_rules;
      unit.status = shadowed  ? CoverageStatus::Shadowed
                    : is_rule ? CoverageStatus::Matches
                              : CoverageStatus::Hits;
      if (!logs) unit.reason = "shadowed by " + look.stronger;
      return unit;
    }
    unit.status = look.reached && !is_rule ? CoverageStatus::Reaches : CoverageStatus::Never;
    unit.reason = dead_.contains(unit.place) ? "dead" : "no_case";
    return unit;
  }

  const CaseSubject& subject_;
  const std::vector<CoveredCase>& cases_;
  std::set<std::string> dead_;
};

}  // namespace

std::string_view to_string(PartKind kind) {
  return core::word_of(kPartKinds, kind);
}

std::string_view to_string(CoverageStatus status) {
  return core::word_of(kCoverageStatuses, status);
}

json::object to_json(const CoverageUnit& unit) {
  return {{"unit", to_string(unit.kind)},
          {"name", unit.name},
          {"place", unit.place},
          {"status", to_string(unit.status)},
          {"reason", unit.reason.empty() ? json::value() : json::value(unit.reason)},
          {"both_ways", unit.tested_both_ways}};
}

Result<std::vector<CoverageUnit>> coverage_of(const CaseSubject& subject,
                                              const std::vector<CoveredCase>& cases) {
  if (!subject.policy) return std::vector<CoverageUnit>{};
  return Coverage(subject, cases).list();
}

double covered_percent(const std::vector<CoverageUnit>& units) {
  if (units.empty()) return 100;
  const auto tested = std::ranges::count_if(units, &CoverageUnit::tested_both_ways);
  return 100.0 * static_cast<double>(tested) / static_cast<double>(units.size());
}

}  // namespace sallyport::app
