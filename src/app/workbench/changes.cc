#include "app/workbench/changes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>
#include <functional>
#include <set>

#include "base/json_members.h"
#include "base/try.h"
#include "mcp/server/pins.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kMostOfAKind = 3;
constexpr std::size_t kMostEdits = 8;
constexpr std::size_t kMostTrials = 200;

std::string tier_verdict(Autonomy tier) {
  if (tier == Autonomy::Shadow) return "shadow";
  return tier == Autonomy::Suggest ? "proposed" : "asks";
}

std::optional<std::size_t> check_index(const policy::Policy& policy, std::string_view label) {
  if (!policy.guardrails) return std::nullopt;
  const auto& checks = policy.guardrails->checks;
  const auto found = std::ranges::find(checks, label, &guardrails::Check::label);
  if (found == checks.end()) return std::nullopt;
  return static_cast<std::size_t>(found - checks.begin());
}

// Where a tier comes from, as a place of the policy. Empty: the policy does not say it.
std::string tier_pointer(std::string_view source, const core::Rehearsal& seen,
                         const PolicyTree& tree) {
  const std::string& agent = seen.call.agent_id;
  const std::string& tool = seen.call.tool;
  const std::string& effect = seen.classification.effect_class;
  const auto first_there = [&](std::initializer_list<std::string> pointers) {
    for (const std::string& pointer : pointers) {
      if (tree.at(pointer) != nullptr) return pointer;
    }
    return std::string();
  };
  const auto listed = [&](const std::string& list, std::initializer_list<std::string> names) {
    const json::value* const all = tree.at(list);
    if (all == nullptr || !all->is_array()) return std::string();
    for (std::size_t i = 0; i < all->get_array().size(); ++i) {
      for (const std::string& name : names) {
        if (all->get_array()[i] == json::value(name)) return fmt::format("{}/{}", list, i);
      }
    }
    return std::string();
  };
  if (source == "agent_action_tiers") {
    const std::string table = "/autonomy/agent_action_tiers" + pointer_step(agent);
    return first_there({table + pointer_step(tool), table + pointer_step(effect)});
  }
  if (source == "agent_tiers") return first_there({"/autonomy/agent_tiers" + pointer_step(agent)});
  if (source == "action_tiers") {
    return first_there({"/autonomy/action_tiers" + pointer_step(tool),
                        "/autonomy/action_tiers" + pointer_step(effect)});
  }
  if (source == "autonomy_tier" || source == "tier" || source == "ceiling" || source == "budget") {
    return first_there({"/autonomy/" + std::string(source)});
  }
  if (source == "trust") return first_there({"/trust/enforce"});
  if (source == "requires_human") {
    const json::value* const all = tree.at("/autonomy/requires_human");
    if (all != nullptr && *all == json::value(true)) return "/autonomy/requires_human";
    std::string found = listed("/autonomy/requires_human_actions", {tool, effect});
    return found.empty() ? listed("/autonomy/requires_human_agents", {agent}) : found;
  }
  return {};
}

// The row of `tools` that says what the tool is. Empty: none does.
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

// Which of the tiers that were weighed keep the call from running by itself.
std::vector<core::TierStep> holding_steps(const core::Rehearsal& seen) {
  static const std::set<std::string, std::less<>> kLowering = {
      "ceiling", "demotion", "scope", "grant", "requires_human", "budget", "trust"};
  std::optional<core::TierStep> base;
  std::vector<core::TierStep> holding;
  for (const core::TierStep& step : seen.tier_steps) {
    // A rule that lifts is a base; one that asks is a cause of its own.
    if (step.source == "rule" && step.tier != Autonomy::ActAuto) continue;
    if (!kLowering.contains(step.source)) {
      base = step;
    } else if (step.tier < Autonomy::ActAuto) {
      holding.push_back(step);
    }
  }
  if (base && base->tier < Autonomy::ActAuto) holding.insert(holding.begin(), *base);
  return holding;
}

