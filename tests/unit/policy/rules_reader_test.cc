// The reader of rules: invalid rules, and policies that extend another one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "policy/policy.h"
#include "unit/policy/rule_faults.h"

namespace sallyport::policy {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// RU-1, RU-21 (partly): sections that rules require and that do not require them.
TEST(RulesReaderTest, APolicyWithoutRulesHasNone) {
  const Result<Policy> policy = read_policy("version: 1\nworkspace: /w\n", "p.yaml");
  ASSERT_TRUE(policy);
  EXPECT_FALSE(policy->rules);
  EXPECT_TRUE(read_policy("version: 1\nrules: []\n", "p.yaml")->rules);
  EXPECT_THAT(fault_of("unlisted: deny\n"), HasSubstr("`unlisted` needs `rules`"));
  EXPECT_THAT(fault_of("rules:\n"), HasSubstr("write `[]`"));
}

// RU-13: unknown keys and wrong ids, each with its place.
TEST(RulesReaderTest, WhatIsNoRuleIsAnErrorAtItsPlace) {
  EXPECT_EQ(fault_of("rules:\n  - {id: a, then: deny, wen: {class: none}}\n"),
            "p.yaml:3:25: unknown key `wen`, did you mean `when`");
  EXPECT_THAT(fault_of_rule("id: A, then: deny"), HasSubstr("p.yaml:3:10: `A` is not an id"));
  EXPECT_THAT(fault_of_rule("id: " + std::string(65, 'a') + ", then: deny"),
              HasSubstr("is not an id"));
  EXPECT_THAT(fault_of_rule("then: deny"), HasSubstr("`id` is missing"));
  EXPECT_THAT(fault_of_rule("id: a"), HasSubstr("`then` is missing"));
  EXPECT_THAT(fault_of_rule("id: a, then: block"), HasSubstr("not `block`"));
  EXPECT_THAT(fault_of("rules:\n  - {id: a, then: deny}\n  - {id: a, then: ask}\n"),
              HasSubstr("duplicate rule `a`, first at p.yaml:3:6"));
  EXPECT_THAT(fault_of_rule("id: a, then: deny, when: {}"),
              HasSubstr("`when` must be a mapping of conditions"));
  EXPECT_THAT(fault_of_rule("id: a, then: deny, when: {class: []}"),
              HasSubstr("the list is empty"));
  EXPECT_THAT(fault_of_rule("id: a, then: deny, quorum: 2"), HasSubstr("is for rules that ask"));
  EXPECT_THAT(fault_of_rule("id: a, then: ask, quorum: 2, reviewers: [x]"),
              HasSubstr("`quorum` is higher"));
  EXPECT_THAT(fault_of_rule("id: a, then: deny, escalate: true"), HasSubstr("`allow` and `log`"));
  EXPECT_THAT(fault_of_rule("id: a, then: deny, expires: tomorrow"), HasSubstr("is not a time"));
}

// RU-18, RU-19, RU-62: keys of rules that judge results, and of rules that ask, where they belong.
TEST(RulesReaderTest, KeysOfResultsAndOfAskingBelongTogether) {
  for (const char* const rule :
       {"id: a, then: log, result: {any: true}", "id: a, then: withhold, result: {text: 'x+'}",
        "id: a, then: redact, replacement: '', result: {words: [x]}",
        "id: a, then: escalate, result: {detector: [email, secret]}",
        "id: a, then: withhold, result: {larger_than: 9, error: true, at: /a}",
        "id: a, then: ask, reason: required", "id: a, then: ask, escalate: {after_s: 9, to: x}"}) {
    EXPECT_THAT(fault_of_rule(rule), IsEmpty()) << rule;
  }
  EXPECT_THAT(fault_of_rule("id: a, then: withhold"),
              HasSubstr("p.yaml:3:13: `then: withhold` is for rules with `result`"));
  EXPECT_THAT(fault_of_rule("id: a, then: deny, result: {any: true}"),
              HasSubstr("a rule with `result` has `then: withhold`"));
  EXPECT_THAT(fault_of_rule("id: a, then: deny, replacement: x"), HasSubstr("with `result`"));
  EXPECT_THAT(fault_of_rule("id: a, then: log, replacement: x, result: {any: true}"),
              HasSubstr("is for `then: redact`"));
  EXPECT_THAT(fault_of_rule("id: a, then: log, result: {}"), HasSubstr("what the rule looks for"));
  EXPECT_THAT(fault_of_rule("id: a, then: log, result: {at: /a}"), HasSubstr("what the rule"));
  EXPECT_THAT(fault_of_rule("id: a, then: log, result: {any: false}"), HasSubstr("`any` is true"));
  EXPECT_THAT(fault_of_rule("id: a, then: log, result: {any: true, at: a}"),
              HasSubstr("is not a JSON Pointer"));
  EXPECT_THAT(fault_of_rule("id: a, then: log, result: {detector: [email, emial]}"),
              HasSubstr("p.yaml:3:51: `emial` is neither a detector"));
  EXPECT_THAT(fault_of_rule("id: a, then: log, result: {text: [a, '(']}"),
              HasSubstr("p.yaml:3:43: check 'text'"));
  EXPECT_THAT(fault_of_rule("id: a, then: log, result: {any: true}, escalate: true"),
              HasSubstr("is for rules that judge calls"));
  EXPECT_THAT(fault_of_rule("id: a, then: deny, reason: required"), HasSubstr("rules that ask"));
  EXPECT_THAT(fault_of_rule("id: a, then: ask, reason: maybe"), HasSubstr("`maybe`"));
  EXPECT_THAT(fault_of_rule("id: a, then: allow, escalate: {after_s: 9, to: x}"),
              HasSubstr("is for rules that ask"));
  EXPECT_THAT(fault_of_rule("id: a, then: ask, escalate: {to: x}"),
              HasSubstr("`after_s` is missing"));
  EXPECT_THAT(fault_of_rule("id: a, then: ask, escalate: {after_s: 9, to: 'role:boss'}"),
              HasSubstr("p.yaml:3:51: `boss` is not a role"));
  EXPECT_THAT(
      fault_of("rules:\n  - {id: a, then: ask, escalate: {after_s: 9, to: 'role:auditor'}}\n"
               "approvals: {reviewers: [{name: ada, client: c, roles: [approver]}]}\n"),
      HasSubstr("no approver has the role"));
  const std::string schema = json::serialize(policy_schema().at("properties").at("rules"));
  for (const char* const word :
       {"withhold", "replacement", "after_s", "\"reason\"", "\"result\""}) {
    EXPECT_THAT(schema, HasSubstr(word));
  }
}

// RU-74: unknown classes, profiles and variables are errors.
TEST(RulesReaderTest, UnknownWordsAreErrorsWithASuggestion) {
  EXPECT_EQ(fault_of_rule("id: a, then: deny, when: {class: [none, fs.wirte]}"),
            "p.yaml:3:46: unknown class `fs.wirte`, did you mean `fs.write`");
  EXPECT_THAT(fault_of("tools: [{tool: t, class: my.own}]\nrules: [{id: a, then: deny, when: "
                       "{class: my.own}}]\n"),
              IsEmpty());
  EXPECT_THAT(fault_of("servers: [{server: s, profile: mcp-filesytem}]\n"),
              HasSubstr("did you mean `mcp-filesystem`"));
  EXPECT_THAT(fault_of("servers: [{server: '*', profile: mcp-git}]\n"),
              HasSubstr("`profile: auto`"));
  EXPECT_THAT(fault_of_rule("id: a, then: deny, message: 'no ${pth}'"), HasSubstr("`${pth}`"));
  EXPECT_THAT(fault_of_rule("id: a, then: deny, when: {path: '*.pem'}"), HasSubstr("begins with"));
  EXPECT_THAT(fault_of_rule("id: a, then: deny, when: {inside: sub}"),
              HasSubstr("absolute folder"));
  EXPECT_THAT(fault_of_rule("id: a, then: deny, when: {host: 'a b'}"), HasSubstr("neither a host"));
  EXPECT_THAT(fault_of_rule("id: a, then: deny, when: {args: {type: arg_nmber, value: {at: /a}}}"),
              HasSubstr("unknown constraint"));
  EXPECT_THAT(fault_of_rule("id: a, then: deny, when: {args: {type: arg_number, value: {at: a}}}"),
              HasSubstr("`{at, min?, max?}`"));
  EXPECT_THAT(fault_of_rule("id: a, then: [deny]"), HasSubstr("`then` must be one of"));
}

// RU-21
TEST(RulesReaderTest, APolicyTakesOverAnotherAndDropsRules) {
  const Result<Policy> own = read_policy(
      "version: 1\nextends: coding\nwithout: [work, network]\nname: mine\nrules: [{id: own, then: "
      "deny}]\n",
      "p.yaml");
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_EQ(own->name, "mine");
  EXPECT_TRUE(own->autonomy);
  EXPECT_EQ(own->rules->find("work"), nullptr);
  ASSERT_NE(own->rules->find("look"), nullptr);
  EXPECT_THAT(own->rules->find("look")->place, HasSubstr("coding:"));
  EXPECT_EQ(own->rules->rules.back().id, "own");
  EXPECT_THAT(own->rules->find("own")->place, HasSubstr("p.yaml:5"));
  EXPECT_THAT(fault_of("extends: coding\nwithout: [nothing]\nrules: []\n"),
              HasSubstr("p.yaml:3:11: `nothing` is not a rule"));
  EXPECT_THAT(fault_of("extends: coding\nwithout: [work, work]\nrules: []\n"),
              HasSubstr("duplicate"));
  EXPECT_THAT(fault_of("extends: coding\nrules: [{id: work, then: deny}]\n"),
              HasSubstr("p.yaml:3:14: duplicate rule `work`, first in the policy that this"));
  EXPECT_THAT(fault_of("extends: coding\nwithout: work\n"), HasSubstr("`without` must be a list"));
  EXPECT_THAT(fault_of("without: [work]\nrules: []\n"), HasSubstr("`without` needs `extends`"));
  EXPECT_THAT(fault_of("extends: strict\n"), HasSubstr("only one level"));
  EXPECT_THAT(fault_of("extends: /nowhere.yaml\n"),
              HasSubstr("p.yaml:2:10: there is no file `/nowhere.yaml`"));
}

// RU-22: a hit must be sure for one effect, a miss must be sure for all.
TEST(RulesReaderTest, ExamplesThatAreLinesAreReadAsCommands) {
  const auto fault = [](const std::string& examples) {
    return fault_of_rule(
        "id: e, then: deny, when: {class: fs.delete, outside: workspace}, examples: {" + examples +
        "}");
  };
  EXPECT_THAT(fault("hits: [rm ../x, 'cat a; rm /srv/x'], misses: [rm x, cat ../x]"), IsEmpty());
  EXPECT_THAT(fault("hits: [rm x]"), HasSubstr("does not match this example"));
  EXPECT_THAT(fault("hits: ['rm $x']"),
              HasSubstr("may match this example, which is one of its `hits`"));
  EXPECT_THAT(fault("misses: ['rm $x']"),
              HasSubstr("may match this example, which is one of its `misses`"));
  EXPECT_THAT(fault("misses: ['rm x; rm /y']"), HasSubstr("matches this example"));
}

// RU-22: inputs.
TEST(RulesReaderTest, AnExampleThatFailsMakesThePolicyInvalid) {
  const std::string rule =
      "rules:\n  - id: e\n    then: deny\n    when: {tool: write_file, path: '/etc/**'}\n"
      "    examples:\n      hits: [{path: /etc/x}]\n      misses: [{path: ";
  EXPECT_THAT(fault_of(rule + "/w/x}]\n"), IsEmpty());
  EXPECT_THAT(
      fault_of(rule + "/etc/y}]\n"),
      HasSubstr("p.yaml:8:17: rule `e` matches this example, which is one of its `misses`"));
  // The names of each mapping of `when` are tried.
  const std::string two =
      "id: e, then: deny, when: [{tool: Write, path: /a}, {tool: Edit, path: /b}], examples: ";
  EXPECT_THAT(fault_of_rule(two + "{hits: [{file_path: /a}, {file_path: /b}]}"), IsEmpty());
  EXPECT_THAT(fault_of_rule(two + "{misses: [{file_path: /b}]}"), HasSubstr("matches"));
}

}  // namespace
}  // namespace sallyport::policy
