#include "guardrails/check/check_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "guardrails/view/view_normaliser.h"

namespace sallyport::guardrails {

namespace {

using Rules = std::vector<match::ParsedRule>;

// Every expression was parsed before, so the only error is that the set is too large.
std::expected<std::shared_ptr<const match::PatternSet>, DocumentError> build(
    const Document& document, const Rules& rules, const std::vector<std::uint32_t>& checks) {
  auto set = match::PatternSet::build(rules);
  if (set) return std::move(*set);
  DocumentError error{.code = "invalid_regex", .message = set.error().message};
  error.detail = "too_large";
  std::size_t rule = 0;
  if (set.error().where.starts_with('/')) {
    rule = std::strtoul(set.error().where.c_str() + 1, nullptr, 10);
  }
  if (rule < checks.size()) {
    const Check& check = document.checks[checks[rule]];
    error.check = check.label;
    error.check_index = checks[rule];
    error.path = fmt::format("/checks/{}", checks[rule]);
    error.message = fmt::format("check '{}': {}", check.label, set.error().message);
  }
  return std::unexpected(std::move(error));
}

// Words in their normalised form; a word that becomes empty is left out.
std::vector<std::shared_ptr<const match::Parsed>> normalised_words(
    const Check& check, const std::vector<std::string>& words, bool exceptions,
    const std::vector<std::shared_ptr<const match::Parsed>>& parsed,
    const std::vector<View>& normalisers, std::vector<std::uint32_t>& kept) {
  std::vector<std::shared_ptr<const match::Parsed>> all;
  for (std::uint32_t i = 0; i < words.size(); ++i) {
    std::string word = normalised(words[i], normalisers);
    if (word.empty()) continue;
    kept.push_back(i);
    if (word == words[i]) {
      all.push_back(parsed[i]);
      continue;
    }
    auto read = match::parse(expression_of(check, std::move(word), exceptions));
    all.push_back(std::make_shared<const match::Parsed>(std::move(read).value()));
  }
  return all;
}

class PlanMaker {
 public:
  PlanMaker(const Document& document, const std::vector<ParsedCheck>& parsed)
      : document_(document), parsed_(parsed) {}

  match::ParsedRule rule_of(std::uint32_t index) const {
    return {effect_of(document_, document_.checks[index]), parsed_[index].entries,
            parsed_[index].exceptions};
  }

  std::expected<ViewGroup, DocumentError> group_of(const CheckSet& made,
                                                   std::vector<std::uint32_t> rules) const {
    ViewGroup group = ViewGroup::of(document_, made.checks, std::move(rules));
    Rules plain;
    Rules normal;
    std::vector<std::uint32_t> checks;
    for (const std::uint32_t rule : group.rules) {
      const std::uint32_t index = made.checks[rule];
      checks.push_back(index);
      plain.push_back(rule_of(index));
      normal.push_back(normalised_rule(index, group));
    }
    auto set = build(document_, plain, checks);
    if (!set) return std::unexpected(std::move(set).error());
    group.plain = std::move(*set);
    group.normalised = group.plain;
    if (normal != plain) {
      set = build(document_, normal, checks);
      if (!set) return std::unexpected(std::move(set).error());
      group.normalised = std::move(*set);
    }
    return group;
  }

 private:
  match::ParsedRule normalised_rule(std::uint32_t index, ViewGroup& group) const {
    const Check& check = document_.checks[index];
    match::ParsedRule rule = rule_of(index);
    std::vector<std::uint32_t>& kept = group.normalised_entries.emplace_back();
    if (check.type == CheckType::Blocklist) {
      std::vector<std::uint32_t> kept_exceptions;
      rule.entries =
          normalised_words(check, check.entries, false, rule.entries, group.normalisers, kept);
      rule.exceptions = normalised_words(check, check.except, true, rule.exceptions,
                                         group.normalisers, kept_exceptions);
    } else {
      for (std::uint32_t i = 0; i < rule.entries.size(); ++i) kept.push_back(i);
    }
    return rule;
  }