std::optional<std::size_t> rule_index(const PolicyTree& tree, const std::string& id) {
  const json::value* const rules = tree.at("/rules");
  if (rules == nullptr || !rules->is_array()) return std::nullopt;
  for (std::size_t i = 0; i < rules->get_array().size(); ++i) {
    const json::object* const rule = rules->get_array()[i].if_object();
    if (rule != nullptr && text_in(*rule, "id") == id) return i;
  }
  return std::nullopt;
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

// What would have to differ in the call for the rule not to match (RU-77).
std::string would_differ(const PolicyTree& tree, const std::string& id) {
  const std::optional<std::size_t> index = rule_index(tree, id);
  if (!index) return {};
  const std::string rule = fmt::format("/rules/{}", *index);
  std::vector<std::string> ways;
  if (const json::value* const when = tree.at(rule + "/when"))
    ways.push_back("one of these would have to differ: " + alternatives_text(*when));
  if (const json::value* const unless = tree.at(rule + "/unless"))
    ways.push_back("`unless` would have to hold: " + alternatives_text(*unless));
  if (tree.at(rule + "/only") != nullptr) ways.emplace_back("one alternative would have to fit");
  return ways.empty() ? "it matches every effect" : fmt::format("{}", fmt::join(ways, "; or "));
}

// What a match of a rule does to the call (RU-3). Empty: it restricts nothing.
std::string match_verdict(const json::object& match) {
  const auto then = text_in(match, "then");
  if (then == "deny") return text_in(match, "match") == "yes" ? "refused" : "asks";
  return then == "ask" ? "asks" : "";
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
      causes_.push_back({.kind = "call", .verdict = "refused", .text = *seen_.refusal});
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
    const std::string verdict = denies ? "refused" : "asks";
    if (run.guard == "guardrails" && run.verdict == GuardVerdict::Deny) return add_checks(run);
    if (run.stage == "grant") {
      return add({"grant", run.rule.value_or("grant"), tree_.place(grant_pointer(tree_)), verdict,
                  why_of(run)});
    }
    if (run.guard == "tool-pins") {
      return add({"pin", run.rule.value_or("pin"), "", verdict,
                  "the definition of the tool has changed since it was accepted"});
    }
    add({"guard", run.guard, "", verdict, run.why.value_or(run.rule.value_or(""))});
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
      add({"check", check, place_of_check(check), "refused",
           fmt::format("it finds something at {}",
                       text_in(finding, "path").value_or("the input"))});
      any = true;
    }
    const std::string check = run.rule.value_or("guardrails");
    if (!any) add({"check", check, place_of_check(check), "refused", run.why.value_or("")});
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
        const std::string says = match_verdict(match);
        if (says.empty()) continue;
        add({"rule", rule, tree_.place_of_rule(rule), says,
             fmt::format("it matches: {}; {}", text_in(match, "match").value_or("?"),
                         would_differ(tree_, rule))});
      }
    }
    const bool refused = verdict == core::RuleAnswer::Verdict::Refused;
    const bool by_rule = !seen_.rules->rule.empty();
    if (causes_.size() != before && (by_rule || !refused)) return;
    const std::string says = refused ? "refused" : "asks";
    if (by_rule) {
      add({"rule", seen_.rules->rule, tree_.place_of_rule(seen_.rules->rule), says,
           seen_.rules->text});
    } else {
      add({"unlisted", "unlisted", tree_.place("/unlisted"), says,
           "no rule decides an effect of the call"});
    }
  }

  void add_tiers() {
    if (!seen_.tiered) return;
    for (const core::TierStep& step : holding_steps(seen_)) {
      const std::string pointer = tier_pointer(step.source, seen_, tree_);
      add({"tier", step.source, pointer.empty() ? std::string() : tree_.place(pointer),
           tier_verdict(step.tier),
           step.about.empty() ? std::string(to_string(step.tier))
                              : fmt::format("{}, {}", to_string(step.tier), step.about)});
    }
  }

  const core::Rehearsal& seen_;
  const policy::Policy& policy_;
  const PolicyTree& tree_;
  std::vector<Cause> causes_;
};

