#include "rules/rule_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "rules/message.h"
#include "rules/rule_index.h"
#include "rules/rule_matcher.h"

namespace sallyport::rules {

namespace {

using effects::Effect;
using effects::Effects;

// What one rule does to each effect.
struct Ruling {
  const Rule* rule = nullptr;
  std::vector<Match> match{};
  std::vector<Then> then{};
  std::string why{};  // for a rule with `only`: what did not fit
};

Ruling ruling_of(const Rule& rule, const RuleMatcher& matcher) {
  Ruling ruling{.rule = &rule};
  if (!rule.has_only()) {
    ruling.match = matcher.matches(rule, rule.then == Then::Allow);
    ruling.then.assign(ruling.match.size(), rule.then);
    return ruling;
  }
  ruling.match = matcher.matches(rule, false);
  ruling.then.assign(ruling.match.size(), rule.then);
  std::vector<std::size_t> sure;
  for (std::size_t i = 0; i < ruling.match.size(); ++i) {
    if (ruling.match[i] == Match::Yes) sure.push_back(i);
  }
  if (sure.empty()) return ruling;
  for (std::size_t i = 0; i < rule.only.size(); ++i) {
    const std::optional<std::string> misfit = matcher.misfit(rule.only[i], sure);
    if (!misfit) {
      for (const std::size_t at : sure) ruling.then[at] = Then::Allow;
      ruling.why.clear();
      return ruling;
    }
    ruling.why += fmt::format("{}`{}` of alternative {} does not hold",
                              ruling.why.empty() ? "" : ", ", *misfit, i + 1);
  }
  return ruling;
}

bool matched(const Ruling& ruling) {
  return std::ranges::any_of(ruling.match, [](Match each) { return each != Match::No; });
}

// Notes a rule that judges the result and does not decide about the call.
void note_result_rule(RuleDecision& decision, const Ruling& ruling) {
  for (std::size_t i = 0; i < ruling.match.size(); ++i) {
    if (ruling.match[i] == Match::No) continue;
    const RuleMatch match{ruling.rule, ruling.then[i], ruling.match[i], i};
    if (decision.results.empty() || decision.results.back().rule != ruling.rule) {
      decision.results.push_back(match);
    }
    decision.matches.push_back(match);
  }
}

// All rules that match a call, in the order of the file. Of the rules with `only`, just the most
// specific.
std::vector<Ruling> rulings(const RuleSet& set, const RuleIndex& index, const RuleMatcher& matcher,
                            WallTime now, RuleDecision& decision) {
  std::vector<Ruling> all;
  std::optional<std::size_t> narrowest;
  for (std::size_t i = 0; i < set.rules.size(); ++i) {
    // Expired rules are always listed.
    if (!index.empty() && !index[i].expires && !matcher.may_meet(index[i])) continue;
    const Rule& rule = set.rules[i];
    if (rule.expired(now)) {
      decision.expired.push_back(&rule);
      continue;
    }
    if (!matcher.may_match(rule, allows_only(rule))) continue;
    Ruling ruling = ruling_of(rule, matcher);
    if (!matched(ruling)) continue;
    if (rule.result) {
      note_result_rule(decision, ruling);
      continue;
    }
    all.push_back(std::move(ruling));
    if (!rule.has_only()) continue;
    const std::size_t last = all.size() - 1;
    if (!narrowest || rank_of(rule) > rank_of(*all[*narrowest].rule)) narrowest = last;
  }
  std::vector<Ruling> kept;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].rule->has_only() || i == narrowest) kept.push_back(std::move(all[i]));
  }
  return kept;
}

bool refuses(Then then, Match match) {
  return then == Then::Deny && match == Match::Yes;
}
bool asks(Then then, Match match) {
  return (then == Then::Ask && match != Match::No) ||
         (then == Then::Deny && match == Match::Unknown);
}
bool allows(Then then, Match match) {
  return then == Then::Allow && match == Match::Yes;
}

