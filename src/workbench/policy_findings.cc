#include "workbench/policy_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <iterator>
#include <set>

#include "guardrails/check/entry_reach.h"
#include "rules/condition.h"
#include "rules/warnings.h"
#include "workbench/tier_findings.h"

namespace sallyport::app {

namespace {

using guardrails::Action;
using guardrails::Check;
using guardrails::CheckType;

// A call that proves the finding when the policy decides it.
json::object shown_by(const Check& check, const std::string& text) {
  if (check.stage != guardrails::Stage::ToolUse) {
    return {{"text", text}, {"stage", guardrails::to_string(check.stage)}};
  }
  const std::string tool = check.tools.empty() ? "any_tool" : check.tools.front();
  return {{"call", json::object{{"tool", tool}, {"input", json::object{{"text", text}}}}}};
}

class PolicyLint {
 public:
  explicit PolicyLint(const PolicyToLint& linted) : linted_(linted) {}

  std::vector<PolicyFinding> run() {
    if (linted_.policy != nullptr) {
      rules();
      std::ranges::move(tier_findings(linted_), std::back_inserter(found_));
    }
    if (linted_.guardrails != nullptr) checks();
    return std::move(found_);
  }

 private:
  void find(std::string code, std::string place, std::string text, json::object proof,
            bool is_error = false) {
    found_.push_back(
        {std::move(code), is_error, std::move(place), std::move(text), std::move(proof)});
  }

  std::string place(const std::string& pointer) const { return place_in(linted_, pointer); }

  // The warnings of `policy check`, under the same codes (RU-74).
  void rules() {
    const auto& set = linted_.policy->rules;
    for (rules::Warning& warning : policy::warnings_without_rules(*linted_.policy)) {
      find(std::move(warning.code), std::move(warning.place), warning.text,
           json::object{{"why", warning.text}});
    }
    if (!set) return;
    for (rules::Warning& warning :
         rules::warnings(*set, {.now = linted_.now,
                                .home = linted_.home,
                                .agents = policy::known_agents(*linted_.policy)})) {
      warned_.insert(warning.place);
      json::object proof = dead_by(warning.place);
      proof["why"] = warning.text;
      find(std::move(warning.code), std::move(warning.place), std::move(warning.text),
           std::move(proof));
    }
    for (std::size_t at = 0; at < set->rules.size(); ++at) covered_rule(set->rules, at);
    for (std::size_t at = set->rules.size(); at-- > 0;) covered_together(set->rules, at);
  }

  static bool is_plain(const rules::Rule& one) {
    return !one.has_only() && !one.expires && one.asking == rules::ApprovalTerms{} &&
           !one.escalate && !one.result;  // conditions on results are not compared
  }

  // Finds a rule that another one of the same kind covers; the later of two that cover each other.
  void covered_rule(const std::vector<rules::Rule>& all, std::size_t at) {
    const rules::Rule& rule = all[at];
    if (!is_plain(rule) || warned_.contains(rule.place)) return;
    const bool logs = rule.then == rules::Then::Log;
    for (std::size_t other = 0; other < all.size(); ++other) {
      const rules::Rule& by = all[other];
      if (other == at || logs || by.then != rule.then || !is_plain(by) || !by.unless.empty())
        continue;
      if (!covers(by, rule) || (covers(rule, by) && rule.unless.empty() && other > at)) continue;
      json::object proof = dead_by(fmt::format("rule {} at {}", by.id, by.place));
      warned_.insert(rule.place);
      return find("covered", rule.place,
                  fmt::format("rule `{}` changes no verdict: `{}` at {} covers it", rule.id, by.id,
                              by.place),
                  std::move(proof));
    }
  }

  // Finds a rule that others of the same kind cover together. Idle rules do not count, so removing
  // all found rules changes no decision.
  void covered_together(const std::vector<rules::Rule>& all, std::size_t at) {
    const rules::Rule& rule = all[at];
    if (!is_plain(rule) || rule.when.empty() || rule.then == rules::Then::Log ||
        warned_.contains(rule.place)) {
      return;
    }
    std::vector<rules::Conditions> others;
    for (const rules::Rule& by : all) {
      if (&by == &rule || by.then != rule.then || !is_plain(by) || !by.unless.empty()) continue;
      if (!warned_.contains(by.place)) std::ranges::copy(by.when, std::back_inserter(others));
    }
    if (others.empty() || !rules::implies(rules::in_pieces(rule.when), others)) return;
    warned_.insert(rule.place);
    find("covered", rule.place,
         fmt::format("rule `{}` changes no verdict: other `{}` rules cover it together", rule.id,
                     rules::to_string(rule.then)),
         dead_by("the other rules together"));
  }

  static bool covers(const rules::Rule& wide, const rules::Rule& narrow) {
    if (wide.when.empty()) return true;
    return !narrow.when.empty() && rules::implies(narrow.when, wide.when);
  }