struct Edit {
  EditText told{};
  std::function<void(CallTrial&)> apply{};
};

// The policy of the trial as a value that can be changed.
void edit_policy(CallTrial& trial, const std::function<void(json::value&)>& change) {
  const Result<PolicyTree> tree = PolicyTree::read(trial.policy, trial.policy_name);
  if (!tree) return;
  json::value value = tree->value();
  change(value);
  trial.policy = {.text = json::serialize(value)};
}

// Objects on the way are made where they are missing.
void set_at(json::value& root, const std::string& pointer, json::value value) {
  json::value* at = &root;
  for (std::size_t begin = 1; begin <= pointer.size();) {
    const std::size_t end = std::min(pointer.find('/', begin), pointer.size());
    std::string name;
    for (std::size_t i = begin; i < end; ++i) {
      const bool escaped = pointer[i] == '~' && i + 1 < end;
      name += escaped ? (pointer[++i] == '1' ? '/' : '~') : pointer[i];
    }
    if (json::array* const list = at->if_array()) {
      const auto index = static_cast<std::size_t>(std::stoul(name));
      if (index >= list->size()) return;
      at = &(*list)[index];
    } else {
      if (!at->is_object()) *at = json::object();
      at = &at->get_object()[name];
    }
    begin = end + 1;
  }
  *at = std::move(value);
}

void remove_at(json::value& root, const std::string& pointer) {
  const std::size_t slash = pointer.rfind('/');
  boost::system::error_code code;
  json::value* const parent = root.find_pointer(pointer.substr(0, slash), code);
  if (parent == nullptr) return;
  const std::string step = pointer.substr(slash + 1);
  if (json::array* const list = parent->if_array()) {
    const auto index = static_cast<std::size_t>(std::stoul(step));
    if (index < list->size()) list->erase(list->begin() + static_cast<long>(index));
    // A list that names nothing is refused, one that is not there says the same.
    if (list->empty()) remove_at(root, pointer.substr(0, slash));
  } else if (json::object* const object = parent->if_object()) {
    std::string name;
    for (std::size_t i = 0; i < step.size(); ++i) {
      const bool escaped = step[i] == '~' && i + 1 < step.size();
      name += escaped ? (step[++i] == '1' ? '/' : '~') : step[i];
    }
    object->erase(name);
  }
}

Edit policy_edit(const PolicyTree& tree, const std::string& pointer, std::string text,
                 std::function<void(json::value&)> change) {
  return {{tree.place(pointer), std::move(text)},
          [change = std::move(change)](CallTrial& trial) { edit_policy(trial, change); }};
}

Edit set_edit(const PolicyTree& tree, const std::string& pointer, std::string text,
              json::value value) {
  return policy_edit(
      tree, pointer, std::move(text),
      [pointer, value = std::move(value)](json::value& root) { set_at(root, pointer, value); });
}

std::string last_step(const std::string& pointer) {
  return pointer.substr(pointer.rfind('/') + 1);
}

class Search {
 public:
  explicit Search(const CallTrial& trial) : trial_(trial) {}

  Result<std::vector<Change>> run(const std::vector<Cause>& causes) {
    SALLYPORT_TRY(const TrialAnswer start, decide(trial_, core::Hearing::All));
    const bool asks =
        app::verdict_of(start.seen) == "asks" || app::verdict_of(start.seen) == "proposed";
    if (asks) SALLYPORT_CHECK_OK(try_approval(start.seen));
    SALLYPORT_CHECK_OK(try_policy(causes, start));
    SALLYPORT_CHECK_OK(try_input(start));
    SALLYPORT_CHECK_OK(try_world(causes, start));
    return std::move(found_);
  }

