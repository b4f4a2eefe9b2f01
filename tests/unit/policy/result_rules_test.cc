// Rules that judge results: their conditions, their actions, and their place among the other guards
// of the second door.
#include "policy/result_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "policy/policy.h"
#include "rules/case_view.h"
#include "support/governed_ledger.h"
#include "unit/policy/judged_result.h"

namespace sallyport::policy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ResultRulesTest : public testing::Test, protected test::GovernedLedger {
 protected:
  void in_force(const std::string& sections) {
    const Result<Policy> policy =
        read_policy("version: 1\nautonomy: {tier: act_auto}\n" + sections, "policy.yaml");
    ASSERT_TRUE(policy) << policy.error().where << ": " << policy.error().message;
    const Surroundings around{.clock = clock,
                              .entropy = entropy,
                              .fingerprint_key = "key",
                              .machine = {.home = "/home/user"},
                              .files = &files_};
    ASSERT_TRUE(add_to_plan(plan, *policy, *compile_guardrails(*policy, 1), around));
    open();
  }

  Result<Answer> read(std::string path, json::value result) {
    tool_answers(
        [result](Call, std::stop_token) -> Task<Envelope> { co_return Envelope::of(result); });
    Call asked{.tool_call_id = "t-" + std::to_string(++last_),
               .agent_id = "claude-code",
               .session_id = "s-1",
               .server = "claude-code",
               .tool = "Read",
               .input = {{"file_path", std::move(path)}}};
    asked.setting = {.front = "hook", .folder = "/w", .workspace = {"/w"}};
    return call(std::move(asked));
  }

  json::object post() {
    for (const test::Seen& seen : test::all_entries(ledger.store())) {
      if (seen.entry.at("kind") != json::value("tool_audit")) continue;
      const json::object entry = *ledger->entry(seen.stored.sequence);
      const json::value* const found = entry.at("body").as_object().if_contains("post_invocation");
      if (found) last_post_ = found->as_object();
    }
    return last_post_;
  }

  rules::CaseView files_{{}, {{"/w/link", "/w/.env"}}};
  json::object last_post_;
  int last_ = 0;
};

// RU-62, RU-63, PI-42, PI-43: the tool ran, its result is withheld, and the record names the rule.
TEST_F(ResultRulesTest, AWithheldResultSaysWhichRuleAndWhatToDo) {
  in_force(
      "rules:\n"
      "  - {id: no-env, result: {any: true}, when: {path: '**/.env'}, then: withhold, "
      "message: 'Ask for the names in ${path} instead.'}\n");
  const Result<Answer> answer = read("/w/.env", "KEY=1");
  ASSERT_TRUE(answer);
  EXPECT_EQ(upstream->calls.size(), 1U);
  EXPECT_FALSE(answer->result.success);
  EXPECT_EQ(answer->result.output,
            "[result withheld by rule `no-env`] Ask for the names in /w/.env instead.");
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Completed);
  EXPECT_EQ(answer->effect, EffectState::Done);
  const json::object said = post();
  EXPECT_EQ(said.at("verdict"), json::value("block"));
  EXPECT_EQ(said.at("guard"), json::value("rule no-env"));
  EXPECT_EQ(said.at("evidence").at(0), (json::value{{"guard_name", "rule no-env"},
                                                    {"verdict", false},
                                                    {"rule", "no-env"},
                                                    {"details", "any"}}));
  const Result<Answer> other = read("/w/a", "KEY=1");
  EXPECT_EQ(other->result.output, "KEY=1");
  // The disk leads there, so the rule applies.
  EXPECT_THAT(read("/w/link", "KEY=1")->result.output, HasSubstr("withheld by rule `no-env`"));
}

// RU-62: unknown counts as a match.
TEST_F(ResultRulesTest, ARuleThatMayApplyApplies) {
  in_force("rules: [{id: env, result: {any: true}, when: {path: '**/.env'}, then: withhold}]\n");
  EXPECT_THAT(read("~somebody/x", "a")->result.output, HasSubstr("withheld by rule `env`"));
  EXPECT_EQ(read("/w/a", "a")->result.output, "a");
}

// RU-63, PI-2, PI-6, PI-12: in the order of the file, each sees the output of the one before.
TEST_F(ResultRulesTest, RulesRunInTheOrderOfTheFile) {
  in_force(
      "rules:\n"
      "  - {id: cust, result: {text: '\\bC-[0-9]{6}\\b'}, then: redact, replacement: "
      "'[customer]'}\n"
      "  - {id: tell, result: {words: [customer]}, then: escalate, message: A customer was read.}\n"
      "  - {id: seen, result: {text: 'C-[0-9]'}, then: withhold}\n"
      "  - {id: note, result: {larger_than: 5}, then: log}\n");
  const Result<Answer> answer = read("/w/a", "C-123456 wrote");
  EXPECT_EQ(answer->result.output, "[customer] wrote");
  const json::object said = post();
  EXPECT_EQ(said.at("verdict"), json::value("redact"));
  EXPECT_EQ(said.at("escalations").at(0), json::value("A customer was read."));
  EXPECT_EQ(said.at("escalation_ids").as_array().size(), 1U);
  std::vector<std::string> evidence;
  for (const json::value& one : said.at("evidence").as_array()) {
    evidence.emplace_back(one.at("rule").as_string());
  }
  EXPECT_THAT(evidence, ElementsAre("cust", "tell", "note"));
}

