#include "app/workbench/holes.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <set>

#include "app/workbench/policy_tree.h"
#include "base/json_members.h"
#include "base/try.h"
#include "guardrails/check/argument_texts.h"
#include "guardrails/check/hole_search.h"
#include "guardrails/document/wildcard.h"

namespace sallyport::app {

namespace {

constexpr std::string_view kHoleMark = "[REDACTED:";

std::optional<std::vector<guardrails::TextPiece>> pieces_of(std::string_view text,
                                                            const std::vector<Hole>& holes) {
  std::vector<guardrails::HoleKind> kinds;
  for (const Hole& hole : holes) kinds.push_back({hole.category, hole.detector});
  return guardrails::pieces_of(text, kinds);
}

bool looks_at(const guardrails::Check& check, const Call& call) {
  if (check.stage != guardrails::Stage::ToolUse) return false;
  if (check.type == guardrails::CheckType::ToolPattern) return false;  // names only
  return check.tools.empty() || std::ranges::any_of(check.tools, [&](const std::string& pattern) {
           return guardrails::fits(pattern, call.tool);
         });
}

// A call of a rule that only names decide: whatever the input is, the rule matches.
bool decides_by_names(const PolicyTree& tree, const std::string& rule) {
  const json::value* const rules = tree.at("/rules");
  if (rules == nullptr || !rules->is_array()) return false;
  for (const json::value& each : rules->get_array()) {
    const json::object* const object = each.if_object();
    if (object == nullptr || text_in(*object, "id") != rule) continue;
    const json::object* const when = object_in(*object, "when");
    if (object->contains("unless") || object->contains("only") || when == nullptr) return false;
    return std::ranges::all_of(*when, [](const auto& member) {
      const std::string_view key = member.key();
      return key == "server" || key == "tool" || key == "agent" || key == "front";
    });
  }
  return false;
}

// Every text that stands somewhere in a policy.
void gather_texts(const json::value& value, std::set<std::string>& texts) {
  if (const json::object* const object = value.if_object()) {
    for (const auto& member : *object) gather_texts(member.value(), texts);
  } else if (const json::array* const array = value.if_array()) {
    for (const json::value& each : *array) gather_texts(each, texts);
  } else if (value.is_string()) {
    texts.emplace(value.get_string());
  }
}

class Filling {
 public:
  Filling(CallTrial& trial, std::vector<Hole> holes) : trial_(trial), holes_(std::move(holes)) {}

  // A value that the policy names is known by its keyed digest: that hole is none.
  Result<void> restore(const KeyedDigest& digest) {
    SALLYPORT_TRY(const PolicyTree tree, PolicyTree::read(trial_.policy, trial_.policy_name));
    std::set<std::string> texts;
    gather_texts(tree.value(), texts);
    std::erase_if(holes_, [&](const Hole& hole) {
      boost::system::error_code code;
      json::value* const leaf = trial_.call.input.find_pointer(hole.path, code);
      if (!hole.whole || leaf == nullptr || !leaf->is_string()) return false;
      for (const std::string& text : texts) {
        if (digest(text) != hole.digest) continue;
        *leaf = text;
        return true;
      }
      return false;
    });
    return {};
  }

  Result<HoleAnswer> run() {
    if (holes_.empty()) return HoleAnswer{};
    const json::value recorded = trial_.call.input;
    if (!by_path()) return unknown(holes_.front(), "the record does not say where it was");
    fill();
    SALLYPORT_TRY(const TrialAnswer answer, decide(trial_, core::Hearing::All));
    if (refused_by_names(answer, answer.tree())) return HoleAnswer{};
    if (answer.policy().rules) {
      return unknown(holes_.front(), "the rules of the policy look at the input");
    }
    if (answer.policy().grants && answer.seen.grant) {
      return unknown(holes_.front(), "the grant constrains the input");
    }
    if (trial_.call.tool == "elicitation/create") {
      return unknown(holes_.front(), "the gate looks at forms");
    }
    if (!answer.policy().guardrails) return HoleAnswer{};
    HoleAnswer open;
    for (const guardrails::Check& check : answer.policy().guardrails->checks) {
      if (!looks_at(check, trial_.call) || check.on_fail != guardrails::Action::Block) continue;
      const Reach reach = reach_of(check, recorded);
      if (reach.must) return HoleAnswer{};
      if (reach.may && !open.missing) {
        open = unknown(*reach.may, fmt::format("check `{}` looks at it", check.label));
      }
    }
    return open;
  }

