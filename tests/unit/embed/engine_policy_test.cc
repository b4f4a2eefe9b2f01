// A program with its own policy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>

#include "sallyport/engine.h"
#include "support/temp_folder.h"

namespace sallyport {
namespace {

constexpr const char* kPolicy = R"(
version: 1
autonomy: {tier: act_auto}
tools: [{tool: look, tier: observe, class: none}]
guardrails:
  checks:
    - {type: tool_pattern, stage: tool_use, id: no-shell, tools: ["sh*"]}
    - {type: regex, stage: tool_output, id: aws, on_fail: redact, patterns: ["AKIA[A-Z0-9]{16}"]}
)";

Tool tool(std::string name) {
  return {.name = std::move(name), .run = [](const Invocation&) -> Result<json::value> {
            return json::value("AKIAIOSFODNN7EXAMPLE is the key");
          }};
}

void expect_policy_in_force(EngineBuilder& builder) {
  auto engine = builder.tool(tool("look")).tool(tool("shell")).open();
  ASSERT_TRUE(engine) << engine.error().message;
  const Result<Answer> looked = (*engine)->call({.session_id = "s", .tool = "look"});
  ASSERT_TRUE(looked);
  EXPECT_EQ(looked->result.output, "[redacted] is the key");
  const Result<Answer> refused = (*engine)->call({.session_id = "s", .tool = "shell"});
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->outcome.text,
            "guardrail check 'no-shell' refused this call (guardrail.tool_pattern)");
}

// GR-29 GR-31
TEST(EnginePolicyTest, APolicyGivenAsTextIsInForce) {
  EngineBuilder builder("");
  builder.policy(kPolicy);
  expect_policy_in_force(builder);
}

TEST(EnginePolicyTest, APolicyGivenAsAFileIsInForce) {
  const test::TempFolder folder;
  std::ofstream(folder.path() / "policy.yaml") << kPolicy;
  EngineBuilder builder("");
  builder.policy_file(folder.path() / "policy.yaml");
  expect_policy_in_force(builder);
}

// RU-64 RU-68: a program that the policy names judges calls of the library, too, and gets the
// variables that the host provides.
TEST(EnginePolicyTest, AnExternalGuardOfThePolicyIsAsked) {
  const test::TempFolder folder;
  const std::filesystem::path program = folder / "guard.sh";
  std::ofstream(program)
      << "#!/bin/sh\necho \"{\\\"verdict\\\":\\\"deny\\\",\\\"message\\\":\\\"$WORD\\\"}\"\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  EngineBuilder builder("");
  builder
      .policy(
          "version: 1\nautonomy: {tier: act_auto}\nexternal: [{id: word, kind: guard, command: " +
          program.string() + ", env: [WORD], when: {tool: shell}, deadline_ms: 30000}]\n")
      .variable("WORD", "frozen");
  auto engine = builder.tool(tool("look")).tool(tool("shell")).open();
  ASSERT_TRUE(engine) << engine.error().message;
  const Result<Answer> refused = (*engine)->call({.session_id = "s", .tool = "shell"});
  ASSERT_TRUE(refused);
  // No record holds the value of a variable.
  EXPECT_EQ(refused->outcome.text, "[REDACTED:WORD]");
  EXPECT_TRUE((*engine)->call({.session_id = "s", .tool = "look"})->result.success);
}

// RU-35 (partly): rules know the folders that the program names and the engine's own folders.
TEST(EnginePolicyTest, RulesKnowTheHomeAndTheDataFolder) {
  const test::TempFolder data;
  const std::string policy =
      "version: 1\n"
      "autonomy: {tier: act_auto}\n"
      "rules:\n"
      "  - {id: keys, then: deny, when: {path: '~/.ssh/**'}}\n"
      "  - {id: data, then: deny, when: {path: '${data}/**'}}\n";
  const auto outcome = [](Engine& engine, const std::string& path) {
    const Result<Answer> answer = engine.call(
        {.session_id = "s", .tool = "read_file", .input = json::object{{"path", path}}});
    return answer ? answer->outcome.text : answer.error().message;
  };
  EngineBuilder builder(data.path());
  builder.policy(policy).home_folder("/home/ada").tool(tool("read_file"));
  auto engine = builder.open();
  ASSERT_TRUE(engine) << engine.error().message;
  EXPECT_THAT(outcome(**engine, "/home/ada/.ssh/id"), testing::HasSubstr("rule `keys`"));
  EXPECT_THAT(outcome(**engine, (data.path() / "x").string()), testing::HasSubstr("rule `data`"));
  EXPECT_EQ(outcome(**engine, "/srv/a"), "");
  EngineBuilder relative("");
  relative.home_folder("ada");
  EXPECT_FALSE(relative.open());
}

// The root of the specification's test vectors, valid for one hour of 2026-11-15.
constexpr const char* kToken =
    R"({"expires_at":1794704400,"id":"01966f4c-4000-7000-8000-000000000001","issued_at":1794700800,)"
    R"("issuer":"ed25519:03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8",)"
    R"("schema":"sallyport.grant.v1","scope":{"grants":[{"constraints":[{"type":"path_prefix",)"
    R"("value":"/srv/app"}],"max_invocations":10,"operations":["delegate","invoke","read_result"],)"
    R"("server":"fs","tool":"write_file"}]},"signature":)"
    R"("DWSFQJ2fy0s+TJbvlpql/w749f0sq5Ms0uoaOfJyXuYnmidlXWQZXrmrns6wLJbW9U8sP/OjiKx8sqO9MNnlCQ==",)"
    R"("subject":{"key":"ed25519:29acbae141bccaf0b22e1a94d34d0bc7361e526d0bfe12c89794bc9322966dd7",)"
    R"("principal":"agent:deploy-bot"}})";

// CG-10 (partly) CG-12 (partly) CG-14 (partly)
TEST(EnginePolicyTest, APolicyCanAskForGrantsAndACallBringsItsOwn) {
  EngineBuilder builder("");
  builder.policy(R"(
version: 1
autonomy: {tier: act_auto}
grants:
  required: [{tool: look}]
  trusted_issuers: ["ed25519:03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8"]
)");
  const auto engine = builder.tool(tool("look")).tool(tool("other")).open();
  ASSERT_TRUE(engine) << engine.error().message;
  const auto reason = [&](std::vector<std::string> grants) {
    const auto answer = (*engine)->call({.agent_id = "agent:deploy-bot",
                                         .session_id = "s",
                                         .tool = "look",
                                         .grants = std::move(grants)});
    return answer ? answer->outcome.text : answer.error().message;
  };
  EXPECT_EQ(reason({}), "grant_missing");
  EXPECT_EQ(reason({kToken, kToken}), "grant_malformed");
  EXPECT_EQ(reason({"{}"}), "grant_malformed");
  const std::string late = reason({kToken});
  EXPECT_TRUE(late == "grant_expired" || late == "grant_not_yet_valid") << late;
  EXPECT_TRUE((*engine)->call({.session_id = "s", .tool = "other"})->result.success);
}

// GR-8
TEST(EnginePolicyTest, WithAnInvalidPolicyThereIsNoEngine) {
  EngineBuilder builder("");
  const auto engine = builder.policy("version: 1\nguardrials: {}\n").tool(tool("look")).open();
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().where, "policy:2:1");
  EXPECT_FALSE(EngineBuilder("").policy_file("/does/not/exist.yaml").open());
}

}  // namespace
}  // namespace sallyport
