// The worked examples of the rules page, one by one, through the function that decides calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <fstream>

#include "policy/policy.h"
#include "policy/shipped.h"
#include "rules/case_view.h"
#include "rules/rule_index.h"
#include "rules/rule_set.h"
#include "rules/warnings.h"
#include "unit/policy/judged_result.h"

namespace sallyport::policy {
namespace {

std::vector<json::object> examples() {
  std::ifstream in(std::filesystem::path(__FILE__).parent_path() /
                   "../../golden/rules/examples.jsonl");
  std::vector<json::object> all;
  for (std::string line; std::getline(in, line);) all.push_back(json::parse(line).as_object());
  return all;
}

std::string text_at(const json::object& object, std::string_view name) {
  const json::value* const value = object.if_contains(name);
  return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::string policy_text(const std::string& name) {
  const ShippedPolicy* const shipped = shipped_policy(name);
  return shipped ? std::string(shipped->text) : name;
}

struct Given {
  std::vector<std::string> files{};
  std::map<std::string, std::string> links{};
  std::vector<std::string> command{};
  std::optional<bool> read_only{};
  WallTime now = *from_rfc3339("2026-11-15T12:00:00Z");
};

Given given_of(const json::object& example) {
  Given given;
  const json::value* const said = example.if_contains("given");
  if (said == nullptr) return given;
  const json::object& object = said->as_object();
  if (const json::value* const list = object.if_contains("files")) {
    given.files = json::value_to<std::vector<std::string>>(*list);
  }
  if (const json::value* const links = object.if_contains("links")) {
    given.links = json::value_to<std::map<std::string, std::string>>(*links);
  }
  if (const json::value* const command = object.if_contains("command")) {
    given.command = json::value_to<std::vector<std::string>>(*command);
  }
  if (const json::value* const hints = object.if_contains("hints")) {
    given.read_only = hints->at("readOnlyHint").as_bool();
  }
  if (const std::string time = text_at(object, "time"); !time.empty()) {
    given.now = *from_rfc3339(time);
  }
  return given;
}

struct Said {
  std::string verdict{};
  json::value rule{};
  std::string text{};
  json::value result{};
  json::value result_rule{};
};

Said say(const json::object& example) {
  const Result<Policy> policy = read_policy(policy_text(text_at(example, "policy")), "policy.yaml");
  if (!policy) return {policy.error().where + ": " + policy.error().message, {}, {}};
  const json::object& asked = example.at("call").as_object();
  const Call call{.agent_id = text_at(asked, "agent"),
                  .session_id = "s-1",
                  .server = text_at(asked, "server"),
                  .tool = text_at(asked, "tool"),
                  .input = asked.at("input")};
  const Given given = given_of(example);
  const rules::CaseView files(given.files, given.links);
  const std::string cwd = text_at(asked, "cwd");
  const std::string workspace = text_at(asked, "workspace");
  const std::string front = text_at(asked, "front");
  const effects::CallFacts facts{
      .call = call,
      .front = front,
      .cwd = cwd.empty() ? std::nullopt : std::optional(cwd),
      .workspace = workspace.empty() ? std::vector<std::string>() : std::vector{workspace},
      .machine = {.home = "/home/user",
                  .data = "/home/user/.local/share/sallyport",
                  .policy = "/home/user/policy.yaml"},
      .files = &files,
      .server_command = given.command,
      .read_only_hint = given.read_only};
  const rules::Judged judged = rules::judge(policy->rules.value(), facts, given.now);
  // What the index passes over matches nothing (RU-78).
  const rules::RuleDecision indexed =
      rules::decide(*policy->rules, rules::index_of(*policy->rules),
                    rules::seen_by(*policy->rules, facts), judged.effects, given.now);
  EXPECT_EQ(indexed.matches, judged.decision.matches);
  EXPECT_EQ(indexed.verdict, judged.decision.verdict);
  Said said;
  if (const json::value* const result = example.if_contains("result")) {
    const SystemClock clock;
    const auto list = result_rules(*policy->rules, clock);
    const ResultJudged seen =
        judge_result(*list, judged, rules::seen_by(*policy->rules, facts), Envelope::of(*result));
    said.result =
        seen.verdict == Verdict::Kind::Deny ? json::value("withheld") : seen.released.value;
    if (!seen.rule.empty()) said.result_rule = seen.rule;
  }
  const auto tier = policy->autonomy.value_or(autonomy::AutonomyPolicy{})
                        .tier_for({call.agent_id, call.tool, "unknown"});
  const rules::CallOutcome outcome =
      rules::outcome_of(judged.decision, tier ? tier->tier : Autonomy::ActWithApproval, false);
  said.verdict = outcome.verdict;
  if (outcome.rule) said.rule = outcome.rule->id;
  said.text = json::serialize(rules::record_of(judged)) +
              json::serialize(rules::effects_json(judged.effects, facts));
  return said;
}

// RU-1..RU-63 (partly), RU-71..RU-75 (partly), RU-78..RU-80 (partly): the shipped policies and
// those of the page answer as written.
TEST(RulesExamples, AnswerAsWritten) {
  std::size_t seen = 0;
  for (const json::object& example : examples()) {
    SCOPED_TRACE(text_at(example, "id"));
    const Said said = say(example);
    const json::object& expect = example.at("expect").as_object();
    EXPECT_EQ(said.verdict, text_at(expect, "verdict")) << said.text;
    EXPECT_EQ(said.rule, expect.at("rule")) << said.text;
    if (const json::value* const result = expect.if_contains("result")) {
      EXPECT_EQ(said.result, *result);
      EXPECT_EQ(said.result_rule, expect.at("result_rule"));
    }
    ++seen;
  }
  EXPECT_EQ(seen, 155U);
}

// The policies of docs/rules.md load, have no warnings, and do what the page says (RU-74, RU-80).
TEST(RulesExamples, PoliciesOfTheGuideDoWhatItSays) {
  const auto folder = std::filesystem::path(__FILE__).parent_path() / "../../../examples/rules";
  for (const char* const name : {"policy.yaml", "team.yaml", "results.yaml"}) {
    const Result<Policy> policy = load_policy(folder / name);
    ASSERT_TRUE(policy) << policy.error().where << ": " << policy.error().message;
    for (const rules::Warning& warning : rules::warnings(*policy->rules, {.home = "/home/user"})) {
      ADD_FAILURE() << warning.place << ": " << warning.code << ": " << warning.text;
    }
  }
  std::ifstream in(folder / "policy.yaml");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto verdict = [&](const std::string& agent, const std::string& tool, const char* line) {
    return say({{"policy", text},
                {"call",
                 {{"front", "hook"},
                  {"agent", agent},
                  {"server", agent},
                  {"tool", tool},
                  {"input", {{"command", line}}},
                  {"cwd", "/w"},
                  {"workspace", "/w"}}}})
        .verdict;
  };
  const std::pair<const char*, const char*> kShells[] = {{"claude-code", "Bash"},
                                                         {"codex", "Bash"},
                                                         {"gemini", "run_shell_command"},
                                                         {"copilot", "bash"},
                                                         {"cursor", "Shell"}};
  for (const auto& [agent, tool] : kShells) {
    SCOPED_TRACE(agent);
    EXPECT_EQ(verdict(agent, tool, "rm -rf ../x"), "refused");
    EXPECT_EQ(verdict(agent, tool, "git push"), "asks");
    EXPECT_EQ(verdict(agent, tool, "cat a"), "runs");
  }
}

}  // namespace
}  // namespace sallyport::policy