 private:
  // The trial with the edits, decided. Nothing: the edited policy does not load.
  std::optional<TrialAnswer> tried(const std::vector<Edit>& edits, core::Hearing hearing) {
    if (++trials_ > kMostTrials) return std::nullopt;
    CallTrial changed = trial_;
    for (const Edit& edit : edits) edit.apply(changed);
    Result<TrialAnswer> answer = decide(changed, hearing);
    if (!answer) return std::nullopt;
    return std::move(*answer);
  }

  bool runs(const std::vector<Edit>& edits) {
    const std::optional<TrialAnswer> answer = tried(edits, core::Hearing::UntilRefused);
    return answer && app::verdict_of(answer->seen) == "runs";
  }

  // What can be left out is left out; the rest was tried.
  void keep(const std::string& kind, std::vector<Edit> edits) {
    if (edits.empty() || edits.size() > kMostEdits || !runs(edits)) return;
    for (std::size_t i = 0; edits.size() > 1 && i < edits.size();) {
      std::vector<Edit> fewer = edits;
      fewer.erase(fewer.begin() + static_cast<long>(i));
      if (runs(fewer)) {
        edits = std::move(fewer);
      } else {
        ++i;
      }
    }
    Change change{.kind = kind, .verdict = "runs"};
    for (const Edit& edit : edits) change.edits.push_back(edit.told);
    const auto of_kind = static_cast<std::size_t>(std::ranges::count(found_, kind, &Change::kind));
    const bool known = std::ranges::any_of(found_, [&](const Change& other) {
      return other.kind == kind &&
             std::ranges::equal(other.edits, change.edits, {}, &EditText::text, &EditText::text);
    });
    if (of_kind < kMostOfAKind && !known) found_.push_back(std::move(change));
  }

  Result<void> try_approval(const core::Rehearsal& seen) {
    SALLYPORT_TRY(const TrialAnswer answer, decide(trial_, core::Hearing::Approved));
    if (app::verdict_of(answer.seen) != "runs" || !seen.question) return {};
    const Question& question = *seen.question;
    const std::string who = question.reviewers.empty()
                                ? "the registered approvers"
                                : fmt::format("{}", fmt::join(question.reviewers, ", "));
    found_.push_back(
        {.kind = "world",
         .edits = {{"", fmt::format("{} of {} says yes before {}", question.approvers_required, who,
                                    question.expires_at)}},
         .verdict = "runs"});
    return {};
  }

  // Edits for what holds the call now; a change may bring up a further cause, so this is repeated.
  Result<void> try_policy(std::vector<Cause> causes, const TrialAnswer& start) {
    SALLYPORT_TRY(PolicyTree tree, PolicyTree::read(trial_.policy, trial_.policy_name));
    const PolicyTree own = tree;
    std::vector<Edit> edits;
    core::Rehearsal seen = start.seen;
    for (int round = 0; round < 4; ++round) {
      const std::size_t before = edits.size();
      for (const Cause& cause : causes) {
        if (std::optional<Edit> edit = policy_edit_for(cause, seen, start.policy(), own)) {
          edits.push_back(std::move(*edit));
        }
      }
      if (edits.size() == before) break;
      const std::optional<TrialAnswer> next = tried(edits, core::Hearing::All);
      if (!next) break;
      if (app::verdict_of(next->seen) == "runs") break;
      causes = causes_of(next->seen, next->policy(), own);
      seen = next->seen;
    }
    keep("policy", edits);
    if (start.seen.classification.source.empty()) {
      keep("policy", {classify_edit(start.seen, own)});
    }
    return {};
  }

