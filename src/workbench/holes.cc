#include "workbench/holes.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <set>

#include "base/json_members.h"
#include "base/try.h"
#include "base/wildcard.h"
#include "guardrails/check/argument_texts.h"
#include "guardrails/check/hole_search.h"
#include "workbench/hole_rules.h"
#include "workbench/policy_tree.h"

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
           return fits_wildcard(pattern, call.tool);
         });
}

// True if the rule matches the names of the call with any input.
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

// Collects every text of a policy.
void gather_texts(const json::value& value, std::set<std::string>& texts) {
  if (const json::object* const object = value.if_object()) {
    for (const auto& member : *object) gather_texts(member.value(), texts);
  } else if (const json::array* const array = value.if_array()) {
    for (const json::value& each : *array) gather_texts(each, texts);
  } else if (value.is_string()) {
    texts.emplace(value.get_string());
  }
}

// The text in the hole if the whole text is `text`.
std::optional<std::string> between(std::string_view text,
                                   const std::vector<guardrails::TextPiece>& pieces) {
  const std::string& before = pieces.front().text;
  const std::string& after = pieces.back().text;
  if (text.size() <= before.size() + after.size()) return std::nullopt;
  if (!text.starts_with(before) || !text.ends_with(after)) return std::nullopt;
  return std::string(text.substr(before.size(), text.size() - before.size() - after.size()));
}

// The parts of a decision that the words in holes could change.
std::string outline_of(const TrialAnswer& answer) {
  const core::Rehearsal& seen = answer.seen;
  json::object outline{{"verdict", to_string(verdict_of(seen))},
                       {"class", seen.classification.effect_class},
                       {"tier", to_string(seen.tier)}};
  if (!seen.rules) return canonical_json(outline);
  outline["rule"] = seen.rules->rule;
  outline["said"] = static_cast<int>(seen.rules->verdict);
  json::array effects;
  if (const json::value* const matches = seen.rules->record.if_contains("matches")) {
    outline["matches"] = *matches;
  }
  if (const json::value* const all = seen.rules->record.if_contains("effects")) {
    for (const json::value& each : all->get_array()) {
      effects.push_back(json::string(text_or_empty(each.as_object(), "class")));
    }
  }
  outline["effects"] = std::move(effects);
  return canonical_json(outline);
}

