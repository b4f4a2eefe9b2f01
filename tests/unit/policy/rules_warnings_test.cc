#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/policy.h"
#include "policy/shipped.h"
#include "rules/warnings.h"

namespace sallyport::policy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> codes(const std::string& text) {
  const Result<Policy> policy = read_policy(text, "p.yaml");
  EXPECT_TRUE(policy.has_value()) << policy.error().where << policy.error().message;
  std::vector<std::string> found;
  if (!policy || !policy->rules) return found;
  const rules::WarningFacts facts{.now = *from_rfc3339("2026-11-16T00:00:00Z"),
                                  .home = "/home/user",
                                  .agents = std::set<std::string>{"bot"}};
  for (const rules::Warning& warning : rules::warnings(*policy->rules, facts)) {
    EXPECT_FALSE(warning.text.empty());
    EXPECT_TRUE(warning.place.starts_with("p.yaml:") || warning.place.starts_with("coding:"))
        << warning.place;
    found.push_back(warning.code);
  }
  return found;
}
std::vector<std::string> codes_of(const std::string& rules) {
  return codes("version: 1\nrules: [" + rules + "]\n");
}

// RU-74: each code, and a rule beside it that has none.
TEST(RuleWarnings, WhatIsProbablyNotMeantIsSaid) {
  EXPECT_THAT(codes_of("{id: a, then: deny, when: {inside: /a, outside: /a}}"),
              ElementsAre("unreachable"));
  EXPECT_THAT(codes_of("{id: a, then: deny, when: {tool: Bash}, unless: {tool: 'B*'}}"),
              ElementsAre("unreachable"));
  EXPECT_THAT(codes_of("{id: a, then: allow, when: {class: fs.write, inside: /a}}, "
                       "{id: d, then: deny, when: {class: fs.write}}"),
              ElementsAre("shadowed"));
  EXPECT_THAT(codes_of("{id: a, then: allow, when: {class: fs.write}}, "
                       "{id: d, then: deny, when: {class: fs.write, inside: /a}}"),
              IsEmpty());
  EXPECT_THAT(codes_of("{id: a, then: deny, when: {tool: wirte_file}}"),
              ElementsAre("unknown_tool"));
  EXPECT_THAT(codes_of("{id: a, then: deny, when: {tool: [write_file, Bash, 'x*']}}"), IsEmpty());
  EXPECT_THAT(codes_of("{id: a, then: deny, when: {agent: bto}}"), ElementsAre("unknown_agent"));
  EXPECT_THAT(codes_of("{id: a, then: deny, when: {agent: [bot, codex]}}"), IsEmpty());
  EXPECT_THAT(codes_of("{id: a, then: allow}"), ElementsAre("allows_all"));
  EXPECT_THAT(codes_of("{id: a, then: allow, when: {agent: bot}}"), ElementsAre("allows_all"));
  EXPECT_THAT(codes_of("{id: a, then: allow, when: {opaque: true}}"),
              ElementsAre("opaque_allowed"));
  EXPECT_THAT(codes_of("{id: a, then: deny, when: {class: none}, expires: 2027-01-01T00:00:00Z}"),
              ElementsAre("lapses"));
  EXPECT_THAT(codes_of("{id: a, then: deny, when: {class: none}, expires: 2026-01-01T00:00:00Z}"),
              ElementsAre("expired"));
  EXPECT_THAT(codes("version: 1\nworkspace: /home\nrules: [{id: a, then: deny, when: {outside: "
                    "workspace}}]\n"),
              ElementsAre("no_workspace"));
}

// Keys that only rules use were once accepted without a word where there are none.
// RU-28, RU-29, RU-74
TEST(RuleWarnings, KeysThatNeedRulesAreSaidToHaveNoEffectWithoutThem) {
  const auto text = [](const std::string& policy) {
    const Result<Policy> read = read_policy("version: 1\n" + policy, "p.yaml");
    EXPECT_TRUE(read.has_value()) << read.error().message;
    std::string found;
    for (const rules::Warning& warning : warnings_without_rules(*read)) {
      found += warning.place + " " + warning.code + " " + warning.text + "\n";
    }
    return found;
  };
  const std::string end = " has no effect without `rules`; add `rules: []` to use it\n";
  EXPECT_EQ(text("servers: [{server: \"*\", profile: auto}]\n"),
            "p.yaml:2:12 unreachable `profile: auto` of the server `*`" + end);
  EXPECT_EQ(text("servers:\n  - {server: fs, profile: mcp-filesystem, trust_hints: true}\n"),
            "p.yaml:3:6 unreachable `trust_hints: true` of the server `fs`" + end);
  EXPECT_EQ(text("servers: [{server: fs, profile: mcp-filesystem}]\n"), "");
  EXPECT_EQ(text("servers: [{server: fs, trust_hints: false}]\n"), "");
  EXPECT_EQ(text("rules: []\nservers: [{server: \"*\", profile: auto}]\n"), "");
}

// RU-74: a warning states only true facts. A rule counts as met if a link meets its restriction.
TEST(RuleWarnings, WhatIsSaidIsSo) {
  const auto text = [](const std::string& rule) {
    const Result<Policy> policy = read_policy("version: 1\nrules: [" + rule + "]\n", "p.yaml");
    EXPECT_TRUE(policy.has_value()) << policy.error().message;
    const auto found = rules::warnings(*policy->rules, {});
    return found.empty() ? "" : found.front().code + ": " + found.front().text;
  };
  const std::string never = "unreachable: rule `a` has conditions that never hold together";
  const std::string by_link =
      "unreachable: rule `a` has conditions that hold together only where a link leads elsewhere";
  EXPECT_EQ(text("{id: a, then: deny, when: {inside: /a, outside: /a}}"), by_link);
  EXPECT_EQ(text("{id: a, then: allow, when: {inside: /a, outside: /a}}"), never);
  EXPECT_EQ(text("{id: a, then: deny, when: {path: /a/b}, unless: {path: '/a/**'}}"), by_link);
  EXPECT_EQ(text("{id: a, then: deny, when: {class: none, path: /a}}"), never);
  EXPECT_EQ(text("{id: a, then: deny, when: {path: /a, class: fs.read}, unless: {class: fs.read}}"),
            never);
  EXPECT_EQ(text("{id: a, then: allow, when: {tool: '*'}}"),
            "allows_all: rule `a` allows every effect");
  EXPECT_EQ(text("{id: a, then: allow, unless: {class: fs.delete}}"),
            "allows_all: rule `a` allows every effect that `unless` does not name");
  EXPECT_EQ(text("{id: a, then: allow, when: {recursive: true}}"), "");
  EXPECT_EQ(text("{id: a, then: deny, when: {server: '*', class: fs.read}}"),
            "unreachable: rule `a` names the server `*`: `*` is a wildcard in names of tools only; "
            "leave `server` out to match every server");
}

// RU-79 (partly): no warnings.
TEST(RuleWarnings, ShippedPoliciesHaveNone) {
  for (const ShippedPolicy& shipped : shipped_policies()) {
    EXPECT_THAT(codes(std::string(shipped.text)), IsEmpty()) << shipped.name;
  }
}

}  // namespace
}  // namespace sallyport::policy