  static Edit classify_edit(const core::Rehearsal& seen, const PolicyTree& tree) {
    json::object row{{"tool", seen.call.tool}, {"tier", "observe"}, {"class", "none"}};
    if (!seen.call.server.empty()) row["server"] = seen.call.server;
    return policy_edit(tree, "/tools", fmt::format("tools: + {}", canonical_json(row)),
                       [row](json::value& root) {
                         json::object* const policy = root.if_object();
                         if (policy == nullptr) return;
                         json::value& tools = (*policy)["tools"];
                         if (!tools.is_array()) tools = json::array();
                         tools.get_array().push_back(row);
                       });
  }

  static std::optional<Edit> policy_edit_for(const Cause& cause, const core::Rehearsal& seen,
                                             const policy::Policy& policy, const PolicyTree& tree) {
    if (cause.kind == "check") {
      const std::optional<std::size_t> index = check_index(policy, cause.name);
      if (!index) return std::nullopt;
      const std::string check = fmt::format("/guardrails/checks/{}", *index);
      Edit edit = set_edit(tree, check + "/on_fail", "on_fail: block -> log", "log");
      edit.told.place = tree.place(check);
      return edit;
    }
    if (cause.kind == "rule") return rule_edit(cause, tree);
    if (cause.kind == "unlisted") {
      return policy_edit(tree, "/unlisted", "unlisted: removed",
                         [](json::value& root) { remove_at(root, "/unlisted"); });
    }
    if (cause.kind == "grant") {
      return policy_edit(tree, "/grants", "grants: removed",
                         [](json::value& root) { remove_at(root, "/grants"); });
    }
    if (cause.kind == "tier") return tier_edit(cause.name, seen, tree);
    return std::nullopt;
  }

  static std::optional<Edit> rule_edit(const Cause& cause, const PolicyTree& tree) {
    const std::optional<std::size_t> index = rule_index(tree, cause.name);
    if (!index) return std::nullopt;
    const std::string rule = fmt::format("/rules/{}", *index);
    const char* const key = tree.at(rule + "/otherwise") ? "otherwise" : "then";
    const json::value* const was = tree.at(rule + "/" + key);
    const std::string word =
        was && was->is_string() ? std::string(was->get_string()) : std::string("?");
    Edit edit = set_edit(tree, rule + "/" + key,
                         fmt::format("rule `{}`, {}: {} -> log", cause.name, key, word), "log");
    edit.told.place = tree.place_of_rule(cause.name);
    return edit;
  }

  static std::optional<Edit> tier_edit(const std::string& source, const core::Rehearsal& seen,
                                       const PolicyTree& tree) {
    const std::string pointer = tier_pointer(source, seen, tree);
    if (source == "default") {
      return set_edit(tree, "/autonomy/tier", "autonomy.tier: act_auto", "act_auto");
    }
    if (pointer.empty()) return std::nullopt;
    if (source == "budget") {
      return policy_edit(tree, pointer, "autonomy.budget: removed",
                         [pointer](json::value& root) { remove_at(root, pointer); });
    }
    if (source == "trust") return set_edit(tree, pointer, "trust.enforce: true -> false", false);
    if (source == "requires_human") {
      const std::string name = pointer.substr(1, pointer.rfind('/') - 1);
      return policy_edit(tree, pointer,
                         pointer == "/autonomy/requires_human"
                             ? "autonomy.requires_human: true -> false"
                             : fmt::format("{}: without `{}`", name,
                                           tree.at(pointer)->is_string()
                                               ? std::string_view(tree.at(pointer)->get_string())
                                               : std::string_view("?")),
                         [pointer](json::value& root) { remove_at(root, pointer); });
    }
    const json::value* const was = tree.at(pointer);
    return set_edit(tree, pointer,
                    fmt::format("{}: {} -> act_auto", last_step(pointer),
                                was && was->is_string() ? std::string_view(was->get_string())
                                                        : std::string_view("?")),
                    "act_auto");
  }

