#include "rules/rule_matcher.h"

#include <algorithm>

namespace sallyport::rules {

namespace {

using effects::Effect;

// All features if the effect may also touch other paths than its own.
std::uint64_t features_of_effect(const SeenEffect& seen) {
  const Effect& effect = seen.effect();
  // A recursive read does not match globs below its path (RU-39).
  const bool reaches_below = effect.recursive && effect.effect_class != "fs.read";
  if (effect.opaque || reaches_below) return RuleKey::kAll;
  if (!effect.path) return 0;
  const PathForms& forms = seen.forms();
  if (forms.unknown || forms.below) return RuleKey::kAll;
  std::uint64_t all = 0;
  for (const PathForm& form : forms.forms) all |= features_of(form);
  return all;
}

}  // namespace

RuleMatcher::RuleMatcher(const effects::CallFacts& facts, const effects::Effects& effects)
    : scene_(facts),
      to_allow_(key_of(facts, effects, true)),
      to_restrict_(key_of(facts, effects, false)) {
  seen_.reserve(effects.effects.size());
  for (const Effect& effect : effects.effects) seen_.emplace_back(effect, facts.files);
}

bool RuleMatcher::may_meet(const RuleKey& rule) const {
  return rules::may_meet(rule, rule.allowing ? to_allow_ : to_restrict_) &&
         ((rule.paths & RuleKey::kNoCondition) != 0 || (rule.paths & path_features()) != 0);
}

bool RuleMatcher::may_match(const Rule& rule, bool allowing) const {
  if (rule.when.empty()) return true;
  const Side side = allowing ? Side::Narrow : Side::Wide;
  for (const Conditions& conditions : rule.when) {
    if (scene_.call_part(conditions) == Match::No) continue;
    for (const SeenEffect& seen : seen_) {
      if (allowing && seen.effect().opaque && conditions.opaque != true) continue;
      if (scene_.effect_part(conditions, seen, side, !allowing) != Match::No) return true;
    }
  }
  return false;
}

std::vector<Match> RuleMatcher::matches(const Rule& rule, bool allowing) const {
  const Side side = allowing ? Side::Narrow : Side::Wide;
  std::vector<Match> found = one_of(rule.when, Match::Yes, side, allowing, !allowing);
  const bool none = std::ranges::all_of(found, [](Match each) { return each == Match::No; });
  if (rule.unless.empty() || none) return found;
  const std::vector<Match> except = one_of(rule.unless, Match::No, reversed(side), false, false);
  for (std::size_t i = 0; i < found.size(); ++i) found[i] = both(found[i], negated(except[i]));
  return found;
}

std::optional<std::string> RuleMatcher::misfit(const Alternative& alternative,
                                               const std::vector<std::size_t>& which) const {
  for (const Argument& argument : alternative.constraints) {
    if (argument.matches(scene_.facts().call) != Match::Yes) return argument.text();
  }
  for (const std::size_t i : which) {
    const Conditions& conditions = alternative.conditions;
    if (seen_[i].effect().opaque && conditions.opaque != true) return "opaque";
    if (alternative.is_list) continue;
    const Match found = both(scene_.call_part(conditions),
                             scene_.effect_part(conditions, seen_[i], Side::Narrow, false));
    if (found != Match::Yes) return first_misfit(conditions, seen_[i]);
  }
  return std::nullopt;
}

std::vector<Match> RuleMatcher::one_of(const std::vector<Conditions>& list, Match without,
                                       Side side, bool allowing, bool opaque_is_unknown) const {
  std::vector<Match> found(seen_.size(), list.empty() ? without : Match::No);
  if (list.empty() && allowing) {
    // A rule without conditions has no `opaque: true` either (RU-55).
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      if (seen_[i].effect().opaque) found[i] = Match::No;
    }
  }
  for (const Conditions& conditions : list) {
    const Match call = scene_.call_part(conditions);
    if (call == Match::No) continue;
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      if (found[i] == Match::Yes) continue;
      if (allowing && seen_[i].effect().opaque && conditions.opaque != true) continue;
      const Match effect = scene_.effect_part(conditions, seen_[i], side, opaque_is_unknown);
      found[i] = either(found[i], both(call, effect));
    }
  }
  return found;
}

std::uint64_t RuleMatcher::path_features() const {
  if (!path_features_) {
    path_features_ = 0;
    for (const SeenEffect& seen : seen_) *path_features_ |= features_of_effect(seen);
  }
  return *path_features_;
}

std::string RuleMatcher::first_misfit(const Conditions& all, const SeenEffect& seen) const {
  const std::pair<std::string_view, Conditions> kParts[] = {
      {"agent", {.agent = all.agent}},
      {"session", {.session = all.session}},
      {"front", {.front = all.front}},
      {"interactive", {.interactive = all.interactive}},
      {"server", {.server = all.server}},
      {"tool", {.tool = all.tool}},
      {"class", {.effect_class = all.effect_class}},
      {"path", {.path = all.path}},
      {"inside", {.inside = all.inside}},
      {"outside", {.outside = all.outside}},
      {"recursive", {.recursive = all.recursive}},
      {"opaque", {.opaque = all.opaque}},
      {"host", {.host = all.host}},
      {"command", {.command = all.command}},
      {"args", {.args = all.args}}};
  for (const auto& [name, part] : kParts) {
    const Match found =
        both(scene_.call_part(part), scene_.effect_part(part, seen, Side::Narrow, false));
    if (found != Match::Yes) return std::string(name);
  }
  return "conditions";
}

}  // namespace sallyport::rules
