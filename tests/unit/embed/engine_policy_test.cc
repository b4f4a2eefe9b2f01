// A program that brings a policy of its own.
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
