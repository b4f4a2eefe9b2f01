#include "policy/rule_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/cut_text.h"
#include "base/try.h"
#include "config/yaml_json.h"
#include "policy/condition_keys.h"
#include "rules/message.h"
#include "rules/rule_set.h"

namespace sallyport::policy {

namespace {

using rules::Rule;
using rules::Then;

constexpr std::size_t kMostRules = 1'000;
constexpr std::size_t kMostExamples = 100;
constexpr std::size_t kLongestLine = 65'536;
constexpr std::uint64_t kLongestRuleTime = 604'800;

const std::vector<std::string> kThens = {"allow",    "ask",    "deny",    "log",
                                         "withhold", "redact", "escalate"};
const std::vector<std::string> kOtherwise = {"ask", "deny", "log"};
constexpr Then kThenOf[] = {Then::Allow,    Then::Ask,    Then::Deny,    Then::Log,
                            Then::Withhold, Then::Redact, Then::Escalate};

config::ReadValue seconds_into(std::optional<std::chrono::seconds>& out) {
  return config::read_number(1, kLongestRuleTime,
                             [&out](std::uint64_t time) { out = std::chrono::seconds(time); });
}

Result<void> read_id(const config::Place& place, std::string& out) {
  SALLYPORT_CHECK_OK(config::read_text(out, kLongestRuleName)(place));
  const bool plain = std::ranges::all_of(
      out, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
  if (plain && out.size() <= 64) return {};
  return place.refuse(
      fmt::format("`{:.80}` is not an id; use 1 to 64 of the letters a-z, digits and `-`", out));
}

Result<void> read_message(const config::Place& place, std::string& out) {
  SALLYPORT_CHECK_OK(config::read_text(out, 4 * rules::kLongestMessage)(place));
  if (code_points(out) > rules::kLongestMessage) {
    return place.refuse("a message has at most 1000 characters");
  }
  if (const auto unknown = rules::unknown_variable(out)) {
    return place.refuse(fmt::format(
        "`${{{:.60}}}` is not known here; use ${{path}}, ${{host}}, ${{command}} or ${{workspace}}",
        *unknown));
  }
  return {};
}

Result<void> read_expires(const config::Place& place, std::optional<WallTime>& out) {
  std::string text;
  SALLYPORT_CHECK_OK(config::read_word(text, 64)(place));
  out = from_rfc3339(text);
  if (out) return {};
  return place.refuse(
      fmt::format("`{:.64}` is not a time; write it as 2026-11-15T00:00:00Z", text));
}

config::Mapping example_keys(std::vector<rules::Example>& out) {
  const auto examples = [&out](bool hits) {
    return config::read_list(
        kMostExamples, [&out, hits](const config::Place& place) -> Result<void> {
          rules::Example example{.hits = hits, .place = config::place_of(place.node, place.file)};
          if (place.node.kind == config::YamlNode::Kind::Mapping) {
            SALLYPORT_TRY(example.input, to_json(place.node, place.file));
          } else {
            std::string line;
            SALLYPORT_CHECK_OK(config::read_word(line, kLongestLine)(place));
            example.input = line;
          }
          out.push_back(std::move(example));
          return {};
        });
  };
  const json::object shape{{"type", json::array{"string", "object"}}};
  config::Mapping keys("command lines or inputs that the rule must match or must not match");
  keys.optional("hits", "the rule matches these", config::list_schema(shape, kMostExamples),
                examples(true))
      .optional("misses", "the rule does not match these",
                config::list_schema(shape, kMostExamples), examples(false));
  return keys;
}

// Limits as in GR-4.
constexpr std::size_t kMostRuleEntries = 64;
constexpr std::size_t kLongestEntry = 512;
constexpr std::size_t kLongestReplacement = 2'000;
constexpr std::uint64_t kLargestResult = std::uint64_t{1} << 40;

Result<void> read_any(const config::Place& place, bool& out) {
  SALLYPORT_CHECK_OK(config::read_truth(out)(place));
  if (out) return {};
  return place.refuse("`any` is true or is left out");
}

Result<void> read_selector(const config::Place& place, std::vector<grants::Selector>& out) {
  std::string text;
  SALLYPORT_CHECK_OK(config::read_text(text, kLongestPattern)(place));
  std::optional<grants::Selector> selector = grants::Selector::parse(text);
  if (!selector) {
    return place.refuse(fmt::format("`{:.80}` is not a JSON Pointer; write `/{:.80}`", text, text));
  }
  out.push_back(std::move(*selector));
  return {};
}

config::Mapping result_rule_keys(rules::ResultTest& out) {
  const json::object entries = one_or_list(config::text_schema(kLongestEntry), kMostRuleEntries);
  const auto entries_into = [](std::vector<std::string>& list) {
    return one_or_more(kMostRuleEntries, [&list](const config::Place& place) -> Result<void> {
      std::string entry;
      SALLYPORT_CHECK_OK(config::read_text(entry, kLongestEntry)(place));
      list.push_back(std::move(entry));
      return {};
    });
  };
  config::Mapping keys("what the rule looks for in a result; one of these must hold");
  keys.optional("any", "every result", config::truth_schema(),
                [&out](const config::Place& place) { return read_any(place, out.any); })
      .optional("text", "patterns, as in guardrails", entries, entries_into(out.text))
      .optional("words", "words, as in a blocklist of guardrails", entries, entries_into(out.words))
      .optional("detector", "detectors or categories of the output sanitizer", entries,
                entries_into(out.detector))
      .optional("larger_than", "the result has more bytes than this",
                config::number_schema(0, kLargestResult),
                config::read_number(0, kLargestResult,
                                    [&out](std::uint64_t bytes) { out.larger_than = bytes; }))
      .optional("error", "whether the result is an error", config::truth_schema(),
                truth_into(out.error))
      .optional("at", "selectors of the parts that the rule reads",
                one_or_list(config::text_schema(kLongestPattern), 100),
                one_or_more(100, [&out](const config::Place& place) {
                  return read_selector(place, out.at);
                }));
  return keys;
}

// A rule while it is read, with the values that are checked at its end.
struct Draft {
  Rule rule{};
  std::optional<std::size_t> then{};  // of kThens
  std::optional<std::size_t> otherwise{};
  std::optional<std::string> replacement{};
};

Result<void> check_role(const config::Place& place, const std::string& name) {
  constexpr std::string_view kRoles[] = {"approver", "auditor", "controller", "viewer"};
  if (!name.starts_with(kRolePrefix)) return {};
  const std::string_view role = std::string_view(name).substr(kRolePrefix.size());
  if (std::ranges::find(kRoles, role) != std::end(kRoles)) return {};
  return place.refuse(fmt::format(
      "`{:.80}` is not a role; one of `approver`, `auditor`, `controller`, `viewer`", role));
}

config::Mapping pass_on_keys(rules::PassOn& out) {
  config::Mapping keys("who may also answer if no one has answered yet");
  keys.required("after_s", "seconds before they may answer",
                config::number_schema(1, kLongestRuleTime),
                config::read_number(
                    1, kLongestRuleTime,
                    [&out](std::uint64_t time) { out.after = std::chrono::seconds(time); }))
      .required("to", "names of reviewers, or `role:ROLE`",
                one_or_list(config::text_schema(kLongestRuleName), 100),
                one_or_more(100, [&out](const config::Place& place) -> Result<void> {
                  std::string name;
                  SALLYPORT_CHECK_OK(config::read_text(name, kLongestRuleName)(place));
                  SALLYPORT_CHECK_OK(check_role(place, name));
                  out.to.push_back(std::move(name));
                  return {};
                }));
  return keys;
}

Result<void> read_escalate(const config::Place& place, Rule& rule) {
  if (place.node.kind != config::YamlNode::Kind::Mapping)
    return config::read_truth(rule.escalate)(place);
  return pass_on_keys(rule.asking.pass_on.emplace_back()).read(place);
}

void add_matching_keys(config::Mapping& keys, Draft& out) {
  const json::object conditions = when_schema();
  Rule& rule = out.rule;
  keys.required("id", "unique name: a-z, 0-9 and `-`", config::text_schema(64),
                [&rule](const config::Place& place) { return read_id(place, rule.id); })
      .optional("then", "what happens to a call or result that the rule matches",
                config::choice_schema(kThens),
                config::read_choice(kThens, [&out](std::size_t at) { out.then = at; }))
      .optional("when", "conditions under which the rule applies", conditions, read_when(rule.when))
      .optional("unless", "conditions under which the rule does not apply", conditions,
                read_when(rule.unless))
      .optional("only", "alternatives; a call that fits one of them is allowed",
                alternatives_schema(), read_alternatives(rule.only))
      .optional("otherwise", "what happens to a call that fits no alternative",
                config::choice_schema(kOtherwise),
                config::read_choice(kOtherwise, [&out](std::size_t at) { out.otherwise = at; }));
}

void add_result_keys(config::Mapping& keys, Draft& out) {
  rules::ResultTest any;
  Rule& rule = out.rule;
  keys.optional("result", "makes the rule judge results, and says what it looks for",
                result_rule_keys(any).schema(),
                [&rule](const config::Place& place) {
                  return result_rule_keys(rule.result.emplace()).read(place);
                })
      .optional("replacement", "text that `redact` writes in place of what it removes",
                json::object{{"type", "string"}, {"maxLength", kLongestReplacement}},
                [&out](const config::Place& place) -> Result<void> {
                  std::string& text = out.replacement.emplace();
                  const config::YamlNode& node = place.node;
                  const bool empty = node.kind == config::YamlNode::Kind::Scalar &&
                                     !node.is_null() && node.text.empty();
                  return empty ? Result<void>()
                               : config::read_text(text, kLongestReplacement)(place);
                })
      .optional("message", "the message to the agent",
                config::text_schema(4 * rules::kLongestMessage),
                [&rule](const config::Place& place) { return read_message(place, rule.message); });
}

void add_asking_keys(config::Mapping& keys, Rule& rule) {
  const json::object time = config::number_schema(1, kLongestRuleTime);
  keys.optional("quorum", "how many reviewers must approve", config::number_schema(1, 1000),
                config::read_number(1, 1000,
                                    [&rule](std::uint64_t count) { rule.asking.quorum = count; }))
      .optional("reviewers", "who may approve",
                one_or_list(config::text_schema(kLongestRuleName), 1000),
                names_into(rule.asking.reviewers))
      .optional("dual_control", "two people must approve", config::truth_schema(),
                config::read_truth(rule.asking.dual_control))
      .optional("deadline_s", "seconds to wait for an answer", time,
                seconds_into(rule.asking.deadline))
      .optional("use_within_s", "seconds for which an approval is valid", time,
                seconds_into(rule.asking.use_within))
      .optional("reason", "`required`: an approval without a reason is rejected",
                config::choice_schema({"required"}),
                config::read_choice({"required"},
                                    [&rule](std::size_t) { rule.asking.reason_required = true; }));
}

config::Mapping rule_keys(Draft& out) {
  std::vector<rules::Example> any_examples;
  rules::PassOn any;
  Rule& rule = out.rule;
  config::Mapping keys("a rule");
  add_matching_keys(keys, out);
  add_result_keys(keys, out);
  add_asking_keys(keys, rule);
  keys.optional(
          "escalate",
          "`true`: an `allow` or `log` rule adds an item to the queue; `{after_s, to}`: an "
          "`ask` rule lets others answer too after that time",
          json::object{{"anyOf", json::array{config::truth_schema(), pass_on_keys(any).schema()}}},
          [&rule](const config::Place& place) { return read_escalate(place, rule); })
      .optional("expires", "time from which the rule matches nothing", config::text_schema(64),
                [&rule](const config::Place& place) { return read_expires(place, rule.expires); })
      .optional("examples", "inputs that the rule matches, and inputs that it does not match",
                example_keys(any_examples).schema(), [&rule](const config::Place& place) {
                  return example_keys(rule.examples).read(place);
                });
  return keys;
}

// The place of a key, for errors about a key that is not allowed.
config::Place key_place(const config::Place& rule, std::string_view name) {
  const auto found = std::ranges::find_if(
      rule.node.members, [&](const config::YamlMember& each) { return each.key.text == name; });
  return found == rule.node.members.end() ? rule : config::Place{found->key, rule.file};
}

}  // namespace

Result<void> refuse_keys(const config::Place& place, std::span<const std::string_view> names,
                         std::string_view why) {
  for (const std::string_view name : names) {
    if (place.node.find(name)) {
      return key_place(place, name).refuse(fmt::format("`{}` {}", name, why));
    }
  }
  return {};
}

namespace {

Result<void> take_then(const config::Place& place, Draft& draft) {
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

// Checks the keys that only rules with `result` may have, and those that they may not have.
Result<void> check_result(const config::Place& place, Draft& draft) {
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

Result<void> check_asking(const config::Place& place, const Rule& rule) {
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
  const rules::ApprovalTerms& asking = rule.asking;
  if (!asking.reviewers.empty() && asking.quorum.value_or(1) > asking.reviewers.size()) {
    return key_place(place, "quorum").refuse("`quorum` is higher than the number of `reviewers`");
  }
  return {};
}

Result<void> read_rule(const config::Place& place, Policy& out) {
  Draft draft;
  SALLYPORT_CHECK_OK(rule_keys(draft).read(place));
  SALLYPORT_CHECK_OK(take_then(place, draft));
  SALLYPORT_CHECK_OK(check_result(place, draft));
  SALLYPORT_CHECK_OK(check_asking(place, draft.rule));
  Rule& rule = draft.rule;
  rule.place = config::place_of(place.node, place.file);
  SALLYPORT_TRY(rule.source, to_json(place.node, place.file));
  if (const Rule* const other = out.rules->find(rule.id)) {
    const config::Place id{*place.node.find("id"), place.file};
    return id.refuse(fmt::format("duplicate rule `{}`, first at {}", rule.id, other->place));
  }
  out.rules->rules.push_back(std::move(rule));
  return {};
}

}  // namespace

json::object rules_schema() {
  Draft any;
  return config::list_schema(rule_keys(any).schema(), kMostRules);
}

config::ReadValue read_rules(Policy& out) {
  return [&out](const config::Place& place) -> Result<void> {
    out.rules.emplace();
    if (place.node.is_null()) return place.refuse("`rules` has no value; write `[]` for none");
    return config::read_list(
        kMostRules, [&out](const config::Place& item) { return read_rule(item, out); })(place);
  };
}

json::object workspace_schema() {
  return one_or_list(config::text_schema(kLongestPattern), 100);
}

config::ReadValue read_workspace(Policy& out) {
  return one_or_more(100, [&out](const config::Place& place) -> Result<void> {
    std::string folder;
    SALLYPORT_CHECK_OK(config::read_text(folder, kLongestPattern)(place));
    if (!folder.starts_with('/')) {
      return place.refuse(fmt::format("`{:.200}` is not an absolute folder", folder));
    }
    out.workspace.push_back(std::move(folder));
    return {};
  });
}

void add_role_keys(config::Mapping& keys, ToolEntry& out) {
  constexpr std::string_view kAbout[] = {"selectors of paths that the tool reads",
                                         "selectors of paths that the tool writes",
                                         "selectors of paths that the tool deletes",
                                         "selectors of hosts or URLs that the tool requests",
                                         "selectors of command lines that the tool runs",
                                         "selectors of SQL that the tool executes"};
  for (std::size_t i = 0; i < std::size(effects::kRoles); ++i) {
    const auto role = static_cast<effects::Role>(i);
    keys.optional(std::string(effects::kRoles[i]), std::string(kAbout[i]),
                  one_or_list(config::text_schema(kLongestRuleName), 100),
                  one_or_more(100, [&out, role](const config::Place& place) -> Result<void> {
                    std::string text;
                    SALLYPORT_CHECK_OK(config::read_text(text, kLongestRuleName)(place));
                    std::optional<grants::Selector> selector = grants::Selector::parse(text);
                    if (!selector) {
                      return place.refuse(fmt::format(
                          "`{:.80}` is not a JSON Pointer; write `/{:.80}`", text, text));
                    }
                    out.roles.push_back({role, std::move(text), std::move(*selector)});
                    return {};
                  }));
  }
}

config::ReadValue read_rule_id(std::string& out) {
  return [&out](const config::Place& place) { return read_id(place, out); };
}

effects::ToolBook tool_book(const Policy& policy) {
  effects::ToolBook book;
  for (const ToolEntry& entry : policy.tools) {
    book.tools.insert_or_assign(
        {entry.server, entry.tool},
        effects::ToolDescription{entry.classification.effect_class, entry.roles});
  }
  for (const auto& [name, description] : policy.servers) book.servers.emplace(name, description);
  return book;
}

}  // namespace sallyport::policy