 private:
  static HoleAnswer unknown(const Hole& hole, std::string why) {
    return {.missing = hole, .why = std::move(why)};
  }

  // The holes of each text of the input. False: one is in no text.
  bool by_path() {
    for (const Hole& hole : holes_) {
      boost::system::error_code code;
      const json::value* const leaf = trial_.call.input.find_pointer(hole.path, code);
      if (leaf == nullptr || !leaf->is_string() || hole.path.find(kHoleMark) != std::string::npos) {
        return false;
      }
      const std::string_view text = leaf->get_string();
      // JSON in a text is written anew when something is taken out of it.
      const bool may_be_json = text.starts_with('{') || text.starts_with('[');
      if (may_be_json && !text.starts_with(kHoleMark)) return false;
      at_[hole.path].push_back(hole);
    }
    for (const auto& [path, holes] : at_) {
      const std::string text(trial_.call.input.at_pointer(path).get_string());
      if (!pieces_of(text, holes)) return false;
    }
    return true;
  }

  void fill() {
    for (const auto& [path, holes] : at_) {
      json::value& leaf = trial_.call.input.at_pointer(path);
      leaf = guardrails::filled(*pieces_of(std::string(leaf.get_string()), holes));
    }
  }

  static bool refused_by_names(const TrialAnswer& answer, const PolicyTree& tree) {
    for (const GuardRun& run : answer.seen.guard_runs) {
      // These look at names and at the state of the ledger, never at the input.
      if (run.verdict == GuardVerdict::Deny && (run.guard == "tool-pins" || run.guard == "agent"))
        return true;
    }
    const json::value* const matches =
        answer.seen.rules ? answer.seen.rules->record.if_contains("matches") : nullptr;
    if (matches == nullptr || !matches->is_array()) return false;
    return std::ranges::any_of(matches->get_array(), [&](const json::value& each) {
      const json::object& match = each.as_object();
      return text_in(match, "then") == "deny" && text_in(match, "match") == "yes" &&
             decides_by_names(tree, text_or_empty(match, "rule"));
    });
  }

  struct Reach {
    bool must = false;          // the check hits every filling
    std::optional<Hole> may{};  // the hole by which it hits some
  };
  Reach reach_of(const guardrails::Check& check, const json::value& recorded) const {
    std::vector<guardrails::ArgumentPath> paths;
    for (const std::string& path : check.args) {
      auto parsed = guardrails::ArgumentPath::read(path);
      if (!parsed) return {.may = holes_.front()};
      paths.push_back(std::move(*parsed));
    }
    const std::optional<guardrails::ArgumentTexts> texts =
        paths.empty() ? guardrails::ArgumentTexts::of(recorded)
                      : guardrails::ArgumentTexts::at(recorded, paths);
    Reach reach;
    if (!texts) return reach;
    for (const guardrails::ArgumentText& text : texts->texts()) {
      const std::optional<std::string> path = texts->path(text);
      const auto found = path ? at_.find(*path) : at_.end();
      if (path && found == at_.end()) continue;
      const std::vector<Hole>& holes = path ? found->second : holes_;
      const auto pieces = pieces_of(text.text, holes);
      if (!pieces) return {.may = holes.front()};
      const guardrails::HoleReach hits = guardrails::reach_of(check, *pieces);
      reach.must = reach.must || hits.must;
      if (!reach.may && hits.may) reach.may = holes.front();
    }
    return reach;
  }

  CallTrial& trial_;
  std::vector<Hole> holes_;
  std::map<std::string, std::vector<Hole>> at_;  // by path
};

}  // namespace

Result<HoleAnswer> fill_holes(CallTrial& trial, const std::vector<Hole>& holes,
                              const KeyedDigest* digest) {
  Filling filling(trial, holes);
  if (digest != nullptr) SALLYPORT_CHECK_OK(filling.restore(*digest));
  return filling.run();
}

}  // namespace sallyport::app