bool asks_for_sure(Then then, Match match) {
  return then == Then::Ask && match == Match::Yes;
}

// The precedence: a rule that refuses; `unlisted: deny` if no rule certainly allows or asks (RU-6);
// a rule that asks or may refuse; an effect that needs no rule; a rule that allows.
RuleVerdict verdict_of(const RuleSet& set, const std::vector<Ruling>& all, const Effect& effect,
                       std::size_t at) {
  const auto any_rule = [&](bool (*does)(Then, Match)) {
    return std::ranges::any_of(
        all, [&](const Ruling& ruling) { return does(ruling.then[at], ruling.match[at]); });
  };
  if (any_rule(refuses)) return RuleVerdict::Refused;
  const bool free = effects::is_free(effect);
  const bool open = !free && !any_rule(allows) && !any_rule(asks_for_sure);
  if (open && set.unlisted == Unlisted::Deny) return RuleVerdict::Refused;
  if (any_rule(asks)) return RuleVerdict::Asks;
  if (free) return RuleVerdict::Free;
  if (!open) return RuleVerdict::Allowed;
  return set.unlisted ? RuleVerdict::Asks : RuleVerdict::Open;
}

using Picks = bool (*)(Then, Match);

// The first rule in the file that decides so about an effect, and that effect.
struct Pick {
  const Ruling* ruling = nullptr;
  std::size_t effect = 0;
};
template <class Fits>
Pick first(const std::vector<Ruling>& all, Fits fits) {
  for (const Ruling& ruling : all) {
    for (std::size_t i = 0; i < ruling.match.size(); ++i) {
      if (fits(ruling, i)) return {&ruling, i};
    }
  }
  return {};
}

// The rule that decides the verdict: the first that certainly matches, otherwise the first that may
// match (RU-12).
Pick deciding(RuleVerdict verdict, const std::vector<Ruling>& all, const Effects& effects) {
  const auto does = [&](Picks picks) {
    return [picks](const Ruling& ruling, std::size_t i) {
      return picks(ruling.then[i], ruling.match[i]);
    };
  };
  switch (verdict) {
    case RuleVerdict::Refused:
      return first(all, does(refuses));
    case RuleVerdict::Asks: {
      const Pick sure = first(all, [](const Ruling& ruling, std::size_t i) {
        return ruling.then[i] == Then::Ask && ruling.match[i] == Match::Yes;
      });
      return sure.ruling ? sure : first(all, does(asks));
    }
    case RuleVerdict::Allowed:
    case RuleVerdict::Free: {
      const Pick effective = first(all, [&](const Ruling& ruling, std::size_t i) {
        return allows(ruling.then[i], ruling.match[i]) && !effects::is_free(effects.effects[i]);
      });
      return effective.ruling ? effective : first(all, does(allows));
    }
    case RuleVerdict::Open:
      break;
  }
  return {};
}

void note_matches(RuleDecision& decision, const std::vector<Ruling>& all) {
  for (const Ruling& ruling : all) {
    bool asked = false;
    bool logged = false;
    bool allowed = false;
    for (std::size_t i = 0; i < ruling.match.size(); ++i) {
      if (ruling.match[i] == Match::No) continue;
      decision.matches.push_back({ruling.rule, ruling.then[i], ruling.match[i], i});
      asked = asked || ruling.then[i] == Then::Ask;
      logged = logged || ruling.then[i] == Then::Log;
      allowed = allowed || allows(ruling.then[i], ruling.match[i]);
    }
    if (asked) decision.asking.narrow(ruling.rule->asking);
    if (logged) decision.logged.push_back(ruling.rule);
    if (ruling.rule->escalate && (logged || allowed)) decision.escalated.push_back(ruling.rule);
  }
}