  const Document& document_;
  const std::vector<ParsedCheck>& parsed_;
};

}  // namespace

match::Expression expression_of(const Check& check, std::string text, bool exception) {
  if (check.type == CheckType::Blocklist) {
    return {.kind = match::Expression::Kind::Word,
            .text = std::move(text),
            .caseless = !check.case_sensitive,
            .whole_word = check.whole_word && !exception};
  }
  return {.text = std::move(text), .unicode = check.unicode};
}

Action effective_action(const Document& document, const Check& check) {
  return document.mode == Mode::Advisory ? Action::Log : check.on_fail;
}

match::Effect effect_of(const Document& document, const Check& check) {
  switch (effective_action(document, check)) {
    case Action::Block:
      return match::Effect::Block;
    case Action::Redact:
      return match::Effect::Redact;
    default:
      return match::Effect::Log;
  }
}

std::vector<std::vector<std::uint32_t>> grouped_by_views(const Document& document,
                                                         const std::vector<std::uint32_t>& checks) {
  std::vector<std::vector<std::uint32_t>> groups;
  for (std::uint32_t rule = 0; rule < checks.size(); ++rule) {
    const Check& check = document.checks[checks[rule]];
    if (check.views.empty()) continue;
    const auto alike = std::ranges::find_if(groups, [&](const auto& group) {
      const Check& first = document.checks[checks[group.front()]];
      return first.views == check.views && first.decode_depth == check.decode_depth;
    });
    if (alike == groups.end()) {
      groups.push_back({rule});
    } else {
      alike->push_back(rule);
    }
  }
  return groups;
}

ViewGroup ViewGroup::of(const Document& document, const std::vector<std::uint32_t>& checks,
                        std::vector<std::uint32_t> rules) {
  const Check& first = document.checks[checks[rules.front()]];
  ViewGroup group{.normalisers = normalisers_of(first.views),
                  .views = views_of(first.views, first.decode_depth)};
  group.enforcing = std::ranges::any_of(rules, [&](std::uint32_t rule) {
    return effect_of(document, document.checks[checks[rule]]) != match::Effect::Log;
  });
  group.rules = std::move(rules);
  return group;
}

match::Match ViewGroup::in_plan(std::size_t view, match::Match match) const {
  if (views[view].normalised) match.entry = normalised_entries[match.rule][match.entry];
  match.rule = rules[match.rule];
  return match;
}

std::expected<std::shared_ptr<const CheckSet>, DocumentError> CheckSet::make(
    const Document& document, const std::vector<ParsedCheck>& parsed,
    std::vector<std::uint32_t> chosen) {
  const PlanMaker maker(document, parsed);
  auto made = std::make_shared<CheckSet>();
  made->checks = std::move(chosen);
  Rules rules;
  for (const std::uint32_t check : made->checks) rules.push_back(maker.rule_of(check));
  auto raw = build(document, rules, made->checks);
  if (!raw) return std::unexpected(std::move(raw).error());
  made->raw = std::move(*raw);
  for (std::vector<std::uint32_t>& members : grouped_by_views(document, made->checks)) {
    auto group = maker.group_of(*made, std::move(members));
    if (!group) return std::unexpected(std::move(group).error());
    made->groups.push_back(std::move(*group));
  }
  made->link_groups();
  return made;
}

void CheckSet::link_groups() {
  group_of_rule.resize(checks.size());
  for (const ViewGroup& group : groups) {
    for (const std::uint32_t rule : group.rules) group_of_rule[rule] = &group;
  }
}

const std::string& CheckSet::view_name(std::uint32_t rule, std::uint32_t view) const {
  static const std::string raw = "raw";
  const ViewGroup* const group = group_of_rule[rule];
  return group == nullptr ? raw : group->views[view].name;
}

}  // namespace sallyport::guardrails