  // What a check found is cut out; of a command line, one command after the other is left out.
  Result<void> try_input(const TrialAnswer& start) {
    std::vector<Edit> cuts;
    for (const json::object& finding : start.seen.findings) {
      if (text_in(finding, "action") != "block") continue;
      const std::string path = text_or_empty(finding, "path");
      const std::string found = text_or_empty(finding, "excerpt");
      const json::value* const leaf = input_at(path);
      if (leaf == nullptr || !leaf->is_string()) continue;
      cuts.push_back(cut_edit(path, found));
    }
    keep("input", std::move(cuts));
    for_each_text("", trial_.call.input, [&](const std::string& path, const std::string& text) {
      for (const auto& [begin, end] : commands_in(text)) {
        keep("input", {without_command(path, text, begin, end)});
      }
    });
    return {};
  }

  const json::value* input_at(const std::string& path) const {
    boost::system::error_code code;
    return trial_.call.input.find_pointer(path, code);
  }

  static void set_input(CallTrial& trial, const std::string& path, const std::string& text) {
    boost::system::error_code code;
    json::value* const leaf = trial.call.input.find_pointer(path, code);
    if (leaf != nullptr) *leaf = text;
    trial.call.raw_input.reset();
  }

  static Edit cut_edit(const std::string& path, const std::string& found) {
    return {{path, "remove what the check found"}, [path, found](CallTrial& trial) {
              boost::system::error_code code;
              const json::value* const leaf = trial.call.input.find_pointer(path, code);
              if (leaf == nullptr || !leaf->is_string()) return;
              std::string text(leaf->get_string());
              bool any = false;
              for (std::size_t at = found.empty() ? std::string::npos : text.find(found);
                   at != std::string::npos; at = text.find(found, at)) {
                text.erase(at, found.size());
                any = true;
              }
              set_input(trial, path, any ? text : std::string());
            }};
  }

  static void for_each_text(
      const std::string& path, const json::value& value,
      const std::function<void(const std::string& path, const std::string& text)>& visit) {
    if (const json::object* const object = value.if_object()) {
      for (const auto& member : *object) {
        for_each_text(path + pointer_step(member.key()), member.value(), visit);
      }
    } else if (const json::array* const array = value.if_array()) {
      for (std::size_t i = 0; i < array->size(); ++i) {
        for_each_text(fmt::format("{}/{}", path, i), (*array)[i], visit);
      }
    } else if (value.is_string()) {
      visit(path, std::string(value.get_string()));
    }
  }

  // The parts of a line between separators. A guess: each is tried before it is said.
  static std::vector<std::pair<std::size_t, std::size_t>> commands_in(const std::string& text) {
    std::vector<std::pair<std::size_t, std::size_t>> parts;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool two = text.compare(i, 2, "&&") == 0 || text.compare(i, 2, "||") == 0;
      const bool one = text[i] == ';' || text[i] == '\n';
      if (!two && !one) continue;
      parts.emplace_back(begin, i);
      begin = i + (two ? 2 : 1);
      if (two) ++i;
    }
    if (begin == 0) return {};
    parts.emplace_back(begin, text.size());
    constexpr std::size_t kMostParts = 20;
    if (parts.size() > kMostParts) parts.clear();
    return parts;
  }

  static Edit without_command(const std::string& path, const std::string& text, std::size_t begin,
                              std::size_t end) {
    std::string rest = text.substr(0, begin) + text.substr(end);
    const auto trim = [&](std::string_view marks) {
      while (!rest.empty() && marks.find(rest.front()) != std::string_view::npos) rest.erase(0, 1);
      while (!rest.empty() && marks.find(rest.back()) != std::string_view::npos) rest.pop_back();
    };
    trim(" \n;&|");
    std::string part = text.substr(begin, end - begin);
    const std::size_t first = part.find_first_not_of(' ');
    if (first != std::string::npos) part.erase(0, first);
    return {{path, fmt::format("leave out `{:.80}`", part)},
            [path, rest](CallTrial& trial) { set_input(trial, path, rest); }};
  }

  Result<void> try_world(const std::vector<Cause>& causes, const TrialAnswer& start) {
    const core::Rehearsal& seen = start.seen;
    std::vector<Edit> edits;
    bool promotes = false;
    for (const Cause& cause : causes) {
      if (cause.kind == "pin") {
        const std::string key = canonical_json(json::array{seen.call.server, seen.call.tool});
        edits.push_back(
            {{"", fmt::format("accept the changed tool (`{}`)",
                              mcp::pins_command("accept", seen.call.server, seen.call.tool))},
             [key](CallTrial& trial) { trial.facts[{"tool_pin_changed", key}] = std::nullopt; }});
      } else if (cause.kind == "tier" && cause.name == "budget") {
        edits.push_back({{"", "wait a day"}, [](CallTrial& trial) {
                           trial.at += std::chrono::hours(24) + std::chrono::seconds(1);
                         }});
      } else if (cause.kind == "tier" && !std::exchange(promotes, true)) {
        edits.push_back({{"", fmt::format("promote `{}` to act_auto (`sallyport trust promote`)",
                                          seen.call.agent_id)},
                         [](CallTrial& trial) {
                           trial.standing = trust::Standing{.promoted_to = Autonomy::ActAuto};
                         }});
      }
    }
    keep("world", std::move(edits));
    return {};
  }

  const CallTrial& trial_;
  std::size_t trials_ = 0;
  std::vector<Change> found_;
};

}  // namespace