void write_text(RuleDecision& decision, const Pick& pick, const RuleMatcher& matcher,
                const Effects& effects) {
  if (pick.ruling == nullptr) return;
  decision.rule = pick.ruling->rule;
  const RuleMatch match{decision.rule, pick.ruling->then[pick.effect],
                        pick.ruling->match[pick.effect], pick.effect};
  if (decision.verdict != RuleVerdict::Refused && decision.verdict != RuleVerdict::Asks) return;
  decision.message = message_of(*decision.rule, match, effects, matcher.scene(), pick.ruling->why);
  decision.text = decision.verdict == RuleVerdict::Refused
                      ? fmt::format("Blocked by rule `{}`: {}", decision.rule->id, decision.message)
                      : fmt::format("Rule `{}` asks: {}", decision.rule->id, decision.message);
}

}  // namespace

std::string_view to_string(RuleVerdict verdict) {
  constexpr std::array<std::string_view, 5> kNames = {"refused", "asks", "open", "allowed", "free"};
  return kNames[static_cast<std::size_t>(verdict)];
}

const Rule* RuleSet::find(std::string_view id) const {
  const auto found = std::ranges::find(rules, id, &Rule::id);
  return found == rules.end() ? nullptr : &*found;
}

json::object RuleSet::dump() const {
  json::array all;
  for (const Rule& rule : rules) all.push_back(rule.source);
  json::array servers;
  for (const auto& [name, server] : book.servers) {
    servers.push_back(json::object{{"server", name},
                                   {"profile", server.profile},
                                   {"trust_hints", server.trust_hints},
                                   {"remote_paths", server.remote_paths}});
  }
  json::array tools;
  for (const auto& [key, tool] : book.tools) {
    json::array roles;
    for (const effects::RoleOf& role : tool.roles) {
      roles.push_back(json::array{effects::kRoles[static_cast<std::size_t>(role.role)], role.text});
    }
    tools.push_back(json::object{{"server", key.first},
                                 {"tool", key.second},
                                 {"class", tool.effect_class},
                                 {"roles", std::move(roles)}});
  }
  json::value open;
  if (unlisted) open = *unlisted == Unlisted::Ask ? "ask" : "deny";
  return {{"rules", std::move(all)},
          {"unlisted", std::move(open)},
          {"workspace", json::value_from(workspace)},
          {"servers", std::move(servers)},
          {"tools", std::move(tools)}};
}

RuleDecision decide(const RuleSet& set, const effects::CallFacts& facts, const Effects& effects,
                    WallTime now) {
  return decide(set, RuleIndex(), facts, effects, now);
}

RuleDecision decide(const RuleSet& set, const RuleIndex& index, const effects::CallFacts& facts,
                    const Effects& effects, WallTime now) {
  const RuleMatcher matcher(facts, effects);
  RuleDecision decision;
  const std::vector<Ruling> all = rulings(set, index, matcher, now, decision);
  for (std::size_t i = 0; i < effects.effects.size(); ++i) {
    const RuleVerdict verdict = verdict_of(set, all, effects.effects[i], i);
    decision.effect_verdicts.push_back(verdict);
    decision.verdict = std::min(decision.verdict, verdict);
    decision.all_free = decision.all_free && effects::is_free(effects.effects[i]);
  }
  note_matches(decision, all);
  if (!decision.results.empty()) {
    // Restores the order of the file.
    std::ranges::sort(decision.matches, {},
                      [](const RuleMatch& match) { return std::pair(match.rule, match.effect); });
  }
  write_text(decision, deciding(decision.verdict, all, effects), matcher, effects);
  if (decision.rule == nullptr && decision.verdict == RuleVerdict::Refused) {
    decision.text = "no rule of the policy allows it, and `unlisted` is `deny`";
  }
  return decision;
}

effects::CallFacts seen_by(const RuleSet& set, const effects::CallFacts& facts) {
  effects::CallFacts seen = facts;
  if (!set.workspace.empty()) seen.workspace = set.workspace;
  seen.workspace = usable_workspace(std::move(seen.workspace), facts.machine.home);
  const effects::ServerDescription* const server = set.book.server(facts.call.server);
  if (server && server->remote_paths) seen.files = nullptr;
  return seen;
}

