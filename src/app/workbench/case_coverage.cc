#include "app/workbench/case_coverage.h"

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "base/json_members.h"
#include "base/try.h"
#include "rules/warnings.h"

namespace sallyport::app {

namespace {

using policy::YamlMember;
using policy::YamlNode;

// A part of the tree of a policy, and the way to it.
struct Part {
  std::string kind{};
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
    rows("tools", "tool", {"server", "tool"});
    rows("servers", "server", {"server"});
    rows("results", "result", {"hook"});
    autonomy();
    if (const YamlNode* const required = at(at(&root_, "grants"), "required")) {
      list({"grants", "required"}, *required, "grants.required");
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

  // A list of names, or of mappings, by what they say.
  static std::string told(const YamlNode& node) {
    if (node.kind == YamlNode::Kind::Scalar) return node.text;
    std::string text;
    for (const YamlMember& member : node.members) {
      if (!text.empty()) text += ' ';
      text += member.key.text + '=' + told(member.value);
    }
    for (const YamlNode& item : node.items) text += (text.empty() ? "" : ",") + told(item);
    return text;
  }

  void add(std::string kind, std::string name, const YamlNode& node, std::vector<std::string> way) {
    parts_.push_back({std::move(kind), std::move(name), &node, std::move(way)});
  }

  void list(std::vector<std::string> way, const YamlNode& node, const std::string& kind,
            const std::string& owner = {}) {
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      std::vector<std::string> to = way;
      to.push_back(std::to_string(i));
      const std::string name = told(node.items[i]);
      add(kind, owner.empty() ? name : owner + ' ' + name, node.items[i], std::move(to));
    }
  }

  void rules() {
    const YamlNode* const all = at(&root_, "rules");
    if (all == nullptr) return;
    for (std::size_t i = 0; i < all->items.size(); ++i) {
      const YamlNode& rule = all->items[i];
      const std::string id = text_at(rule, "id");
      add("rule", id, rule, {"rules", std::to_string(i)});
      const YamlNode* const only = at(&rule, "only");
      if (only == nullptr || only->items.size() < 2) continue;
      list({"rules", std::to_string(i), "only"}, *only, "only", id);
    }
  }