  std::string check_pointer(std::size_t at) const {
    const std::string checks = linted_.policy ? "/guardrails/checks/" : "/checks/";
    return checks + std::to_string(at);
  }

  void checks() {
    const std::vector<Check>& all = linted_.guardrails->checks;
    std::set<std::size_t> idle;
    for (std::size_t at = 0; at < all.size(); ++at) {
      const Check& check = all[at];
      entries(check, at);
      for (std::size_t i = 0; i < check.except.size(); ++i) exception(check, at, i);
      for (std::size_t i = 0; i < check.tools.size(); ++i) {
        scope(check.tools[i], check_pointer(at) + "/tools/" + std::to_string(i));
      }
      if (covered_check(all, at)) idle.insert(at);
    }
    for (std::size_t at = all.size(); at-- > 0;) {
      if (!idle.contains(at) && check_covered_together(all, at, idle)) idle.insert(at);
    }
  }

  void scope(const std::string& tool, const std::string& at) {
    if (is_known_tool(linted_, tool)) return;
    find("unknown_tool", place(at),
         fmt::format("no profile and no entry of `tools` knows a tool `{:.80}`", tool),
         dead_by("tools"));
  }

  void entries(const Check& check, std::size_t at) {
    const char* const key = check.type == CheckType::Blocklist     ? "/words/"
                            : check.type == CheckType::ToolPattern ? "/tools/"
                                                                   : "/patterns/";
    std::set<std::size_t> idle;
    for (std::size_t i = 0; i < check.entries.size(); ++i) {
      const std::string& entry = check.entries[i];
      const std::string where = check_pointer(at) + key + std::to_string(i);
      const auto reach = reach_of(check, entry);
      if (reach == guardrails::EntryReach::Nothing) {
        find("matches_nothing", place(where), fmt::format("no text matches `{:.80}`", entry),
             dead_by("the pattern itself"));
        idle.insert(i);
        continue;
      }
      if (reach == guardrails::EntryReach::Everything && check.except.empty()) {
        find("matches_everything", place(where), fmt::format("every text matches `{:.80}`", entry),
             shown_by(check, "x"));
      }
      if (covered_entry(check, i, where)) idle.insert(i);
    }
    for (std::size_t i = check.entries.size(); i-- > 0;) {
      if (idle.contains(i)) continue;
      const std::string where = check_pointer(at) + key + std::to_string(i);
      if (entry_covered_together(check, i, where, idle)) idle.insert(i);
    }
  }

  // True if every find in a text has the same effect: nothing is replaced or excepted.
  static bool any_find_counts(const Check& check) {
    return check.type != CheckType::ToolPattern && check.on_fail != Action::Redact &&
           check.except.empty();
  }

  // Finds an entry whose texts the others find together. Idle entries do not count.
  bool entry_covered_together(const Check& check, std::size_t i, const std::string& where,
                              const std::set<std::size_t>& idle) {
    std::vector<std::string> others;
    for (std::size_t j = 0; j < check.entries.size(); ++j) {
      if (j != i && !idle.contains(j)) others.push_back(check.entries[j]);
    }
    if (others.size() < 2 || !any_find_counts(check)) return false;
    if (!guardrails::is_covered(check, check.entries[i], others)) return false;
    find("covered", place(where),
         fmt::format("`{:.80}` finds nothing that the other entries together do not find",
                     check.entries[i]),
         dead_by(fmt::format("the other entries of check {}", check.label)));
    return true;
  }

  // No word is everything: a word has letters of its own.
  static guardrails::EntryReach reach_of(const Check& check, const std::string& entry) {
    using guardrails::EntryReach;
    if (check.type == CheckType::Regex) return guardrails::reach_of_pattern(check, entry);
    const bool any_name =
        check.type == CheckType::ToolPattern && entry.find_first_not_of('*') == std::string::npos;
    return any_name ? EntryReach::Everything : EntryReach::Some;
  }

  // A find inside a match of an exception does not count (GR-30).
  void exception(const Check& check, std::size_t at, std::size_t i) {
    const std::string where = check_pointer(at) + "/except/" + std::to_string(i);
    const auto reach = reach_of(check, check.except[i]);
    if (reach == guardrails::EntryReach::Everything) {
      find("matches_everything", place(where),
           fmt::format("every text matches the exception `{:.80}`", check.except[i]),
           shown_by(check, "x"));
    }
    if (reach == guardrails::EntryReach::Nothing) {
      find("matches_nothing", place(where),
           fmt::format("no text matches the exception `{:.80}`", check.except[i]),
           dead_by("the pattern itself"));
    }
  }

  static std::string folded(const Check& check, std::string text) {
    if (check.case_sensitive) return text;
    for (char& c : text) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return text;
  }