std::vector<Cause> causes_of(const core::Rehearsal& seen, const policy::Policy& policy,
                             const PolicyTree& tree) {
  if (verdict_of(seen) == "runs") return {};
  return CauseList(seen, policy, tree).all();
}

// The first cause of the verdict; of a call that runs, what lets it.
Cause decider_of(const core::Rehearsal& seen, const policy::Policy& policy,
                 const PolicyTree& tree) {
  const std::string verdict(verdict_of(seen));
  const std::vector<Cause> causes = causes_of(seen, policy, tree);
  if (seen.rules && !seen.rules->rule.empty()) {
    const bool by_rule =
        (verdict == "refused" && seen.rules->verdict == core::RuleAnswer::Verdict::Refused) ||
        (verdict == "asks" && seen.rules->verdict == core::RuleAnswer::Verdict::Asks) ||
        (verdict == "runs" && seen.rules->verdict == core::RuleAnswer::Verdict::Allowed);
    const bool guard_first = std::ranges::any_of(causes, [&](const Cause& cause) {
      return cause.verdict == "refused" && cause.kind != "rule" && cause.kind != "unlisted" &&
             cause.kind != "tier";
    });
    if (by_rule && !guard_first) {
      return {"rule", seen.rules->rule, tree.place_of_rule(seen.rules->rule), verdict,
              seen.rules->text};
    }
  }
  // The tier that holds is the decider among tiers, not the first that was weighed.
  for (const Cause& cause : causes) {
    if (cause.verdict == verdict && cause.kind != "tier") return cause;
  }
  const std::string pointer = tier_pointer(seen.tier_source, seen, tree);
  if (seen.tier_source == "observe" || !seen.tiered) {
    const std::string row = tool_pointer(seen, tree);
    const bool said = seen.classification.source == "policy" && !row.empty();
    return {said ? "tool" : "class", said ? seen.call.tool : seen.classification.source,
            said ? tree.place(row) : std::string(), verdict, "the tool only observes"};
  }
  if (!seen.refusal || verdict == "shadow") {
    return {"tier", seen.tier_source, pointer.empty() ? std::string() : tree.place(pointer),
            verdict, std::string(to_string(seen.tier))};
  }
  return causes.empty() ? Cause{.kind = "call", .verdict = verdict, .text = *seen.refusal}
                        : causes.front();
}

Result<std::vector<Change>> changes_for(const CallTrial& trial, const std::vector<Cause>& causes) {
  if (causes.empty()) return std::vector<Change>{};
  return Search(trial).run(causes);
}

}  // namespace sallyport::app