Judged judge(const RuleSet& set, const effects::CallFacts& facts, WallTime now) {
  const effects::CallFacts seen = seen_by(set, facts);
  Judged judged{.effects = effects::effects_of_call(seen, set.book)};
  judged.decision = decide(set, seen, judged.effects, now);
  return judged;
}

CallOutcome outcome_of(const RuleDecision& decision, Autonomy tier, bool observes) {
  const bool tiered = !decision.all_free && !observes;
  const RuleVerdict verdict = decision.verdict;
  if (verdict == RuleVerdict::Refused) return {"refused", decision.rule};
  if (tiered && tier == Autonomy::Shadow) return {"shadow", nullptr};
  if (verdict == RuleVerdict::Asks) return {"asks", decision.rule};
  if (tiered && tier == Autonomy::Suggest) return {"proposed", nullptr};
  if (verdict == RuleVerdict::Open) {
    return {tiered && tier == Autonomy::ActWithApproval ? "asks" : "runs", nullptr};
  }
  return {"runs", decision.rule};
}

std::vector<Match> matches_of(const Rule& rule, const effects::CallFacts& facts,
                              const Effects& effects) {
  const RuleMatcher matcher(facts, effects);
  return matcher.matches(rule, allows_only(rule));
}

namespace {

std::string_view reason_text(effects::OpaqueReason reason) {
  constexpr std::array<std::string_view, 15> kNames = {
      "syntax",        "function",    "alias",   "expansion", "eval",
      "builtin",       "code",        "heredoc", "stdin",     "interpreter",
      "configuration", "environment", "remote",  "encoding",  "limit"};
  return kNames[static_cast<std::size_t>(reason)];
}

json::object path_json(const effects::EffectPath& path, const effects::FileView* files) {
  const PathForms forms = forms_of(path, files);
  if (forms.unknown) return {{"unknown", true}};
  json::object shown{{"written", forms.forms.front().text()}};
  if (forms.resolved) {
    shown["resolved"] = forms.forms.back().text();
  } else {
    shown["resolved"] = false;
  }
  if (forms.below) shown["below"] = true;
  return shown;
}

}  // namespace

json::array opaque_json(const Effects& effects) {
  json::array spans;
  for (const effects::OpaqueSpan& span : effects.opaque) {
    spans.push_back(json::object{
        {"reason", reason_text(span.reason)}, {"start", span.start}, {"end", span.end}});
  }
  return spans;
}

json::array effects_json(const Effects& effects, const effects::CallFacts& facts) {
  json::array all;
  for (const Effect& effect : effects.effects) {
    json::object shown{{"class", effect.effect_class}};
    if (effect.path) shown["path"] = path_json(*effect.path, facts.files);
    if (effect.host) {
      shown["host"] = effect.host->unknown ? json::value(json::object{{"unknown", true}})
                                           : json::value(effect.host->text);
    }
    if (effect.command) shown["command"] = command_text(*effect.command);
    if (effect.recursive) shown["recursive"] = true;
    if (effect.opaque) shown["opaque"] = true;
    all.push_back(std::move(shown));
  }
  return all;
}

json::object record_of(const Judged& judged) {
  const RuleDecision& decision = judged.decision;
  json::array matches;
  for (const RuleMatch& match : decision.matches) {
    matches.push_back(json::object{{"rule", match.rule->id},
                                   {"then", to_string(match.then)},
                                   {"match", match.match == Match::Yes ? "yes" : "unknown"},
                                   {"effect", match.effect}});
  }
  return {{"verdict", to_string(decision.verdict)},
          {"rule", decision.rule ? json::value(decision.rule->id) : json::value()},
          {"place", decision.rule ? json::value(decision.rule->place) : json::value()},
          {"matches", std::move(matches)},
          {"opaque", opaque_json(judged.effects)}};
}

}  // namespace sallyport::rules
