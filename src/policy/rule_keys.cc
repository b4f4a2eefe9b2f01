#include "policy/rule_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "base/nearest.h"
#include "base/try.h"
#include "effects/command_line.h"
#include "effects/profiles.h"
#include "policy/yaml_json.h"
#include "rules/case_view.h"
#include "rules/message.h"
#include "rules/rule_set.h"

namespace sallyport::policy {

namespace {

using rules::Conditions;
using rules::Rule;
using rules::Then;

constexpr std::size_t kMostRules = 1'000;
constexpr std::size_t kMostItems = 1'000;
constexpr std::size_t kMostAlternatives = 100;
constexpr std::size_t kMostExamples = 100;
constexpr std::size_t kLongestRuleName = 512;
constexpr std::size_t kLongestPattern = 4'096;
constexpr std::size_t kLongestLine = 65'536;
constexpr std::uint64_t kLongestRuleTime = 604'800;

const std::vector<std::string> kRuleFronts = {"mcp", "http", "hook", "library", "agent"};
const std::vector<std::string> kThens = {"allow",    "ask",    "deny",    "log",
                                         "withhold", "redact", "escalate"};
const std::vector<std::string> kOtherwise = {"ask", "deny", "log"};
constexpr Then kThenOf[] = {Then::Allow,    Then::Ask,    Then::Deny,    Then::Log,
                            Then::Withhold, Then::Redact, Then::Escalate};

json::object one_or_list(json::object item, std::size_t most) {
  return {{"anyOf", json::array{item, json::object{{"type", "array"},
                                                   {"items", item},
                                                   {"minItems", 1},
                                                   {"maxItems", most}}}}};
}

// One value, or a list of them that is not empty: a list without items would match nothing.
ReadValue one_or_more(std::size_t most, ReadValue read) {
  return [most, read = std::move(read)](const Place& place) -> Result<void> {
    if (place.node.kind != YamlNode::Kind::Sequence) return read(place);
    if (place.node.items.empty())
      return place.refuse("the list is empty; name something or leave it out");
    return read_list(most, read)(place);
  };
}

ReadValue names_into(std::vector<std::string>& out, std::size_t longest = kLongestRuleName) {
  return one_or_more(kMostItems, [&out, longest](const Place& place) -> Result<void> {
    std::string name;
    SALLYPORT_CHECK_OK(read_text(name, longest)(place));
    out.push_back(std::move(name));
    return {};
  });
}

template <class Item>
ReadValue parsed_into(std::vector<Item>& out, Result<Item> (*parse)(std::string_view)) {
  return one_or_more(kMostItems, [&out, parse](const Place& place) -> Result<void> {
    std::string text;
    SALLYPORT_CHECK_OK(read_text(text, kLongestPattern)(place));
    Result<Item> item = parse(text);
    if (!item) return place.refuse(item.error().message);
    out.push_back(std::move(*item));
    return {};
  });
}

// A list of one answer is that answer.
ReadValue truth_into(std::optional<bool>& out) {
  return one_or_more(2, [&out](const Place& place) -> Result<void> {
    bool said = false;
    SALLYPORT_CHECK_OK(read_truth(said)(place));
    if (out && *out != said) {
      return place.refuse("true or false is always so; leave the condition out");
    }
    out = said;
    return {};
  });
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

Result<void> read_run(const Place& place, std::vector<std::string>& out) {
  std::string text;
  SALLYPORT_CHECK_OK(read_text(text, kLongestPattern)(place));
  out = words_of(text);
  if (out.empty()) return place.refuse("name a program and its first words");
  return {};
}

Mapping command_keys(effects::CommandPattern& out) {
  Mapping keys("a command");
  keys.required("run", "the program and its first words", text_schema(kLongestPattern),
                [&out](const Place& place) { return read_run(place, out.run); })
      .optional("flags", "one of these is present",
                one_or_list(text_schema(kLongestRuleName), kMostItems), names_into(out.flags))
      .optional("without", "none of these is present",
                one_or_list(text_schema(kLongestRuleName), kMostItems), names_into(out.without));
  return keys;
}

ReadValue command_into(std::vector<effects::CommandPattern>& out) {
  return one_or_more(kMostItems, [&out](const Place& place) -> Result<void> {
    effects::CommandPattern pattern;
    if (place.node.kind == YamlNode::Kind::Mapping) {
      SALLYPORT_CHECK_OK(command_keys(pattern).read(place));
    } else {
      SALLYPORT_CHECK_OK(read_run(place, pattern.run));
    }
    out.push_back(std::move(pattern));
    return {};
  });
}

json::object constraint_schema() {
  return {{"type", "object"},
          {"additionalProperties", false},
          {"required", json::array{"type", "value"}},
          {"properties",
           json::object{{"type", text_schema(kLongestRuleName)}, {"value", json::object{}}}}};
}

ReadValue constraint_into(std::vector<rules::Argument>& out) {
  return [&out](const Place& place) -> Result<void> {
    Constraint constraint;
    Mapping keys("a constraint on the input");
    keys.required("type", "which one", text_schema(kLongestRuleName),
                  read_text(constraint.type, kLongestRuleName))
        .required("value", "what it takes", json::object{},
                  [&](const Place& value) -> Result<void> {
                    SALLYPORT_TRY(constraint.value, to_json(value.node, value.file));
                    return {};
                  });
    SALLYPORT_CHECK_OK(keys.read(place));
    Result<rules::Argument> argument = rules::Argument::of(std::move(constraint));
    if (!argument) return place.refuse(argument.error().message);
    out.push_back(std::move(*argument));
    return {};
  };
}

Result<void> read_class(const Place& place, std::vector<std::string>& out) {
  std::string name;
  SALLYPORT_CHECK_OK(read_text(name, kLongestRuleName)(place));
  out.push_back(std::move(name));
  return {};
}

Mapping condition_keys(Conditions& out) {
  const json::object names = one_or_list(text_schema(kLongestRuleName), kMostItems);
  const json::object patterns = one_or_list(text_schema(kLongestPattern), kMostItems);
  effects::CommandPattern any_command;
  Mapping keys("conditions that must all hold");
  keys.optional("agent", "the authenticated agent, or a sub-agent of it", names,
                names_into(out.agent))
      .optional("session", "the session", names, names_into(out.session))
      .optional("front", "how the call came", one_or_list(choice_schema(kRuleFronts), kMostItems),
                one_or_more(kMostItems, read_choice(kRuleFronts,
                                                    [&out](std::size_t at) {
                                                      out.front.push_back(kRuleFronts[at]);
                                                    })))
      .optional("interactive", "the host can ask its user", one_or_list(truth_schema(), 2),
                truth_into(out.interactive))
      .optional("server", "name of the server", names, names_into(out.server))
      .optional("tool", "name of the tool; `*` stands for any letters", names, names_into(out.tool))
      .optional(
          "class", "class of the effect, such as `fs.write`", names,
          one_or_more(kMostItems,
                      [&out](const Place& place) { return read_class(place, out.effect_class); }))
      .optional("path", "globs, one of which its path matches", patterns,
                parsed_into<rules::Glob>(out.path, rules::Glob::parse))
      .optional("inside", "folders, in one of which its path lies", patterns,
                parsed_into<rules::FolderName>(out.inside, rules::FolderName::parse))
      .optional("outside", "folders, in none of which its path lies", patterns,
                parsed_into<rules::FolderName>(out.outside, rules::FolderName::parse))
      .optional("recursive", "it reaches everything below its path", one_or_list(truth_schema(), 2),
                truth_into(out.recursive))
      .optional("opaque", "the program that runs is not known", one_or_list(truth_schema(), 2),
                truth_into(out.opaque))
      .optional("host", "hosts, `*.suffix` or `private`", patterns,
                parsed_into<rules::HostName>(out.host, rules::HostName::parse))
      .optional("command", "words, or `{run, flags, without}`",
                one_or_list({{"anyOf", json::array{text_schema(kLongestPattern),
                                                   command_keys(any_command).schema()}}},
                            kMostItems),
                command_into(out.command))
      .optional("args", "constraints on the input, all of which must hold",
                one_or_list(constraint_schema(), kMostItems),
                one_or_more(kMostItems, constraint_into(out.args)));
  return keys;
}

// An empty mapping would match everything, which its author did not mean.
Result<void> read_conditions(const Place& place, Conditions& out) {
  if (place.node.kind != YamlNode::Kind::Mapping || place.node.members.empty()) {
    return place.refuse("conditions belong here; leave the key out where the rule always applies");
  }
  return condition_keys(out).read(place);
}

ReadValue conditions_into(std::vector<Conditions>& out) {
  return one_or_more(kMostAlternatives, [&out](const Place& place) -> Result<void> {
    Conditions conditions;
    SALLYPORT_CHECK_OK(read_conditions(place, conditions));
    out.push_back(std::move(conditions));
    return {};
  });
}

ReadValue alternatives_into(std::vector<rules::Alternative>& out) {
  return [&out](const Place& place) -> Result<void> {
    if (place.node.kind != YamlNode::Kind::Sequence || place.node.items.empty()) {
      return place.refuse("a list of alternatives belongs here");
    }
    return read_list(kMostAlternatives, [&out](const Place& item) -> Result<void> {
      rules::Alternative one;
      one.is_list = item.node.kind == YamlNode::Kind::Sequence;
      if (one.is_list) {
        if (item.node.items.empty())
          return item.refuse("an alternative without constraints allows everything");
        SALLYPORT_CHECK_OK(read_list(kMostItems, constraint_into(one.constraints))(item));
      } else {
        SALLYPORT_CHECK_OK(read_conditions(item, one.conditions));
      }
      out.push_back(std::move(one));
      return {};
    })(place);
  };
}

ReadValue seconds_into(std::optional<std::chrono::seconds>& out) {
  return read_number(1, kLongestRuleTime,
                     [&out](std::uint64_t time) { out = std::chrono::seconds(time); });
}

Result<void> read_id(const Place& place, std::string& out) {
  SALLYPORT_CHECK_OK(read_text(out, kLongestRuleName)(place));
  const bool plain = std::ranges::all_of(
      out, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
  if (plain && out.size() <= 64) return {};
  return place.refuse(
      fmt::format("`{:.80}` is no id; use 1 to 64 of the letters a-z, digits and `-`", out));
}

Result<void> read_message(const Place& place, std::string& out) {
  SALLYPORT_CHECK_OK(read_text(out, 4 * rules::kLongestMessage)(place));
  const auto points = std::ranges::count_if(
      out, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
  if (points > static_cast<std::ptrdiff_t>(rules::kLongestMessage)) {
    return place.refuse("a message has at most 1000 characters");
  }
  if (const auto unknown = rules::unknown_variable(out)) {
    return place.refuse(fmt::format(
        "`${{{:.60}}}` is not known here; use ${{path}}, ${{host}}, ${{command}} or ${{workspace}}",
        *unknown));
  }
  return {};
}

Result<void> read_expires(const Place& place, std::optional<WallTime>& out) {
  std::string text;
  SALLYPORT_CHECK_OK(read_word(text, 64)(place));
  out = from_rfc3339(text);
  if (out) return {};
  return place.refuse(fmt::format("`{:.64}` is no time; write it as 2026-11-15T00:00:00Z", text));
}

Mapping example_keys(std::vector<rules::Example>& out) {
  const auto examples = [&out](bool hits) {
    return read_list(kMostExamples, [&out, hits](const Place& place) -> Result<void> {
      rules::Example example{.hits = hits, .place = place_of(place.node, place.file)};
      if (place.node.kind == YamlNode::Kind::Mapping) {
        SALLYPORT_TRY(example.input, to_json(place.node, place.file));
      } else {
        std::string line;
        SALLYPORT_CHECK_OK(read_word(line, kLongestLine)(place));
        example.input = line;
      }
      out.push_back(std::move(example));
      return {};
    });
  };
  const json::object one{{"type", json::array{"string", "object"}}};
  Mapping keys("command lines or inputs that say what the rule means");
  keys.optional("hits", "the rule matches these", list_schema(one, kMostExamples), examples(true))
      .optional("misses", "and it does not match these", list_schema(one, kMostExamples),
                examples(false));
  return keys;
}

// Limits as in GR-4.
constexpr std::size_t kMostRuleEntries = 64;
constexpr std::size_t kLongestEntry = 512;
constexpr std::size_t kLongestReplacement = 2'000;
constexpr std::uint64_t kLargestResult = std::uint64_t{1} << 40;

Result<void> read_any(const Place& place, bool& out) {
  SALLYPORT_CHECK_OK(read_truth(out)(place));
  if (out) return {};
  return place.refuse("`any` is true or is left out");
}

Result<void> read_selector(const Place& place, std::vector<grants::Selector>& out) {
  std::string text;
  SALLYPORT_CHECK_OK(read_text(text, kLongestPattern)(place));
  std::optional<grants::Selector> selector = grants::Selector::parse(text);
  if (!selector) {
    return place.refuse(fmt::format("`{:.80}` is no JSON Pointer; write `/{:.80}`", text, text));
  }
  out.push_back(std::move(*selector));
  return {};
}

Mapping result_rule_keys(rules::ResultTest& out) {
  const json::object entries = one_or_list(text_schema(kLongestEntry), kMostRuleEntries);
  const auto entries_into = [](std::vector<std::string>& list) {
    return one_or_more(kMostRuleEntries, [&list](const Place& place) -> Result<void> {
      std::string entry;
      SALLYPORT_CHECK_OK(read_text(entry, kLongestEntry)(place));
      list.push_back(std::move(entry));
      return {};
    });
  };
  Mapping keys("what the rule looks for in a result; one of these must hold");
  keys.optional("any", "every result", truth_schema(),
                [&out](const Place& place) { return read_any(place, out.any); })
      .optional("text", "patterns, as in guardrails", entries, entries_into(out.text))
      .optional("words", "words, as in a blocklist of guardrails", entries, entries_into(out.words))
      .optional("detector", "detectors or categories of the output sanitizer", entries,
                entries_into(out.detector))
      .optional(
          "larger_than", "bytes", number_schema(0, kLargestResult),
          read_number(0, kLargestResult, [&out](std::uint64_t bytes) { out.larger_than = bytes; }))
      .optional("error", "the result is an error, or is none", truth_schema(),
                truth_into(out.error))
      .optional(
          "at", "selectors of the parts that are looked at",
          one_or_list(text_schema(kLongestPattern), 100),
          one_or_more(100, [&out](const Place& place) { return read_selector(place, out.at); }));
  return keys;
}

// A rule while it is read: what only the whole can check.
struct Draft {
  Rule rule{};
  std::optional<std::size_t> then{};  // of kThens
  std::optional<std::size_t> otherwise{};
  std::optional<std::string> replacement{};
};

constexpr std::string_view kRole = "role:";

Result<void> check_role(const Place& place, const std::string& name) {
  constexpr std::string_view kRoles[] = {"approver", "auditor", "controller", "viewer"};
  if (!name.starts_with(kRole)) return {};
  const std::string_view role = std::string_view(name).substr(kRole.size());
  if (std::ranges::find(kRoles, role) != std::end(kRoles)) return {};
  return place.refuse(fmt::format(
      "`{:.80}` is no role; one of `approver`, `auditor`, `controller`, `viewer`", role));
}

Mapping pass_on_keys(rules::PassOn& out) {
  Mapping keys("who may also answer if no person has");
  keys.required("after_s", "how long it waits before", number_schema(1, kLongestRuleTime),
                read_number(1, kLongestRuleTime,
                            [&out](std::uint64_t time) { out.after = std::chrono::seconds(time); }))
      .required("to", "names of reviewers, or `role:ROLE`",
                one_or_list(text_schema(kLongestRuleName), 100),
                one_or_more(100, [&out](const Place& place) -> Result<void> {
                  std::string name;
                  SALLYPORT_CHECK_OK(read_text(name, kLongestRuleName)(place));
                  SALLYPORT_CHECK_OK(check_role(place, name));
                  out.to.push_back(std::move(name));
                  return {};
                }));
  return keys;
}

Result<void> read_escalate(const Place& place, Rule& rule) {
  if (place.node.kind != YamlNode::Kind::Mapping) return read_truth(rule.escalate)(place);
  return pass_on_keys(rule.asking.pass_on.emplace_back()).read(place);
}

Mapping rule_keys(Draft& out) {
  Conditions any_conditions;
  std::vector<rules::Example> any_examples;
  rules::ResultTest any_result;
  rules::PassOn any;
  const json::object conditions =
      one_or_list(condition_keys(any_conditions).schema(), kMostAlternatives);
  const json::object alternative{{"anyOf", json::array{list_schema(constraint_schema(), kMostItems),
                                                       condition_keys(any_conditions).schema()}}};
  const json::object time = number_schema(1, kLongestRuleTime);
  Rule& rule = out.rule;
  Mapping keys("a rule");
  keys.required("id", "its name: a-z, 0-9 and `-`", text_schema(64),
                [&rule](const Place& place) { return read_id(place, rule.id); })
      .optional("then", "what it does", choice_schema(kThens),
                read_choice(kThens, [&out](std::size_t at) { out.then = at; }))
      .optional("when", "conditions under which it applies", conditions, conditions_into(rule.when))
      .optional("unless", "conditions under which it does not", conditions,
                conditions_into(rule.unless))
      .optional("only", "alternatives, one of which must fit",
                list_schema(alternative, kMostAlternatives), alternatives_into(rule.only))
      .optional("otherwise", "what it does where none fits", choice_schema(kOtherwise),
                read_choice(kOtherwise, [&out](std::size_t at) { out.otherwise = at; }))
      .optional("result", "the rule judges results, and looks for this",
                result_rule_keys(any_result).schema(),
                [&rule](const Place& place) {
                  return result_rule_keys(rule.result.emplace()).read(place);
                })
      .optional("replacement", "what `redact` writes in place of what it takes out",
                json::object{{"type", "string"}, {"maxLength", kLongestReplacement}},
                [&out](const Place& place) -> Result<void> {
                  std::string& text = out.replacement.emplace();
                  const YamlNode& node = place.node;
                  const bool empty =
                      node.kind == YamlNode::Kind::Scalar && !node.is_null() && node.text.empty();
                  return empty ? Result<void>() : read_text(text, kLongestReplacement)(place);
                })
      .optional("message", "what the agent is told", text_schema(4 * rules::kLongestMessage),
                [&rule](const Place& place) { return read_message(place, rule.message); })
      .optional("quorum", "how many must approve", number_schema(1, 1000),
                read_number(1, 1000, [&rule](std::uint64_t count) { rule.asking.quorum = count; }))
      .optional("reviewers", "who may approve", one_or_list(text_schema(kLongestRuleName), 1000),
                names_into(rule.asking.reviewers))
      .optional("dual_control", "two people must approve", truth_schema(),
                read_truth(rule.asking.dual_control))
      .optional("deadline_s", "how long they are waited for", time,
                seconds_into(rule.asking.deadline))
      .optional("use_within_s", "how long an approval is good for", time,
                seconds_into(rule.asking.use_within))
      .optional(
          "reason", "`required`: an approval without a reason is rejected",
          choice_schema({"required"}),
          read_choice({"required"}, [&rule](std::size_t) { rule.asking.reason_required = true; }))
      .optional("escalate",
                "`true`: an `allow` or `log` rule adds an item to the queue; `{after_s, to}`: an "
                "`ask` rule lets others answer too after that time",
                json::object{{"anyOf", json::array{truth_schema(), pass_on_keys(any).schema()}}},
                [&rule](const Place& place) { return read_escalate(place, rule); })
      .optional("expires", "from then on it matches nothing", text_schema(64),
                [&rule](const Place& place) { return read_expires(place, rule.expires); })
      .optional("examples", "lines that it matches, and lines that it does not",
                example_keys(any_examples).schema(),
                [&rule](const Place& place) { return example_keys(rule.examples).read(place); });
  return keys;
}

const YamlNode* value_of_member(const YamlNode& node, std::string_view name) {
  const auto found = std::ranges::find_if(
      node.members, [&](const YamlMember& each) { return each.key.text == name; });
  return found == node.members.end() ? nullptr : &found->value;
}

// The key itself, for errors about its being there at all.
Place key_place(const Place& rule, std::string_view name) {
  const auto found = std::ranges::find_if(
      rule.node.members, [&](const YamlMember& each) { return each.key.text == name; });
  return found == rule.node.members.end() ? rule : Place{found->key, rule.file};
}

Result<void> refuse_keys(const Place& place, std::span<const std::string_view> names,
                         std::string_view why) {
  for (const std::string_view name : names) {
    if (value_of_member(place.node, name)) {
      return key_place(place, name).refuse(fmt::format("`{}` {}", name, why));
    }
  }
  return {};
}

Result<void> take_then(const Place& place, Draft& draft) {
  Rule& rule = draft.rule;
  if (rule.has_only()) {
    if (draft.then) {
      return key_place(place, "then")
          .refuse("a rule with `only` has `otherwise` instead of `then`");
    }
    if (!draft.otherwise) return place.refuse("`otherwise` is missing: ask, deny or log");
    rule.then = *draft.otherwise == 0 ? Then::Ask : *draft.otherwise == 1 ? Then::Deny : Then::Log;
    return {};
  }
  if (draft.otherwise) {
    return key_place(place, "otherwise").refuse("`otherwise` is for rules with `only`");
  }
  if (!draft.then) return place.refuse("`then` is missing: allow, ask, deny or log");
  rule.then = kThenOf[*draft.then];
  return {};
}

// What only rules with `result` may say, and what they may not.
Result<void> check_result(const Place& place, Draft& draft) {
  Rule& rule = draft.rule;
  const bool of_results =
      rule.then == Then::Withhold || rule.then == Then::Redact || rule.then == Then::Escalate;
  if (!rule.result) {
    if (of_results) {
      return key_place(place, "then")
          .refuse(fmt::format("`then: {}` is for rules with `result`", to_string(rule.then)));
    }
    constexpr std::string_view kOfResults[] = {"replacement"};
    return refuse_keys(place, kOfResults, "is for rules with `result`");
  }
  constexpr std::string_view kOfCalls[] = {"only", "escalate"};
  SALLYPORT_CHECK_OK(refuse_keys(place, kOfCalls, "is for rules that judge calls"));
  if (!of_results && rule.then != Then::Log) {
    return key_place(place, "then")
        .refuse("a rule with `result` has `then: withhold`, `redact`, `escalate` or `log`");
  }
  const rules::ResultTest& test = *rule.result;
  if (!test.any && !test.finds_text() && !test.larger_than && !test.error) {
    return key_place(place, "result")
        .refuse("name what the rule looks for: any, text, words, detector, larger_than or error");
  }
  if (draft.replacement && rule.then != Then::Redact) {
    return key_place(place, "replacement").refuse("`replacement` is for `then: redact`");
  }
  rule.result->replacement = std::move(draft.replacement);
  return {};
}

Result<void> check_asking(const Place& place, const Rule& rule) {
  constexpr std::string_view kOfAsking[] = {"quorum",     "reviewers",    "dual_control",
                                            "deadline_s", "use_within_s", "reason"};
  if (rule.then != Then::Ask) {
    SALLYPORT_CHECK_OK(refuse_keys(place, kOfAsking, "is for rules that ask"));
    if (!rule.asking.pass_on.empty()) {
      return key_place(place, "escalate").refuse("`escalate: {after_s, to}` is for rules that ask");
    }
  }
  if (rule.escalate && (rule.then == Then::Ask || rule.then == Then::Deny) && !rule.has_only()) {
    return key_place(place, "escalate").refuse("`escalate: true` is for `allow` and `log`");
  }
  const rules::Asking& asking = rule.asking;
  if (!asking.reviewers.empty() && asking.quorum.value_or(1) > asking.reviewers.size()) {
    return key_place(place, "quorum").refuse("more must approve than may");
  }
  return {};
}

Result<void> read_rule(const Place& place, Policy& out) {
  Draft draft;
  SALLYPORT_CHECK_OK(rule_keys(draft).read(place));
  SALLYPORT_CHECK_OK(take_then(place, draft));
  SALLYPORT_CHECK_OK(check_result(place, draft));
  SALLYPORT_CHECK_OK(check_asking(place, draft.rule));
  Rule& rule = draft.rule;
  rule.place = place_of(place.node, place.file);
  SALLYPORT_TRY(rule.source, to_json(place.node, place.file));
  if (const Rule* const other = out.rules->find(rule.id)) {
    const Place id{*value_of_member(place.node, "id"), place.file};
    return id.refuse(fmt::format("rule `{}` is there twice, first at {}", rule.id, other->place));
  }
  out.rules->rules.push_back(std::move(rule));
  return {};
}

}  // namespace

json::object rules_schema() {
  Draft any;
  return list_schema(rule_keys(any).schema(), kMostRules);
}

ReadValue read_rules(Policy& out) {
  return [&out](const Place& place) -> Result<void> {
    out.rules.emplace();
    if (place.node.is_null()) return place.refuse("`rules` has no value; write `[]` for none");
    return read_list(kMostRules, [&out](const Place& item) { return read_rule(item, out); })(place);
  };
}

json::object workspace_schema() {
  return one_or_list(text_schema(kLongestPattern), 100);
}

ReadValue read_workspace(Policy& out) {
  return one_or_more(100, [&out](const Place& place) -> Result<void> {
    std::string folder;
    SALLYPORT_CHECK_OK(read_text(folder, kLongestPattern)(place));
    if (!folder.starts_with('/')) {
      return place.refuse(fmt::format("`{:.200}` is no absolute folder", folder));
    }
    out.workspace.push_back(std::move(folder));
    return {};
  });
}

void add_role_keys(Mapping& keys, ToolEntry& out) {
  constexpr std::string_view kAbout[] = {
      "selectors of paths that it reads",        "selectors of paths that it writes",
      "selectors of paths that it deletes",      "selectors of hosts or addresses that it requests",
      "selectors of command lines that it runs", "selectors of SQL that it executes"};
  for (std::size_t i = 0; i < std::size(effects::kRoles); ++i) {
    const auto role = static_cast<effects::Role>(i);
    keys.optional(std::string(effects::kRoles[i]), std::string(kAbout[i]),
                  one_or_list(text_schema(kLongestRuleName), 100),
                  one_or_more(100, [&out, role](const Place& place) -> Result<void> {
                    std::string text;
                    SALLYPORT_CHECK_OK(read_text(text, kLongestRuleName)(place));
                    std::optional<grants::Selector> selector = grants::Selector::parse(text);
                    if (!selector) {
                      return place.refuse(
                          fmt::format("`{:.80}` is no JSON Pointer; write `/{:.80}`", text, text));
                    }
                    out.roles.push_back({role, std::move(text), std::move(*selector)});
                    return {};
                  }));
  }
}

namespace {

// Every `class` below `when`, `unless` and `only` of the rules.
Result<void> check_classes(const YamlNode& node, const std::string& file,
                           const std::vector<std::string>& known) {
  for (const YamlNode& item : node.items) SALLYPORT_CHECK_OK(check_classes(item, file, known));
  const YamlNode* const said = value_of_member(node, "class");
  if (said == nullptr) return {};
  const auto check = [&](const YamlNode& name) -> Result<void> {
    if (std::ranges::find(known, name.text) != known.end()) return {};
    return Place{name, file}.refuse(
        fmt::format("unknown class `{:.80}`{}", name.text, did_you_mean(name.text, known)));
  };
  if (said->kind == YamlNode::Kind::Scalar) return check(*said);
  for (const YamlNode& name : said->items) SALLYPORT_CHECK_OK(check(name));
  return {};
}

// Two rules with `only` of one rank that one call could meet (RU-17).
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

// A call that these conditions name, for the examples of their rule.
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

}  // namespace

json::object when_schema() {
  Conditions any;
  return one_or_list(condition_keys(any).schema(), kMostAlternatives);
}

ReadValue read_when(std::vector<Conditions>& out) {
  return conditions_into(out);
}

ReadValue read_rule_id(std::string& out) {
  return [&out](const Place& place) { return read_id(place, out); };
}

effects::ToolBook tool_book(const Policy& policy) {
  effects::ToolBook book;
  for (const ToolEntry& entry : policy.tools) {
    book.tools.insert_or_assign({entry.server, entry.tool},
                                effects::ToolSaid{entry.classification.effect_class, entry.roles});
  }
  for (const auto& [name, said] : policy.servers) book.servers.emplace(name, said);
  return book;
}

namespace {

std::vector<std::string> classes_of(const Policy& policy) {
  std::vector<std::string> classes = effects::known_classes();
  for (const ToolEntry& entry : policy.tools) {
    const std::string& name = entry.classification.effect_class;
    if (std::ranges::find(classes, name) == classes.end()) classes.push_back(name);
  }
  return classes;
}

}  // namespace

Result<void> check_when(const Policy& policy, const Place& conditions) {
  return check_classes(conditions.node, conditions.file, classes_of(policy));
}

// Of a policy that registers its people, where a rule would pass a request on to none of them.
Result<void> check_passed_on(const Policy& policy, const Rule& rule) {
  if (!policy.approvals || !policy.approvals->people) return {};
  for (const rules::PassOn& one : rule.asking.pass_on) {
    for (const std::string& name : one.to) {
      const bool role = name.starts_with(kRole);
      if (!role || !policy.approvals->people->with_role(name.substr(kRole.size())).empty())
        continue;
      return fail(ErrorCode::InvalidInput,
                  fmt::format("no approver has the role that `escalate` names, `{}`", name),
                  rule.place);
    }
  }
  return {};
}

Result<void> finish_rules(Policy& policy, const YamlNode& root, const std::string& file) {
  if (value_of_member(root, "extends") == nullptr) {
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
  for (const YamlNode& rule : node_at(root, "/rules").items) {
    for (const char* const part : {"when", "unless", "only"}) {
      const YamlNode* const conditions = value_of_member(rule, part);
      if (conditions) SALLYPORT_CHECK_OK(check_classes(*conditions, file, classes));
    }
  }
  for (const Rule& rule : set.rules) SALLYPORT_CHECK_OK(check_passed_on(policy, rule));
  SALLYPORT_CHECK_OK(check_ranks(set.rules));
  return check_examples(set);
}

Result<YamlNode> joined(const YamlNode& root, const std::string& file, const YamlNode& base) {
  if (const YamlNode* const again = value_of_member(base, "extends")) {
    (void)again;
    return Place{*value_of_member(root, "extends"), file}.refuse(
        "the policy that it names extends another one; only one level is read");
  }
  std::set<std::string> dropped;
  const YamlNode* const without = value_of_member(root, "without");
  const YamlNode* const base_rules = value_of_member(base, "rules");
  const auto in_base = [&](const YamlNode& id) {
    return base_rules && std::ranges::any_of(base_rules->items, [&](const YamlNode& rule) {
             const YamlNode* const name = value_of_member(rule, "id");
             return name && name->text == id.text;
           });
  };
  for (const YamlNode& id : without ? without->items : std::vector<YamlNode>()) {
    if (!in_base(id)) {
      return Place{id, file}.refuse(
          fmt::format("`{:.80}` is no rule of the policy that this one extends", id.text));
    }
    if (!dropped.insert(id.text).second) {
      return Place{id, file}.refuse(fmt::format("`{:.80}` is there twice", id.text));
    }
  }
  const YamlNode* const own_rules = value_of_member(root, "rules");
  for (const YamlNode& rule : own_rules ? own_rules->items : std::vector<YamlNode>()) {
    const YamlNode* const id = value_of_member(rule, "id");
    if (id == nullptr || dropped.contains(id->text) || !in_base(*id)) continue;
    return Place{*id, file}.refuse(
        fmt::format("rule `{:.80}` is there twice, first in the policy that this one extends; name "
                    "it in `without`, or choose another id",
                    id->text));
  }
  YamlNode merged = root;
  for (const YamlMember& section : base.members) {
    const auto own = std::ranges::find_if(
        merged.members, [&](const YamlMember& each) { return each.key.text == section.key.text; });
    if (section.key.text != "rules") {
      if (own == merged.members.end()) merged.members.push_back(section);
      continue;
    }
    YamlMember rules = section;
    std::erase_if(rules.value.items, [&](const YamlNode& rule) {
      const YamlNode* const name = value_of_member(rule, "id");
      return name && dropped.contains(name->text);
    });
    if (own == merged.members.end()) {
      merged.members.push_back(std::move(rules));
      continue;
    }
    std::vector<YamlNode>& items = own->value.items;
    items.insert(items.begin(), rules.value.items.begin(), rules.value.items.end());
    own->value.kind = YamlNode::Kind::Sequence;
  }
  return merged;
}

}  // namespace sallyport::policy