  void rows(const char* section, const std::string& kind, std::vector<std::string_view> names) {
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

  void table(std::vector<std::string> way, const YamlNode* node, const std::string& kind,
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
    for (const char* const name : {"agent_tiers", "action_tiers", "agent_action_tiers"}) {
      table({"autonomy", name}, at(tiers, name), name);
    }
    for (const char* const name : {"requires_human_actions", "requires_human_agents"}) {
      if (const YamlNode* const names = at(tiers, name)) list({"autonomy", name}, *names, name);
    }
    for (const char* const name : {"requires_human", "dual_control", "ceiling"}) {
      if (const YamlNode* const node = at(tiers, name))
        add(name, node->text, *node, {"autonomy", name});
    }
    table({"autonomy", "budget"}, at(tiers, "budget"), "budget");
  }

  void checks() {
    const YamlNode* const all = at(at(&root_, "guardrails"), "checks");
    if (all == nullptr) return;
    for (std::size_t i = 0; i < all->items.size(); ++i) {
      const YamlNode& check = all->items[i];
      const std::string id = text_at(check, "id");
      const std::string owner = id.empty() ? text_at(check, "type") + '#' + std::to_string(i) : id;
      constexpr std::pair<const char*, const char*> kLists[] = {{"patterns", "pattern"},
                                                                {"words", "word"},
                                                                {"tools", "wildcard"},
                                                                {"except", "exception"},
                                                                {"args", "args"}};
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
  const bool needed = part.kind == "pattern" || part.kind == "word";
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

bool stage_was_reached(const std::string& kind, const CaseAnswer& answer) {
  const json::object& trace = answer.trace;
  if (kind == "rule" || kind == "only") return trace.at("rules").is_object();
  if (kind == "tool" || kind == "server") return true;
  if (kind == "result") return trace.contains("result");
  const auto ran = [&](std::string_view guard) {
    return std::ranges::any_of(trace.at("guards").as_array(), [&](const json::value& run) {
      const json::object& one = run.as_object();
      return text_in(one, "guard") == guard && text_in(one, "verdict") != "skipped";
    });
  };
  if (kind == "grants.required") return ran("grants");
  if (kind == "pattern" || kind == "word" || kind == "wildcard" || kind == "exception" ||
      kind == "args") {
    return ran("guardrails") || trace.contains("result");
  }
  return !trace.at("steps").as_array().empty();
}

bool same_verdict(const CaseAnswer& a, const CaseAnswer& b) {
  return a.verdict == b.verdict && a.input == b.input && a.result == b.result && a.asks == b.asks &&
         a.result_rule == b.result_rule;
}

std::string rule_of_record(const json::object& trace) {
  const json::object* const record = trace.at("rules").if_object();
  return record ? text_or_empty(*record, "rule") : std::string();
}

void look_at_call(const Part& part, const CaseAnswer& with, const CaseAnswer& less, Look& look) {
  look.reached = look.reached || stage_was_reached(part.kind, with);
  const bool is_rule = part.kind == "rule";
  // A rule that alone allows what is free anyway is still the one that decides (RU-12).
  const bool alone = is_rule && with.rule == part.name && !less.rule;
  const bool decides = !same_verdict(with, less) || alone;
  const bool hits = decides || with.trace != less.trace || with.decided_by != less.decided_by;
  look.decided = look.decided || decides;
  look.hit = look.hit || hits;
  look.missed = look.missed || !hits;
  if (!hits || decides) return;
  if (look.stronger.empty()) look.stronger = with.decided_by;
  const std::string other = rule_of_record(less.trace);
  if (other.empty()) look.only_by_rules = false;
}

void look_at_text(const guardrails::Guardrails* with, const guardrails::Guardrails* less,
                  const guardrails::Case& one, Look& look) {
  if (with == nullptr) return;
  look.reached = true;
  const std::string before = run_cases(*with, {&one, 1}).front().problem;
  const std::string after =
      less ? run_cases(*less, {&one, 1}).front().problem : "there are no checks";
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
    std::ranges::sort(units, {},
                      [](const CoverageUnit& unit) { return std::pair(unit.kind, unit.name); });
    return units;
  }

 private:
  std::vector<rules::Warning> warnings() const {
    if (!subject_.policy || !subject_.policy->rules) return {};
    return rules::warnings(*subject_.policy->rules, {.home = "/home/user"});
  }

  std::string place_of_part(const policy::PolicyTree& tree, const Part& part) const {
    if (part.kind == "rule" && subject_.policy && subject_.policy->rules) {
      if (const rules::Rule* const rule = subject_.policy->rules->find(part.name)) {
        return rule->place;
      }
    }
    return place_of(*part.node, tree.file_of(part.way.front()));
  }

  Result<Look> look_at(const policy::PolicyTree& tree, const Part& part) const {
    Look look;
    Result<policy::Policy> less = policy::read_policy_tree(without(tree.root, part), subject_.name);
    // A part that the rest cannot be read without is needed by it: its cases say nothing of it.
    if (!less) return look;
    SALLYPORT_TRY(const auto guardrails, policy::compile_guardrails(*less, 1));
    SALLYPORT_TRY(const std::unique_ptr<CaseTrial> trial, CaseTrial::build(std::move(*less)));
    for (const CoveredCase& covered : cases_) {
      if (covered.one->guardrail) {
        const bool of_checks = part.way.front() == "guardrails";
        if (!of_checks) continue;
        look_at_text(subject_.guardrails.get(), guardrails.get(), *covered.one->guardrail, look);
        continue;
      }
      SALLYPORT_TRY(const CaseAnswer answer, trial->answer(*covered.one->call));
      look_at_call(part, *covered.answer, answer, look);
    }
    return look;
  }

  CoverageUnit unit_of(const policy::PolicyTree& tree, const Part& part, const Look& look) const {
    CoverageUnit unit{.kind = part.kind, .name = part.name, .place = place_of_part(tree, part)};
    const bool is_rule = part.kind == "rule";
    const rules::Rule* const rule = is_rule && subject_.policy && subject_.policy->rules
                                        ? subject_.policy->rules->find(part.name)
                                        : nullptr;
    const bool logs = rule && !rule->has_only() && rule->then == rules::Then::Log;
    unit.tested_both_ways = (look.decided || (logs && look.hit)) && look.missed;
    if (look.decided) {
      unit.status = "decides";
      return unit;
    }
    if (look.hit) {
      const bool shadowed = is_rule && !logs && look.only_by_rules;
      unit.status = shadowed ? "shadowed" : is_rule ? "matches" : "hits";
      if (!logs) unit.reason = "shadowed by " + look.stronger;
      return unit;
    }
    unit.status = look.reached && !is_rule ? "reaches" : "never";
    unit.reason = dead_.contains(unit.place) ? "dead" : "no_case";
    return unit;
  }

  const CaseSubject& subject_;
  const std::vector<CoveredCase>& cases_;
  std::set<std::string> dead_;
};

}  // namespace

json::object to_json(const CoverageUnit& unit) {
  return {{"unit", unit.kind},
          {"name", unit.name},
          {"place", unit.place},
          {"status", unit.status},
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