// RU-63: after the guardrails of `tool_output`, before `results`.
TEST_F(ResultRulesTest, RulesStandBetweenGuardrailsAndResults) {
  in_force(
      "guardrails: {checks: [{type: blocklist, stage: tool_output, id: g, on_fail: redact, words: "
      "[alpha]}]}\n"
      "rules:\n"
      "  - {id: alpha, result: {words: [alpha]}, then: withhold}\n"
      "  - {id: key, result: {detector: aws_access_key_id}, then: withhold}\n"
      "results: [{hook: output-sanitizer, settings: {categories: {secret: true}}}]\n");
  EXPECT_EQ(read("/w/a", "alpha beta")->result.output, "[redacted] beta");
  EXPECT_THAT(read("/w/b", "AKIAIOSFODNN7EXAMPLE")->result.output, HasSubstr("rule `key`"));
  std::vector<std::string> states;
  for (const json::value& hook : post().at("hooks").as_array()) {
    states.push_back(std::string(hook.at("guard").as_string()) + " " +
                     std::string(hook.at("state").as_string()));
  }
  EXPECT_THAT(states, ElementsAre("guardrails-output ran", "rule alpha ran", "rule key ran",
                                  "output-sanitizer not_reached"));
}

// RU-20, RU-62: an expired rule judges nothing, and reports that once.
TEST_F(ResultRulesTest, AnExpiredRuleJudgesNothing) {
  in_force(
      "rules: [{id: old, result: {any: true}, then: withhold, expires: 2020-01-01T00:00:00Z}]\n");
  EXPECT_EQ(read("/w/a", "x")->result.output, "x");
}

// One rule on one result, as `policy test` sees it.
struct Seen {
  std::string verdict;
  json::value released;
};
Seen look(const std::string& rule, Envelope result) {
  const Result<Policy> policy = read_policy("version: 1\nrules: [{id: r, " + rule + "}]\n", "p");
  if (!policy) return {policy.error().message, {}};
  const SystemClock clock;
  const rules::CaseView files({}, {});
  const Call call{.agent_id = "a", .session_id = "s", .server = "s", .tool = "t"};
  const effects::CallFacts facts{.call = call, .front = "mcp", .files = &files};
  const rules::Judged judged = rules::judge(*policy->rules, facts, {});
  const ResultJudged seen =
      judge_result(*result_rules(*policy->rules, clock), judged, facts, std::move(result));
  const json::value released = seen.released.kind == Envelope::Kind::Error
                                   ? json::value(seen.released.message)
                                   : seen.released.value;
  if (seen.verdict == Verdict::Kind::Deny) return {"withheld", released};
  if (!seen.escalated.empty()) return {"escalated", released};
  if (!seen.logged.empty()) return {"logged", released};
  return {seen.verdict == Verdict::Kind::Rewrite ? "redacted" : "released", released};
}

// RU-62: `text`, `words`, `detector`, `larger_than`, `error`, `any`; one of them is enough.
TEST(ResultRuleTest, EachTestHoldsForWhatItNames) {
  const auto verdict = [](const std::string& test, Envelope result) {
    return look("result: {" + test + "}, then: log", std::move(result)).verdict;
  };
  const auto text = [](const char* said) { return Envelope::of(said); };
  EXPECT_EQ(verdict("text: [x, 'a+b']", text("caab")), "logged");
  EXPECT_EQ(verdict("text: 'a+b'", text("ccb")), "released");
  EXPECT_EQ(verdict("words: [Secret]", text("a SECRET b")), "logged");
  EXPECT_EQ(verdict("detector: email", text("ada@example.com")), "logged");
  EXPECT_EQ(verdict("detector: pii", text("ada@example.com")), "logged");
  EXPECT_EQ(verdict("detector: us_ssn", text("ada@example.com")), "released");
  EXPECT_EQ(verdict("larger_than: 3", text("abcd")), "logged");
  EXPECT_EQ(verdict("larger_than: 4", text("abcd")), "released");
  EXPECT_EQ(verdict("error: true", Envelope::error("no")), "logged");
  EXPECT_EQ(verdict("error: true", text("no")), "released");
  EXPECT_EQ(verdict("error: false", text("no")), "logged");
  EXPECT_EQ(verdict("error: true", Envelope::of({{"content", json::array()}, {"isError", true}})),
            "logged");
  EXPECT_EQ(verdict("any: true", text("")), "logged");
  EXPECT_EQ(verdict("words: [zzz], larger_than: 1", text("abcd")), "logged");
  EXPECT_EQ(verdict("text: 'a{3}'", Envelope::error("aaa")), "logged");
}