bool refused_by_names(const TrialAnswer& answer, const PolicyTree& tree) {
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

// Rules do not see text that a check removes.
bool can_decide(const guardrails::Check& check, const policy::Policy& policy) {
  return check.on_fail == guardrails::Action::Block ||
         (check.on_fail == guardrails::Action::Redact && policy.rules);
}

class Filling {
 public:
  Filling(CallTrial& trial, std::vector<Hole> holes) : trial_(trial), holes_(std::move(holes)) {}

  // Restores values that the policy names: the keyed digest identifies them.
  Result<void> restore(const KeyedDigest& digest) {
    PolicyShelf own;
    SALLYPORT_TRY(const auto shelved,
                  (trial_.shelf ? *trial_.shelf : own).read(trial_.policy, trial_.policy_name));
    std::set<std::string> texts;
    gather_texts(shelved->tree.value(), texts);
    // Includes the texts of a policy that it extends.
    if (shelved->policy.rules) {
      for (const rules::Rule& rule : shelved->policy.rules->rules) gather_texts(rule.source, texts);
    }
    by_digest_ = true;
    std::erase_if(holes_, [&](const Hole& hole) {
      boost::system::error_code code;
      json::value* const leaf = trial_.call.input.find_pointer(hole.path, code);
      if (leaf == nullptr || !leaf->is_string()) return false;
      const auto pieces = pieces_of(std::string_view(leaf->get_string()), {hole});
      if (!pieces || pieces->size() != 3) return false;
      for (const std::string& text : texts) {
        const std::optional<std::string> word = hole.whole ? text : between(text, *pieces);
        if (!word || digest(*word) != hole.digest) continue;
        *leaf = hole.whole ? text : pieces->front().text + *word + pieces->back().text;
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
    fill(0);
    SALLYPORT_TRY(const TrialAnswer answer, decide(trial_, core::RehearsalScope::All));
    if (refused_by_names(answer, answer.tree())) return HoleAnswer{.words = words()};
    if (answer.policy().grants && answer.seen.grant) {
      return unknown(holes_.front(), "the grant constrains the input");
    }
    if (trial_.call.tool == "elicitation/create") {
      return unknown(holes_.front(), "the gate looks at forms");
    }
    const HoleAnswer by_checks = answer_of_checks(answer, recorded);
    if (by_checks.missing || refused_) return by_checks;
    return answer_of_rules(answer);
  }

 private:
  static HoleAnswer unknown(const Hole& hole, std::string why) {
    return {.missing = hole, .why = std::move(why)};
  }

  HoleAnswer answer_of_checks(const TrialAnswer& answer, const json::value& recorded) {
    HoleAnswer open;
    if (!answer.policy().guardrails) return open;
    const guardrails::Document& document = *answer.policy().guardrails;
    if (document.mode == guardrails::Mode::Advisory) return open;
    for (const guardrails::Check& check : document.checks) {
      const bool blocks = check.on_fail == guardrails::Action::Block;
      if (!looks_at(check, trial_.call) || !can_decide(check, answer.policy())) continue;
      const Reach reach = reach_of(check, recorded);
      refused_ = refused_ || (blocks && reach.must);
      if (reach.may && !open.missing) {
        open = unknown(*reach.may, fmt::format("check `{}` looks at it", check.label));
      }
    }
    return refused_ ? HoleAnswer{.words = words()} : open;
  }

  Result<HoleAnswer> answer_of_rules(const TrialAnswer& answer) {
    HoleAnswer known{.words = words()};
    if (!answer.policy().external.empty()) {
      return unknown(holes_.front(), "an external guard may look at it");
    }
    if (!answer.policy().rules) return known;
    const HoleRules rules(trial_, *answer.policy().rules, texts_, by_digest_);
    if (!rules.looks()) return known;
    if (const std::optional<HoleRules::Doubt> doubt = rules.doubt()) {
      return unknown(at_.at(doubt->path).front(), doubt->why);
    }
    std::set<std::string> values;
    for (const Hole& hole : holes_) values.insert(hole.digest);
    if (values.size() < holes_.size()) return unknown(holes_.front(), "it stands in two places");
    const auto* const files = dynamic_cast<const RecordedFiles*>(trial_.files);
    const bool on_disk = rules.in_a_path() && !trial_.upstream.remote_files;
    if (on_disk && (files == nullptr || files->has_more())) {
      return unknown(holes_.front(), "the path may be a link");
    }
    return tried(outline_of(answer), std::move(known));
  }

  // Decides each kind of word.
  Result<HoleAnswer> tried(const std::string& wanted, HoleAnswer known) {
    std::size_t most = 0;
    for (const auto& [path, pieces] : texts_) {
      most = std::max(most, guardrails::words_of(pieces));
    }
    for (std::size_t which = 1; which < most; ++which) {
      fill(which);
      SALLYPORT_TRY(const TrialAnswer other, decide(trial_, core::RehearsalScope::All));
      if (outline_of(other) != wanted) {
        return unknown(holes_.front(), "another value of its kind would be decided otherwise");
      }
    }
    fill(0);
    return known;
  }

  std::map<std::string, std::string> words() const {
    std::map<std::string, std::string> words;
    for (const auto& [path, pieces] : texts_) {
      std::size_t place = 0;
      for (const guardrails::TextPiece& piece : pieces) {
        if (piece.forms.empty()) continue;
        const std::string word = guardrails::word_in(piece, place++, 0);
        if (word.size() > 1) words[word] = piece.text;
      }
    }
    return words;
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
      // Redaction writes JSON inside a text anew.
      const bool may_be_json = text.starts_with('{') || text.starts_with('[');
      if (may_be_json && !text.starts_with(kHoleMark)) return false;
      at_[hole.path].push_back(hole);
    }
    for (const auto& [path, holes] : at_) {
      const std::string text(trial_.call.input.at_pointer(path).get_string());
      auto pieces = pieces_of(text, holes);
      if (!pieces) return false;
      texts_[path] = std::move(*pieces);
    }
    return true;
  }

  void fill(std::size_t which) {
    for (const auto& [path, pieces] : texts_) {
      trial_.call.input.at_pointer(path) = guardrails::filled(pieces, which);
    }
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
  HoleTexts texts_;
  bool by_digest_ = false;  // what the policy names is restored
  bool refused_ = false;    // by a check, with any words
};

}  // namespace

Result<HoleAnswer> fill_holes(CallTrial& trial, const std::vector<Hole>& holes,
                              const KeyedDigest* digest) {
  Filling filling(trial, holes);
  if (digest != nullptr) SALLYPORT_CHECK_OK(filling.restore(*digest));
  return filling.run();
}

Result<bool> needs_input(const CallTrial& trial) {
  SALLYPORT_TRY(const TrialAnswer answer, decide(trial, core::RehearsalScope::All));
  const policy::Policy& policy = answer.policy();
  if (refused_by_names(answer, answer.tree())) return false;
  const bool looked_at = (policy.grants && answer.seen.grant) || policy.rules ||
                         !policy.external.empty() || trial.call.tool == "elicitation/create";
  if (looked_at || !policy.guardrails) return looked_at;
  const guardrails::Document& document = *policy.guardrails;
  return document.mode != guardrails::Mode::Advisory &&
         std::ranges::any_of(document.checks, [&](const guardrails::Check& check) {
           return looks_at(check, trial.call) && can_decide(check, policy);
         });
}

void put_marks_back(std::string& text, const std::map<std::string, std::string>& words) {
  for (const auto& [word, mark] : words) {
    for (std::size_t at = text.find(word); at != std::string::npos;
         at = text.find(word, at + mark.size())) {
      text.replace(at, word.size(), mark);
    }
  }
}

void put_marks_back(json::value& value, const std::map<std::string, std::string>& words) {
  if (json::object* const object = value.if_object()) {
    for (auto& member : *object) put_marks_back(member.value(), words);
  } else if (json::array* const array = value.if_array()) {
    for (json::value& each : *array) put_marks_back(each, words);
  } else if (value.is_string()) {
    std::string text(value.get_string());
    put_marks_back(text, words);
    value = text;
  }
}

}  // namespace sallyport::app
