// The rule language through the reader of policies: the meaning of rules. Invalid rules:
// rules_reader_test.cc.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "policy/policy.h"
#include "rules/case_view.h"
#include "rules/rule_set.h"
#include "unit/policy/rule_faults.h"

namespace sallyport::policy {
namespace {

using rules::Match;
using rules::RuleVerdict;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

rules::RuleSet set_of(const std::string& sections) {
  const Result<Policy> policy = read_policy("version: 1\n" + sections, "p.yaml");
  EXPECT_TRUE(policy.has_value()) << policy.error().where << ": " << policy.error().message;
  return policy->rules.value();
}

struct Scene {
  std::string tool = "Write";
  json::value input = json::object{{"file_path", "/w/a"}};
  std::string agent = "a";
  std::string front = "hook";
  std::string server = "claude-code";
  std::string session = "s-1";
  std::vector<std::string> workspace = {"/w"};
  std::optional<std::string> cwd = "/w";
  std::map<std::string, std::string> links{};
  bool interactive = false;
  std::string now = "2026-11-16T00:00:00Z";
  bool remote = false;
};

struct Seen {
  RuleVerdict verdict{};
  std::string rule{};
  std::string text{};
  std::vector<std::string> matches{};
  std::vector<std::string> logged{};
  std::vector<std::string> expired{};
  std::vector<std::string> escalated{};
  rules::ApprovalTerms asking{};
  bool all_free = false;
};

Seen see(const rules::RuleSet& set, const Scene& scene) {
  const Call call{.agent_id = scene.agent,
                  .session_id = scene.session,
                  .server = scene.server,
                  .tool = scene.tool,
                  .input = scene.input};
  const rules::CaseView files({}, scene.links);
  const effects::CallFacts facts{.call = call,
                                 .front = scene.front,
                                 .interactive = scene.interactive,
                                 .cwd = scene.cwd,
                                 .workspace = scene.workspace,
                                 .machine = {.home = "/home/user"},
                                 .files = scene.remote ? nullptr : &files};
  const rules::Judged judged = rules::judge(set, facts, *from_rfc3339(scene.now));
  const rules::RuleDecision& decision = judged.decision;
  Seen seen{.verdict = decision.verdict,
            .rule = decision.rule ? decision.rule->id : "",
            .text = decision.text,
            .asking = decision.asking,
            .all_free = decision.all_free};
  for (const rules::RuleMatch& match : decision.matches) {
    seen.matches.push_back(fmt::format("{} {} {}", match.rule->id, to_string(match.then),
                                       match.match == Match::Yes ? "yes" : "unknown"));
  }
  for (const rules::Rule* const rule : decision.logged) seen.logged.push_back(rule->id);
  for (const rules::Rule* const rule : decision.expired) seen.expired.push_back(rule->id);
  for (const rules::Rule* const rule : decision.escalated) seen.escalated.push_back(rule->id);
  return seen;
}

Seen see(const std::string& sections, const Scene& scene) {
  return see(set_of(sections), scene);
}
RuleVerdict verdict(const std::string& rule, const Scene& scene) {
  return see("rules:\n  - {" + rule + "}\n", scene).verdict;
}

// RU-2, RU-3: each kind of rule on yes, no and unknown.
TEST(RulesTest, UnknownAsksWhereARuleRestrictsAndAllowsNothing) {
  const Scene known{.input = {{"file_path", "/etc/x"}}};
  const Scene other{.input = {{"file_path", "/w/x"}}};
  const Scene unknown{.input = {{"file_path", std::string("/w/\0", 4)}}};
  const std::string when = ", when: {path: '/etc/**'}";
  EXPECT_EQ(verdict("id: a, then: deny" + when, known), RuleVerdict::Refused);
  EXPECT_EQ(verdict("id: a, then: deny" + when, unknown), RuleVerdict::Asks);
  EXPECT_EQ(verdict("id: a, then: deny" + when, other), RuleVerdict::Open);
  EXPECT_EQ(verdict("id: a, then: ask" + when, known), RuleVerdict::Asks);
  EXPECT_EQ(verdict("id: a, then: ask" + when, unknown), RuleVerdict::Asks);
  EXPECT_EQ(verdict("id: a, then: allow" + when, known), RuleVerdict::Allowed);
  EXPECT_EQ(verdict("id: a, then: allow" + when, unknown), RuleVerdict::Open);
  const Seen logged = see("rules: [{id: a, then: log" + when + "}]\n", unknown);
  EXPECT_EQ(logged.verdict, RuleVerdict::Open);
  EXPECT_THAT(logged.logged, ElementsAre("a"));
  EXPECT_THAT(logged.matches, ElementsAre("a log unknown"));
}

// RU-4, RU-10: order changes no verdict, and no `allow` undoes a refusal.
TEST(RulesTest, TheWorstEffectDecidesWhateverTheOrder) {
  const std::string allow = "  - {id: a, then: allow, when: {class: [fs.delete, fs.write]}}\n";
  const std::string deny = "  - {id: d, then: deny, when: {class: fs.write, path: '/etc/**'}}\n";
  const Scene move{.tool = "move_file",
                   .input = {{"source", "/w/a"}, {"destination", "/etc/a"}},
                   .front = "mcp",
                   .server = "s"};
  EXPECT_EQ(see("rules:\n" + allow + deny, move).verdict, RuleVerdict::Refused);
  EXPECT_EQ(see("rules:\n" + deny + allow, move).verdict, RuleVerdict::Refused);
  EXPECT_EQ(see("rules:\n" + allow, move).verdict, RuleVerdict::Allowed);
  EXPECT_EQ(see("rules:\n  - {id: a, then: allow, when: {class: fs.write}}\n", move).verdict,
            RuleVerdict::Open);
}

// RU-5, RU-6
TEST(RulesTest, FreeEffectsAreNotOpenAndUnlistedDecidesOpenOnes) {
  const Scene read{.tool = "Read", .input = {{"file_path", "/w/a"}}};
  EXPECT_EQ(see("rules: []\n", read).verdict, RuleVerdict::Free);
  EXPECT_TRUE(see("rules: []\n", read).all_free);
  EXPECT_EQ(see("unlisted: deny\nrules: []\n", read).verdict, RuleVerdict::Free);
  EXPECT_EQ(see("rules: []\n", {}).verdict, RuleVerdict::Open);
  EXPECT_EQ(see("unlisted: ask\nrules: []\n", {}).verdict, RuleVerdict::Asks);
  const Seen refused = see("unlisted: deny\nrules: []\n", {});
  EXPECT_EQ(refused.verdict, RuleVerdict::Refused);
  EXPECT_EQ(refused.rule, "");
  EXPECT_THAT(refused.text, HasSubstr("`unlisted`"));
  // A call is open if no rule decides it with a yes: an unknown match makes it no milder (RU-10).
  const Scene unknown{.input = {{"file_path", std::string("/w/\0", 4)}}};
  for (const char* then : {"deny", "ask", "log"}) {
    const std::string rule = fmt::format("{{id: e, then: {}, when: {{path: '/etc/**'}}}}", then);
    const Seen still = see("unlisted: deny\nrules: [" + rule + "]\n", unknown);
    EXPECT_EQ(still.verdict, RuleVerdict::Refused) << then;
    EXPECT_THAT(still.text, HasSubstr("`unlisted`")) << then;
  }
  EXPECT_EQ(
      see("unlisted: deny\nrules: [{id: e, then: ask, when: {class: fs.write}}]\n", {}).verdict,
      RuleVerdict::Asks);
  const Seen asked = see("rules: [{id: s, then: ask, when: {path: '**/a'}}]\n", read);
  EXPECT_EQ(asked.verdict, RuleVerdict::Asks);
  EXPECT_TRUE(asked.all_free);
}

// RU-6..RU-9
TEST(RulesTest, ATierTakesWhatTheRulesLeaveToIt) {
  const auto outcome = [](const std::string& rule, Autonomy tier, const Scene& scene) {
    const rules::RuleSet set = set_of("rules: [" + rule + "]\n");
    const Call call{.server = scene.server, .tool = scene.tool, .input = scene.input};
    const rules::CaseView files({}, {});
    const effects::CallFacts facts{.call = call,
                                   .front = "hook",
                                   .cwd = "/w",
                                   .workspace = {"/w"},
                                   .machine = {.home = "/home/user"},
                                   .files = &files};
    const rules::Judged judged = rules::judge(set, facts, WallTime{});
    const rules::CallOutcome found = rules::outcome_of(judged.decision, tier, false);
    return std::string(found.verdict) + (found.rule ? " " + found.rule->id : "");
  };
  const std::string allow = "{id: a, then: allow, when: {class: fs.write}}";
  const std::string ask = "{id: a, then: ask}";
  const Scene read{.tool = "Read", .input = {{"file_path", "/w/a"}}};
  using enum Autonomy;
  EXPECT_EQ(outcome(allow, ActWithApproval, {}), "runs a");
  EXPECT_EQ(outcome(allow, ActAuto, {}), "runs a");
  EXPECT_EQ(outcome(allow, Suggest, {}), "proposed");
  EXPECT_EQ(outcome(allow, Shadow, {}), "shadow");
  EXPECT_EQ(outcome("", ActWithApproval, {}), "asks");
  EXPECT_EQ(outcome("", ActAuto, {}), "runs");
  EXPECT_EQ(outcome(ask, ActAuto, {}), "asks a");
  EXPECT_EQ(outcome(ask, Shadow, {}), "shadow");
  EXPECT_EQ(outcome(ask, Shadow, read), "asks a");
  EXPECT_EQ(outcome("", Shadow, read), "runs");
}

// RU-12
TEST(RulesTest, TheFirstRuleOfTheFileThatDecidesIsNamed) {
  const std::string two =
      "rules:\n  - {id: x, then: ask, when: {path: '/etc/**'}}\n"
      "  - {id: y, then: ask}\n  - {id: z, then: deny, when: {path: '/etc/**'}}\n";
  EXPECT_EQ(see(two, {.input = {{"file_path", "/etc/a"}}}).rule, "z");
  EXPECT_EQ(see(two, {}).rule, "y");
  // A rule that certainly asks counts before one that might.
  EXPECT_EQ(see(two, {.input = {{"file_path", std::string("\0", 1)}}}).rule, "y");
  const std::string allows =
      "rules:\n  - {id: r, then: allow, when: {class: fs.read}}\n"
      "  - {id: w, then: allow, when: {class: fs.write}}\n";
  const Scene copy{.tool = "copy_file",
                   .input = {{"source", "/w/a"}, {"destination", "/w/b"}},
                   .front = "mcp",
                   .server = "s"};
  EXPECT_EQ(see(allows, copy).rule, "w");
  EXPECT_EQ(see(allows, {.tool = "Read", .input = {{"file_path", "/a"}}}).rule, "r");
}

// RU-14
TEST(RulesTest, ListsMeanAnyAndUnlessTakesBack) {
  const std::string rule =
      "id: a, then: deny, when: [{tool: Edit}, {class: fs.write, path: ['/x/**', '/y/**']}], "
      "unless: {path: '/y/free/**'}";
  EXPECT_EQ(verdict(rule, {.input = {{"file_path", "/y/a"}}}), RuleVerdict::Refused);
  EXPECT_EQ(verdict(rule, {.input = {{"file_path", "/z"}}}), RuleVerdict::Open);
  EXPECT_EQ(verdict(rule, {.tool = "Edit", .input = {{"file_path", "/z"}}}), RuleVerdict::Refused);
  EXPECT_EQ(verdict(rule, {.input = {{"file_path", "/y/free/a"}}}), RuleVerdict::Open);
  const std::string outside = "id: a, then: deny, when: {outside: [workspace, temp]}";
  EXPECT_EQ(verdict(outside, {.input = {{"file_path", "/tmp/a"}}}), RuleVerdict::Open);
  EXPECT_EQ(verdict(outside, {.input = {{"file_path", "/srv/a"}}}), RuleVerdict::Refused);
}

// RU-15: call conditions of the table.
TEST(RulesTest, ConditionsOfTheCall) {
  EXPECT_EQ(verdict("id: a, then: deny, when: {agent: bot}", {.agent = "bot/x"}),
            RuleVerdict::Refused);
  EXPECT_EQ(verdict("id: a, then: deny, when: {agent: bot}", {.agent = "bot2"}), RuleVerdict::Open);
  EXPECT_EQ(verdict("id: a, then: deny, when: {session: s-1}", {}), RuleVerdict::Refused);
  EXPECT_EQ(verdict("id: a, then: deny, when: {front: [mcp, http]}", {}), RuleVerdict::Open);
  EXPECT_EQ(verdict("id: a, then: deny, when: {interactive: true}", {.interactive = true}),
            RuleVerdict::Refused);
  EXPECT_EQ(verdict("id: a, then: deny, when: {server: claude-code, tool: 'W*e'}", {}),
            RuleVerdict::Refused);
  EXPECT_EQ(verdict("id: a, then: deny, when: {tool: Writ}", {}), RuleVerdict::Open);
  EXPECT_EQ(verdict("id: a, then: deny, when: {recursive: [false]}", {}), RuleVerdict::Refused);
  EXPECT_EQ(verdict("id: a, then: deny, when: {recursive: [true]}", {}), RuleVerdict::Open);
  EXPECT_THAT(fault_of_rule("id: a, then: deny, when: {recursive: [true, false]}"),
              HasSubstr("leave the condition out"));
}

// RU-15
TEST(RulesTest, ArgNumberHoldsForNumbersInItsRange) {
  const auto found = [](const std::string& limits, json::value amount) {
    return verdict(
        "id: a, then: deny, when: {args: {type: arg_number, value: {at: /n" + limits + "}}}",
        {.tool = "pay", .input = {{"n", std::move(amount)}}, .front = "mcp", .server = "s"});
  };
  EXPECT_EQ(found(", max: 50", 50), RuleVerdict::Refused);
  EXPECT_EQ(found(", max: 50", 50.5), RuleVerdict::Open);
  EXPECT_EQ(found(", max: 50", "20"), RuleVerdict::Open);
  EXPECT_EQ(found(", min: -1, max: 1", -1), RuleVerdict::Refused);
  EXPECT_EQ(found(", min: 1", 18446744073709551615U), RuleVerdict::Refused);
  EXPECT_EQ(found(", min: 1", nullptr), RuleVerdict::Open);
  EXPECT_EQ(found("", 7), RuleVerdict::Refused);
  EXPECT_EQ(found("", "7"), RuleVerdict::Open);
  EXPECT_THAT(fault_of_rule("id: a, then: deny, when: {args: {type: arg_number, value: {at: /n, "
                            "min: 5, max: 1}}}"),
              HasSubstr("no number fits"));
}

const std::string kBank =
    "rules:\n"
    "  - id: small\n    when: {server: bank, tool: pay}\n"
    "    only:\n"
    "      - [{type: arg_number, value: {at: /amount, max: 50}}]\n"
    "      - [{type: arg_equals, value: {at: /to, value: tax}}]\n"
    "    otherwise: deny\n";

// RU-16
TEST(RulesTest, OnlyAllowsWhatFitsOneAlternativeAndSaysWhatDidNot) {
  const auto pay = [](json::value amount, std::string to) {
    return Scene{.tool = "pay",
                 .input = {{"amount", std::move(amount)}, {"to", std::move(to)}},
                 .front = "mcp",
                 .server = "bank"};
  };
  EXPECT_EQ(see(kBank, pay(20, "x")).verdict, RuleVerdict::Allowed);
  EXPECT_EQ(see(kBank, pay(900, "tax")).verdict, RuleVerdict::Allowed);
  const Seen refused = see(kBank, pay(900, "x"));
  EXPECT_EQ(refused.verdict, RuleVerdict::Refused);
  EXPECT_THAT(refused.text, HasSubstr("arg_number"));
  EXPECT_THAT(refused.text, HasSubstr("arg_equals"));
  Scene other = pay(900, "x");
  other.tool = "look";
  EXPECT_EQ(see(kBank, other).verdict, RuleVerdict::Open);
}

// RU-16: alternatives of conditions, and effects that fit different alternatives.
TEST(RulesTest, AllEffectsFitTheSameAlternative) {
  const std::string only =
      "rules:\n  - {id: o, when: {tool: move_file}, only: [{inside: /a}, {inside: /b}], otherwise: "
      "ask}\n";
  const auto move = [](std::string from, std::string to) {
    return Scene{.tool = "move_file",
                 .input = {{"source", from}, {"destination", to}},
                 .front = "mcp",
                 .server = "s"};
  };
  EXPECT_EQ(see(only, move("/a/x", "/a/y")).verdict, RuleVerdict::Allowed);
  EXPECT_EQ(see(only, move("/b/x", "/b/y")).verdict, RuleVerdict::Allowed);
  EXPECT_EQ(see(only, move("/a/x", "/b/y")).verdict, RuleVerdict::Asks);
}

// RU-17
TEST(RulesTest, OfSeveralOnlyRulesTheMostSpecificCounts) {
  const std::string wide =
      "  - {id: wide, when: {tool: pay}, only: [[{type: arg_equals, value: {at: "
      "/a, value: 1}}]], otherwise: deny}\n";
  const std::string narrow =
      "  - {id: narrow, when: {server: s, tool: pay}, only: [[{type: arg_equals, "
      "value: {at: /a, value: 2}}]], otherwise: deny}\n";
  const Scene two{.tool = "pay", .input = {{"a", 2}}, .front = "mcp", .server = "s"};
  EXPECT_EQ(see("rules:\n" + wide + narrow, two).rule, "narrow");
  EXPECT_EQ(see("rules:\n" + wide + narrow, two).verdict, RuleVerdict::Allowed);
  EXPECT_THAT(fault_of("rules:\n" + wide +
                       "  - {id: same, when: {tool: 'p*'}, only: [{class: none}], "
                       "otherwise: ask}\n"),
              HasSubstr("`wide` and rule `same`"));
  EXPECT_THAT(fault_of_rule("id: a, then: deny, only: [{class: none}], otherwise: ask"),
              HasSubstr("instead of `then`"));
  EXPECT_THAT(fault_of_rule("id: a, only: [{class: none}]"), HasSubstr("`otherwise` is missing"));
}

// RU-18
TEST(RulesTest, WhatRulesAskOfAnApprovalOnlyNarrows) {
  const Seen seen =
      see("rules:\n"
          "  - {id: a, then: ask, quorum: 1, reviewers: [x, y], deadline_s: 60, use_within_s: 9}\n"
          "  - {id: b, then: ask, when: {path: '/nowhere/**'}, quorum: 5}\n"
          "  - {id: c, then: ask, quorum: 2, reviewers: [y, z, x], deadline_s: 90, "
          "dual_control: true}\n",
          {});
  EXPECT_EQ(seen.asking.quorum, 2U);
  EXPECT_THAT(seen.asking.reviewers, ElementsAre("x", "y"));
  EXPECT_EQ(seen.asking.deadline, std::chrono::seconds(60));
  EXPECT_EQ(seen.asking.use_within, std::chrono::seconds(9));
  EXPECT_TRUE(seen.asking.dual_control);
  EXPECT_TRUE(see("rules:\n  - {id: a, then: ask, reviewers: [x]}\n  - {id: b, then: ask, "
                  "reviewers: [y]}\n",
                  {})
                  .asking.no_reviewer_left);
}

// RU-19 (partly): the item itself.
TEST(RulesTest, AnAllowRuleMayAddAnItemToTheQueue) {
  const Seen seen = see("rules: [{id: a, then: allow, escalate: true}]\n", {});
  EXPECT_EQ(seen.verdict, RuleVerdict::Allowed);
  EXPECT_THAT(seen.escalated, ElementsAre("a"));
}

// RU-20
TEST(RulesTest, AnExpiredRuleMatchesNothing) {
  const std::string rule = "rules: [{id: w, then: allow, expires: 2026-11-15T00:00:00Z}]\n";
  EXPECT_EQ(see(rule, {.now = "2026-11-14T23:59:59Z"}).verdict, RuleVerdict::Allowed);
  const Seen after = see(rule, {.now = "2026-11-15T00:00:00Z"});
  EXPECT_EQ(after.verdict, RuleVerdict::Open);
  EXPECT_THAT(after.expired, ElementsAre("w"));
}

// RU-33: a restrictive rule checks both forms, an `allow` rule needs both; `unless` reverses
// that.
TEST(RulesTest, BothFormsOfAPathCount) {
  const Scene linked{.input = {{"file_path", "/w/out/x"}}, .links = {{"/w/out", "/etc"}}};
  EXPECT_EQ(verdict("id: a, then: deny, when: {path: '/etc/**'}", linked), RuleVerdict::Refused);
  EXPECT_EQ(verdict("id: a, then: deny, when: {path: '/w/**'}", linked), RuleVerdict::Refused);
  EXPECT_EQ(verdict("id: a, then: allow, when: {inside: workspace}", linked), RuleVerdict::Open);
  EXPECT_EQ(verdict("id: a, then: deny, unless: {inside: workspace}", linked),
            RuleVerdict::Refused);
  EXPECT_EQ(verdict("id: a, then: allow, unless: {path: '/etc/**'}", linked), RuleVerdict::Open);
  EXPECT_EQ(verdict("id: a, then: deny, when: {outside: workspace}", linked), RuleVerdict::Refused);
  // For files elsewhere only the written form counts (RU-42).
  Scene remote = linked;
  remote.remote = true;
  EXPECT_EQ(verdict("id: a, then: allow, when: {inside: workspace}", remote), RuleVerdict::Allowed);
  EXPECT_EQ(see("servers: [{server: claude-code, paths: remote}]\n"
                "rules: [{id: a, then: allow, when: {inside: workspace}}]\n",
                linked)
                .verdict,
            RuleVerdict::Allowed);
}

// RU-35, RU-36
TEST(RulesTest, AWorkspaceThatIsEverythingIsUnknown) {
  const std::string deny = "id: a, then: deny, when: {outside: workspace}";
  const std::string allow = "id: a, then: allow, when: {inside: workspace}";
  for (const char* const folder : {"/", "/home/user", "/home"}) {
    EXPECT_EQ(verdict(deny, {.workspace = {folder}}), RuleVerdict::Asks) << folder;
    EXPECT_EQ(verdict(allow, {.workspace = {folder}}), RuleVerdict::Open) << folder;
  }
  EXPECT_EQ(verdict(allow, {.workspace = {}}), RuleVerdict::Open);
  EXPECT_EQ(verdict(allow, {.workspace = {"/v", "/w"}}), RuleVerdict::Allowed);
  EXPECT_EQ(see("workspace: /v\nrules: [{" + allow + "}]\n", {}).verdict, RuleVerdict::Open);
  // A workspace that is a link is the folder behind it.
  EXPECT_EQ(verdict(allow, {.input = {{"file_path", "/real/a"}}, .links = {{"/w", "/real"}}}),
            RuleVerdict::Allowed);
}

// RU-38: folding never narrows a restrictive rule and never widens an `allow` rule.
TEST(RulesTest, FoldingIsTurnedRoundByUnlessAndOutside) {
  const Scene upper{.input = {{"file_path", "/W/a"}}};
  EXPECT_EQ(verdict("id: a, then: deny, when: {inside: workspace}", upper), RuleVerdict::Refused);
  EXPECT_EQ(verdict("id: a, then: deny, when: {outside: workspace}", upper), RuleVerdict::Refused);
  EXPECT_EQ(verdict("id: a, then: deny, unless: {inside: workspace}", upper), RuleVerdict::Refused);
  EXPECT_EQ(verdict("id: a, then: allow, when: {inside: workspace}", upper), RuleVerdict::Open);
  EXPECT_EQ(verdict("id: a, then: allow, when: {outside: workspace}", upper), RuleVerdict::Open);
  EXPECT_EQ(verdict("id: a, then: allow, unless: {inside: workspace}", upper), RuleVerdict::Open);
}

// RU-23
TEST(RulesTest, APathConditionIsNoForAnEffectWithoutAPath) {
  const Scene pay{.tool = "pay", .input = {{"n", 1}}, .front = "mcp", .server = "s"};
  EXPECT_EQ(verdict("id: a, then: deny, when: {path: '/**'}", pay), RuleVerdict::Open);
  EXPECT_EQ(verdict("id: a, then: deny, when: {outside: workspace}", pay), RuleVerdict::Open);
  EXPECT_EQ(verdict("id: a, then: deny, when: {host: private}", pay), RuleVerdict::Open);
}

// RU-55
TEST(RulesTest, AnOpaqueEffectIsAllowedOnlyByName) {
  const Scene typed{.tool = "write_stdin", .input = {{"chars", "x"}}, .server = "codex"};
  EXPECT_EQ(verdict("id: a, then: allow", typed), RuleVerdict::Open);
  EXPECT_EQ(verdict("id: a, then: allow, when: {class: process.exec}", typed), RuleVerdict::Open);
  EXPECT_EQ(verdict("id: a, then: allow, when: {opaque: true}", typed), RuleVerdict::Allowed);
  EXPECT_EQ(verdict("id: a, then: deny, when: {class: fs.delete}", typed), RuleVerdict::Asks);
  EXPECT_EQ(verdict("id: a, then: deny, when: {class: process.exec}", typed), RuleVerdict::Refused);
  EXPECT_EQ(verdict("id: a, then: deny, when: {tool: Bash}", typed), RuleVerdict::Open);
  EXPECT_EQ(verdict("id: a, then: deny, when: {opaque: false}", typed), RuleVerdict::Open);
}

// RU-71, RU-72
TEST(RulesTest, TheAgentIsToldWhichRuleAndWhy) {
  const Scene gone{
      .tool = "delete_directory", .input = {{"path", "/srv"}}, .front = "mcp", .server = "s"};
  EXPECT_EQ(see("rules: [{id: no, then: deny, when: {class: fs.delete, recursive: true, outside: "
                "workspace}}]\n",
                gone)
                .text,
            "Blocked by rule `no`: it deletes `/srv` recursively, outside of the workspace `/w`");
  EXPECT_EQ(
      see("rules: [{id: no, then: ask, message: 'say why ${path} in ${workspace} on ${host}'}]\n",
          gone)
          .text,
      "Rule `no` asks: say why /srv in /w on unknown");
  EXPECT_EQ(see("rules: [{id: no, then: deny, when: {tool: 'delete_*'}}]\n", gone).text,
            "Blocked by rule `no`: it deletes `/srv` recursively, a call of `delete_directory`");
  EXPECT_EQ(
      see("rules: [{id: no, then: deny, when: {agent: a}}]\n", {.tool = "TodoWrite", .agent = "a"})
          .text,
      "Blocked by rule `no`: it prints, plans or asks its user, a call by `a`");
  Scene hidden = gone;
  hidden.input = {{"path", "/srv/a\u202eb" + std::string(300, 'x')}};
  const std::string text = see("rules: [{id: no, then: deny, message: '${path}'}]\n", hidden).text;
  EXPECT_THAT(text, HasSubstr("/srv/a\\u{202E}b"));
  EXPECT_LT(text.size(), 250U);
  EXPECT_THAT(fault_of_rule("id: a, then: deny, message: " + std::string(1001, 'x')),
              HasSubstr("at most 1000"));
}

// RU-15: the order of rules that `implies()` proves.
TEST(RulesTest, ImpliesProvesWhatTheTableSays) {
  const auto implies = [](const std::string& narrow, const std::string& wide) {
    const rules::RuleSet set = set_of("rules:\n  - {id: n, then: deny, when: " + narrow +
                                      "}\n  - {id: w, then: deny, when: " + wide + "}\n");
    return rules::implies(set.rules[0].when, set.rules[1].when);
  };
  EXPECT_TRUE(
      implies("{class: fs.write, inside: /a/b}", "{class: [fs.write, fs.read], inside: /a}"));
  EXPECT_FALSE(implies("{inside: /a}", "{inside: /a/b}"));
  EXPECT_TRUE(implies("{outside: /a}", "{outside: /a/b}"));
  EXPECT_FALSE(implies("{outside: /a/b}", "{outside: /a}"));
  EXPECT_TRUE(implies("{agent: bot/x}", "{agent: bot}"));
  EXPECT_TRUE(implies("{tool: write_file}", "{tool: 'write_*'}"));
  EXPECT_FALSE(implies("{tool: '*'}", "{tool: 'write_*'}"));
  EXPECT_TRUE(implies("{host: [a.example.org, 10.0.0.1]}", "{host: ['*.example.org', private]}"));
  EXPECT_FALSE(implies("{host: private}", "{host: '*.example.org'}"));
  EXPECT_TRUE(implies("{command: git push origin}", "{command: git push}"));
  EXPECT_TRUE(implies("{command: {run: rm, flags: [-r], without: [-i]}}",
                      "{command: {run: rm, flags: [-r, -f]}}"));
  EXPECT_FALSE(implies("{command: {run: rm}}", "{command: {run: rm, flags: [-r]}}"));
  EXPECT_TRUE(implies("{args: {type: arg_number, value: {at: /n, max: 5}}}",
                      "{args: {type: arg_number, value: {at: /n, max: 9}}}"));
  EXPECT_FALSE(implies("{recursive: true}", "{recursive: false}"));
}

}  // namespace
}  // namespace sallyport::policy
