// The rules of a policy at the first door of real calls, and their ledger entries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "policy/policy.h"
#include "rules/case_view.h"
#include "support/governed_ledger.h"

namespace sallyport::policy {
namespace {

using testing::HasSubstr;

class GovernedRulesTest : public testing::Test, protected test::GovernedLedger {
 protected:
  void in_force(const std::string& sections) {
    const Result<Policy> policy = read_policy("version: 1\n" + sections, "policy.yaml");
    ASSERT_TRUE(policy) << policy.error().where << ": " << policy.error().message;
    const Surroundings around{.clock = clock,
                              .entropy = entropy,
                              .fingerprint_key = "key",
                              .machine = {.home = "/home/user"},
                              .files = &files_};
    ASSERT_TRUE(add_to_plan(plan, *policy, *compile_guardrails(*policy, 1), around));
    open();
  }

  static Call claude(std::string tool, json::value input) {
    Call call{.tool_call_id = "toolu_1",
              .agent_id = "claude-code",
              .session_id = "s-1",
              .server = "claude-code",
              .tool = std::move(tool),
              .input = std::move(input)};
    call.setting = {.front = "hook", .folder = "/w", .workspace = {"/w"}};
    return call;
  }
  static Call write(std::string path) {
    return claude("Write", {{"file_path", std::move(path)}, {"content", ""}});
  }
  static Call read(std::string path) { return claude("Read", {{"file_path", std::move(path)}}); }

  Result<Answer> leaving(Call asked) {
    return call(std::move(asked), core::Caller{.holds = false});
  }

  // Returns `rules` of the last record, with the sealed values.
  json::object said() {
    json::object found;
    for (const test::Seen& seen : test::all_entries(ledger.store())) {
      if (seen.entry.at("kind") != json::value("tool_audit")) continue;
      const json::object entry = *ledger->entry(seen.stored.sequence);
      const json::value* const rules = entry.at("body").as_object().if_contains("rules");
      found = rules ? rules->as_object() : json::object();
    }
    return found;
  }
  std::vector<json::object> entries_of_topic(std::string_view topic) {
    std::vector<json::object> found;
    for (const test::Seen& seen : test::all_entries(ledger.store())) {
      const json::object entry = *ledger->entry(seen.stored.sequence);
      const json::value* const of = entry.if_contains("topic");
      if (of && *of == json::value(topic)) found.push_back(entry);
    }
    return found;
  }