  // Finds a repeated entry, or one whose texts another entry finds; the later of two that cover
  // each other. For replacements the length matters, so only repeated entries are found.
  bool covered_entry(const Check& check, std::size_t i, const std::string& where) {
    const bool words = check.type == CheckType::Blocklist;
    const bool by_text = any_find_counts(check);
    const std::string own = words ? folded(check, check.entries[i]) : check.entries[i];
    for (std::size_t j = 0; j < check.entries.size(); ++j) {
      if (j == i) continue;
      const std::string other = words ? folded(check, check.entries[j]) : check.entries[j];
      const bool same = own == other && j < i;
      const bool held = by_text && own != other && finds_all_of(check, other, own) &&
                        (j < i || !finds_all_of(check, own, other));
      if (!same && !held) continue;
      find("covered", place(where),
           fmt::format("`{:.80}` finds nothing that `{:.80}` does not find", own, other),
           dead_by(fmt::format("entry {} of check {}", j + 1, check.label)));
      return true;
    }
    return false;
  }

  static bool finds_all_of(const Check& check, const std::string& wide, const std::string& narrow) {
    return guardrails::is_covered(check, narrow, {wide});
  }

  static bool within(const std::vector<std::string>& narrow, const std::vector<std::string>& wide) {
    if (wide.empty()) return true;
    return !narrow.empty() && std::ranges::all_of(narrow, [&](const std::string& one) {
      return std::ranges::find(wide, one) != wide.end();
    });
  }

  // True if a find of `wide` does at least what the same find of `narrow` does, where that looks.
  static bool stands_for(const Check& wide, const Check& narrow) {
    const bool same_reading =
        wide.type == narrow.type && wide.stage == narrow.stage && wide.unicode == narrow.unicode &&
        wide.case_sensitive == narrow.case_sensitive && wide.whole_word == narrow.whole_word &&
        wide.views == narrow.views && wide.decode_depth == narrow.decode_depth;
    const bool stronger =
        (wide.on_fail == Action::Block && narrow.on_fail != Action::Log) ||
        (wide.on_fail == narrow.on_fail && wide.replacement == narrow.replacement);
    return same_reading && stronger && wide.except.empty() && within(narrow.tools, wide.tools) &&
           within(narrow.args, wide.args);
  }

  // `entries` are of checks that stand for this one. To block or log, any find suffices; to
  // replace, it must be the same find.
  static bool are_covered(const Check& narrow, const std::vector<std::string>& entries,
                          bool by_text) {
    return std::ranges::all_of(narrow.entries, [&](const std::string& entry) {
      return std::ranges::find(entries, entry) != entries.end() ||
             (by_text && guardrails::is_covered(narrow, entry, entries));
    });
  }

  static bool covers(const Check& wide, const Check& narrow) {
    return stands_for(wide, narrow) && are_covered(narrow, wide.entries, any_find_counts(wide));
  }

  bool covered_check(const std::vector<Check>& all, std::size_t at) {
    for (std::size_t other = 0; other < all.size(); ++other) {
      if (other == at || !covers(all[other], all[at])) continue;
      if (covers(all[at], all[other]) && other > at) continue;
      find("covered", place(check_pointer(at)),
           fmt::format("check `{}` changes nothing: `{}` covers it", all[at].label,
                       all[other].label),
           dead_by(fmt::format("check {}", all[other].label)));
      return true;
    }
    return false;
  }

  // Finds a check whose finds others make together. Idle checks do not count.
  bool check_covered_together(const std::vector<Check>& all, std::size_t at,
                              const std::set<std::size_t>& idle) {
    std::vector<std::string> entries;
    bool by_text = true;
    std::size_t others = 0;
    for (std::size_t other = 0; other < all.size(); ++other) {
      if (other == at || idle.contains(other) || !stands_for(all[other], all[at])) continue;
      ++others;
      by_text = by_text && any_find_counts(all[other]);
      std::ranges::copy(all[other].entries, std::back_inserter(entries));
    }
    if (others < 2 || !are_covered(all[at], entries, by_text)) return false;
    find("covered", place(check_pointer(at)),
         fmt::format("check `{}` changes nothing: other checks cover it together", all[at].label),
         dead_by("the other checks together"));
    return true;
  }

  const PolicyToLint& linted_;
  std::vector<PolicyFinding> found_;
  std::set<std::string> warned_;  // places of rules that are found idle
};

}  // namespace

json::object to_json(const PolicyFinding& finding) {
  return {{"code", finding.code},
          {"severity", finding.is_error ? "error" : "warning"},
          {"place", finding.place},
          {"proof", finding.proof}};
}

std::vector<PolicyFinding> findings_in(const PolicyToLint& linted) {
  return PolicyLint(linted).run();
}

}  // namespace sallyport::app