// RU-62: `replacement`, also an empty one; a match that cannot be removed alone removes the whole.
TEST(ResultRuleTest, RedactionWritesTheReplacement) {
  const auto redacted = [](const std::string& rule, json::value result) {
    return look(rule + ", then: redact", Envelope::of(std::move(result))).released;
  };
  EXPECT_EQ(redacted("result: {text: 'C-[0-9]+'}, replacement: '[c]'", "a C-12 b"),
            json::value("a [c] b"));
  EXPECT_EQ(redacted("result: {text: 'C-[0-9]+'}, replacement: ''", "a C-12 b"),
            json::value("a  b"));
  EXPECT_EQ(redacted("result: {words: [bo]}", "bo"), json::value("[redacted]"));
  EXPECT_EQ(redacted("result: {detector: email}, replacement: '[mail]'", "to ada@example.com"),
            json::value("to [mail]"));
  EXPECT_EQ(redacted("result: {any: true}, replacement: '[gone]'", "abc"), json::value("[gone]"));
  EXPECT_EQ(redacted("result: {text: 'C-[0-9]+'}, replacement: '[c]'",
                     {{"content", json::array{{{"type", "text"}, {"text", "C-1"}}}}}),
            (json::value{{"content", json::array{{{"type", "text"}, {"text", "[c]"}}}}}));
}

// The official client throws if a tool with an output schema gives neither structured content nor
// an error.
TEST(ResultRuleTest, AReplacedResultWithoutItsStructureIsAnError) {
  const json::value whole =
      look("result: {any: true}, then: redact",
           Envelope::of({{"content", json::array{}}, {"structuredContent", {{"a", 1}}}}))
          .released;
  EXPECT_FALSE(whole.as_object().contains("structuredContent"));
  EXPECT_EQ(whole.at("isError"), json::value(true));
}

// RU-62: `at` selects parts of the result: of the value, of structured content, of text that is
// JSON.
TEST(ResultRuleTest, SelectorsNameThePartsThatCount) {
  const std::string rule = "result: {any: true, at: /card}, then: redact, replacement: '[card]'";
  EXPECT_EQ(look(rule, Envelope::of({{"card", "1"}, {"name", "a"}})).released,
            (json::value{{"card", "[card]"}, {"name", "a"}}));
  EXPECT_EQ(look(rule, Envelope::of({{"name", "a"}})).verdict, "released");
  const json::value mcp{
      {"content", json::array{{{"type", "text"}, {"text", R"({"card":"1","name":"a"})"}}}},
      {"structuredContent", {{"card", "1"}, {"name", "a"}}}};
  const json::value shown = look(rule, Envelope::of(mcp)).released;
  EXPECT_EQ(shown.at("structuredContent"), (json::value{{"card", "[card]"}, {"name", "a"}}));
  EXPECT_EQ(shown.at("content").at(0).at("text"), json::value(R"({"card":"[card]","name":"a"})"));
  EXPECT_EQ(look("result: {text: x, at: '/rows/*/b'}, then: withhold",
                 Envelope::of({{"rows", json::array{{{"a", "x"}}, {{"b", "x"}}}}}))
                .verdict,
            "withheld");
  EXPECT_EQ(look("result: {text: x, at: '/rows/*/b'}, then: withhold",
                 Envelope::of({{"rows", json::array{{{"a", "x"}}}}}))
                .verdict,
            "released");
}

// PI-21, RU-62: without a call, a rule that names calls withholds.
TEST(ResultRuleTest, ARuleThatNamesCallsNeedsOne) {
  const Result<Policy> policy = read_policy(
      "version: 1\nrules:\n  - {id: a, result: {words: [x]}, when: {server: crm}, then: log}\n"
      "  - {id: b, result: {words: [x]}, then: withhold}\n",
      "p");
  ASSERT_TRUE(policy);
  const SystemClock clock;
  const ResultRuleList list = *result_rules(*policy->rules, clock);
  const auto judged = [&](std::size_t at, const char* text) {
    return *test::run_now(list[at]->judge(Envelope::of(text), ResultContext{.tool = "t"}));
  };
  EXPECT_EQ(judged(0, "y").kind, Verdict::Kind::Deny);
  EXPECT_THAT(judged(0, "y").reason, HasSubstr("`call`"));
  EXPECT_EQ(judged(1, "y").kind, Verdict::Kind::Allow);
  EXPECT_EQ(judged(1, "x").kind, Verdict::Kind::Deny);
}

}  // namespace
}  // namespace sallyport::policy