  rules::CaseView files_{{}, {{"/w/out", "/etc"}}};
};

const std::string kRules =
    "autonomy: {tier: act_with_approval}\n"
    "rules:\n"
    "  - {id: no-etc, then: deny, when: {path: '/etc/**'}, message: 'Leave ${path} alone.'}\n"
    "  - {id: env, then: ask, when: {path: '**/.env'}, quorum: 2, reviewers: [ada, bo], "
    "deadline_s: 60}\n"
    "  - {id: work, then: allow, when: {class: fs.write, inside: workspace}}\n";

// RU-11, RU-71, RU-73
TEST_F(GovernedRulesTest, ARefusedCallDoesNotRunAndItsRecordNamesTheRule) {
  in_force(kRules);
  const Result<Answer> answer = call(write("/w/out/x"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(upstream->calls.size(), 0U);
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Blocked);
  EXPECT_EQ(answer->outcome.text, "Blocked by rule `no-etc`: Leave /w/out/x alone.");
  EXPECT_EQ(answer->result.output, "Blocked by rule `no-etc`: Leave /w/out/x alone.");
  EXPECT_EQ(answer->rule, "no-etc");
  EXPECT_EQ(answer->message, "Leave /w/out/x alone.");
  const json::object rules = said();
  EXPECT_EQ(rules.at("verdict"), json::value("refused"));
  EXPECT_EQ(rules.at("rule"), json::value("no-etc"));
  EXPECT_EQ(rules.at("place"), json::value("policy.yaml:4:6"));
  EXPECT_EQ(rules.at("matches").as_array().size(), 1U);
  EXPECT_EQ(rules.at("matches").at(0),
            (json::value{{"rule", "no-etc"}, {"then", "deny"}, {"match", "yes"}, {"effect", 0}}));
  EXPECT_EQ(rules.at("effects").at(0),
            (json::value{{"class", "fs.write"},
                         {"path", {{"written", "/w/out/x"}, {"resolved", "/etc/x"}}}}));
}

// RU-7
TEST_F(GovernedRulesTest, AnAllowedCallRunsWithoutAPerson) {
  in_force(kRules);
  const Result<Answer> answer = call(write("/w/a"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(upstream->calls.size(), 1U);
  EXPECT_EQ(records().back().autonomy, Autonomy::ActAuto);
  EXPECT_EQ(records().back().autonomy_source, "rule");
}

// RU-6: a call that no rule decides falls to the tier.
TEST_F(GovernedRulesTest, AnOpenCallWaitsForAPerson) {
  in_force(kRules);
  const Result<Answer> answer = leaving(write("/srv/a"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(upstream->calls.size(), 0U);
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::RequiresConfirmation);
  EXPECT_EQ(said().at("rule"), json::value());
}

// RU-5: calls that only read have no tier.
TEST_F(GovernedRulesTest, AFreeCallRunsUnderEveryTier) {
  in_force("autonomy: {tier: shadow}\nrules: []\n");
  ASSERT_TRUE(call(read("/w/a")));
  Call plans_todo = claude("TodoWrite", {{"todos", json::array()}});
  plans_todo.tool_call_id = "toolu_2";
  ASSERT_TRUE(call(plans_todo));
  EXPECT_EQ(upstream->calls.size(), 2U);
}

// RU-9, RU-18
TEST_F(GovernedRulesTest, AnAskOnAFreeCallHoldsItAndNarrowsTheApproval) {
  in_force(kRules);
  const Result<Answer> answer = leaving(read("/w/.env"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(upstream->calls.size(), 0U);
  EXPECT_THAT(answer->outcome.text, HasSubstr("Rule `env` asks: "));
  const core::Rehearsal seen = *test::run_now(governor->rehearse(read("/w/.env"), tool));
  ASSERT_TRUE(seen.question);
  EXPECT_EQ(answer->rule, "env");
  EXPECT_EQ(seen.question->rules.at("rule"), json::value("env"));
  EXPECT_EQ(seen.question->rules.at("place"), json::value("policy.yaml:5:6"));
  EXPECT_EQ(seen.question->rules.at("effects").at(0).at("class"), json::value("fs.read"));
  EXPECT_FALSE(seen.question->reason_required);
  EXPECT_EQ(seen.question->approvers_required, 2U);
  EXPECT_THAT(seen.question->reviewers, testing::ElementsAre("ada", "bo"));
  EXPECT_LE(*from_rfc3339(seen.question->expires_at), clock.wall() + std::chrono::seconds(60));
}

// RU-18: an empty list of reviewers means anyone, so a call without remaining reviewers is refused
// and no approval is requested.
TEST_F(GovernedRulesTest, ReviewersThatExcludeEachOtherRefuseTheCall) {
  in_force(
      "autonomy: {tier: act_with_approval, reviewers: [eve, ada]}\n"
      "rules:\n"
      "  - {id: env, then: ask, when: {path: '**/.env'}, reviewers: [bo]}\n"
      "  - {id: key, then: ask, when: {path: '**/key'}, reviewers: [ada, bo], quorum: 2}\n"
      "  - {id: both, then: ask, when: {path: '**/both'}, reviewers: [ada]}\n"
      "  - {id: both-2, then: ask, when: {path: '**/both'}, reviewers: [eve]}\n"
      "  - {id: fits, then: ask, when: {path: '**/fits'}, reviewers: [ada, bo]}\n");
  const auto text = [&](std::string path, std::string id) {
    Call asked = read(std::move(path));
    asked.tool_call_id = std::move(id);
    const Result<Answer> answer = leaving(asked);
    EXPECT_TRUE(answer);
    EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Blocked);
    EXPECT_TRUE(answer->approval_id.empty());
    return answer->outcome.text;
  };
  EXPECT_THAT(text("/w/.env", "t-1"), HasSubstr("no reviewer that its rules name"));
  EXPECT_THAT(text("/w/key", "t-2"),
              HasSubstr("needs 2 approvals, and its rules leave 1 reviewer"));
  EXPECT_THAT(text("/w/both", "t-3"), HasSubstr("reviewers that exclude each other"));
  EXPECT_EQ(upstream->calls.size(), 0U);
  const core::Rehearsal seen = *test::run_now(governor->rehearse(read("/w/fits"), tool));
  ASSERT_TRUE(seen.question);
  EXPECT_THAT(seen.question->reviewers, testing::ElementsAre("ada"));
}

// RU-8: the counter of the upstream stays at zero.
TEST_F(GovernedRulesTest, AnAllowRuleLiftsNeitherShadowNorSuggest) {
  in_force("autonomy: {tier: shadow}\nrules: [{id: all, then: allow, when: {class: fs.write}}]\n");
  const Result<Answer> answer = call(write("/w/a"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(upstream->calls.size(), 0U);
  EXPECT_EQ(records().back().autonomy, Autonomy::Shadow);
}

// RU-9: a rule that asks lowers `act_auto`.
TEST_F(GovernedRulesTest, AnAskCapsATierThatWouldRunByItself) {
  in_force("autonomy: {tier: act_auto}\nrules: [{id: w, then: ask, when: {class: fs.write}}]\n");
  const Result<Answer> answer = leaving(write("/w/a"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::RequiresConfirmation);
  EXPECT_EQ(records().back().autonomy, Autonomy::ActWithApproval);
  EXPECT_EQ(records().back().autonomy_source, "rule");
}

// RU-7: a cap of a tier also caps an allow rule.
TEST_F(GovernedRulesTest, ACeilingAndAHumanCountBeforeAnAllowRule) {
  in_force(
      "autonomy: {tier: act_with_approval, requires_human_actions: [Write]}\n"
      "rules: [{id: all, then: allow, when: {class: fs.write}}]\n");
  const Result<Answer> answer = leaving(write("/w/a"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::RequiresConfirmation);
  EXPECT_EQ(records().back().autonomy_source, "requires_human");
}

// RU-11: rules judge the input that runs, after each rewrite.
TEST_F(GovernedRulesTest, ARewrittenInputIsJudgedAgain) {
  plan.guard(std::make_shared<test::FunctionGuard>(
      "mover",
      [](const Call& call) -> Result<Verdict> {
        if (call.input.at("file_path") == json::value("/etc/x")) return Verdict::allow();
        return Verdict::rewrite({{"file_path", "/etc/x"}, {"content", ""}});
      },
      core::Stage::PreHook));
  in_force(kRules);
  const Result<Answer> answer = call(write("/w/a"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(upstream->calls.size(), 0U);
  EXPECT_THAT(answer->outcome.text, HasSubstr("Blocked by rule `no-etc`"));
}

// RU-10: a refusal by text checks stays a refusal.
TEST_F(GovernedRulesTest, NoRuleOverridesAGuardrail) {
  in_force(
      "autonomy: {tier: act_auto}\n"
      "guardrails: {checks: [{type: regex, stage: tool_use, id: word, patterns: ['secret']}]}\n"
      "rules: [{id: all, then: allow, when: {class: fs.write}}]\n");
  const Result<Answer> answer = call(write("/w/secret"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(upstream->calls.size(), 0U);
  EXPECT_THAT(answer->outcome.text, HasSubstr("guardrail"));
}

// RU-36: the workspace of a session is that of its first call.
TEST_F(GovernedRulesTest, TheWorkspaceIsPinnedForTheSession) {
  in_force(kRules);
  ASSERT_TRUE(call(write("/w/a")));
  Call moved = write("/srv/a");
  moved.tool_call_id = "toolu_2";
  moved.setting.workspace = {"/srv"};
  const Result<Answer> answer = leaving(moved);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::RequiresConfirmation);
  Call other = moved;
  other.session_id = "s-2";
  ASSERT_TRUE(call(other));
  EXPECT_EQ(upstream->calls.size(), 2U);
}

// RU-36: also if the first call only asked, and may never end.
TEST_F(GovernedRulesTest, ACallThatWaitsPinsTheWorkspace) {
  in_force(kRules);
  const Result<Answer> first = leaving(write("/srv/a"));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->outcome.kind, Outcome::Kind::RequiresConfirmation);
  Call moved = write("/srv/b");
  moved.tool_call_id = "toolu_2";
  moved.setting.workspace = {"/srv"};
  const Result<Answer> second = leaving(moved);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->outcome.kind, Outcome::Kind::RequiresConfirmation);
}

// RU-19, RU-20
TEST_F(GovernedRulesTest, ItemsAndExpiredRulesAreOnRecordOnce) {
  in_force(
      "autonomy: {tier: act_auto}\n"
      "rules:\n"
      "  - {id: old, then: deny, expires: 2001-01-01T00:00:00Z}\n"
      "  - {id: told, then: allow, when: {class: fs.write}, escalate: true, message: Look at "
      "this.}\n");
  ASSERT_TRUE(call(write("/w/a")));
  Call again = write("/w/b");
  again.tool_call_id = "toolu_2";
  ASSERT_TRUE(call(again));
  EXPECT_EQ(upstream->calls.size(), 2U);
  const std::vector<json::object> expired = entries_of_topic("rules");
  ASSERT_EQ(expired.size(), 1U);
  EXPECT_EQ(expired[0].at("body").at("rule"), json::value("old"));
  // Both calls share the item, because their texts are equal.
  std::vector<json::object> items;
  for (const test::Seen& seen : test::all_entries(ledger.store())) {
    const json::object body = ledger->entry(seen.stored.sequence)->at("body").as_object();
    const json::value* const kind = body.if_contains("kind");
    if (kind && *kind == json::value("escalation")) items.push_back(body);
  }
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(items[0].at("guard"), json::value("rule told"));
  EXPECT_THAT(json::serialize(items[0]), HasSubstr("Look at this."));
}

// RU-20: the first call, also if another rule refuses it.
TEST_F(GovernedRulesTest, ARefusedCallSaysThatARuleHasExpired) {
  in_force(
      "autonomy: {tier: act_auto}\n"
      "rules:\n"
      "  - {id: old, then: deny, when: {class: fs.read}, expires: 2001-01-01T00:00:00Z}\n"
      "  - {id: no, then: deny, when: {class: fs.write}}\n");
  for (const char* path : {"/w/a", "/w/b"}) {
    Call refused = write(path);
    refused.tool_call_id = path;
    ASSERT_TRUE(call(refused));
  }
  EXPECT_EQ(upstream->calls.size(), 0U);
  EXPECT_EQ(entries_of_topic("rules").size(), 1U);
}

// RU-1: without the key nothing of a record or of the hash changes.
TEST_F(GovernedRulesTest, APolicyWithoutRulesLeavesNoTrace) {
  in_force("autonomy: {tier: act_auto}\nworkspace: /w\n");
  ASSERT_TRUE(call(write("/w/a")));
  EXPECT_TRUE(said().empty());
  EXPECT_EQ(plans->current()->dump().find("rules"), std::string::npos);
}

// RU-27: a line that only reads is classified by its effects, unless the policy classifies the
// tool.
TEST_F(GovernedRulesTest, ALineThatOnlyReadsIsClassifiedByIt) {
  in_force("autonomy: {tier: shadow}\nrules: []\n");
  ASSERT_TRUE(call(claude("Bash", {{"command", "cat a | wc -l"}})));
  EXPECT_EQ(upstream->calls.size(), 1U);
  EXPECT_EQ(records().back().tier, Tier::Observe);
  EXPECT_EQ(records().back().effect_class, "none");
  const auto source = [&](const char* line) {
    const Call asked = claude("Bash", {{"command", line}});
    return test::run_now(governor->rehearse(asked, tool))->classification.source;
  };
  EXPECT_EQ(source("cat a | wc -l"), "command");
  EXPECT_NE(source("cat a > b"), "command");
  Call writes = claude("Bash", {{"command", "cat a > b"}});
  writes.tool_call_id = "toolu_2";
  ASSERT_TRUE(call(writes));
  EXPECT_EQ(upstream->calls.size(), 1U);
  EXPECT_EQ(records().back().tier, Tier::Confirm);
}

// RU-27
TEST_F(GovernedRulesTest, ACommandToolThatThePolicyNamesKeepsItsClass) {
  in_force(
      "autonomy: {tier: shadow}\ntools: [{tool: Bash, tier: confirm, class: process.exec}]\nrules: "
      "[]\n");
  ASSERT_TRUE(call(claude("Bash", {{"command", "cat a"}})));
  EXPECT_EQ(upstream->calls.size(), 0U);
  EXPECT_EQ(records().back().effect_class, "process.exec");
}

}  // namespace
}  // namespace sallyport::policy
