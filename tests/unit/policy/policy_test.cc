#include "policy/policy.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/test_clock.h"

namespace sallyport::policy {
namespace {

Error error_of(const std::string& text) {
  const Result<Policy> policy = read_policy(text, "policy.yaml");
  EXPECT_FALSE(policy) << text;
  return policy ? Error{} : policy.error();
}

std::shared_ptr<const core::Plan> plan_of(const std::string& text) {
  const Result<Policy> policy = read_policy(text, "policy.yaml");
  EXPECT_TRUE(policy) << policy.error().where << ": " << policy.error().message;
  static const SystemClock clock;
  static SystemEntropy entropy;
  core::PlanBuilder builder;
  EXPECT_TRUE(
      add_to_plan(builder, *policy, *compile_guardrails(*policy, 1), {clock, entropy, "key"}));
  return *builder.build();
}

constexpr const char* kWhole = R"(
version: 1
name: docs-team
about: what the people who write documents need
durability: strict
redaction_notice: true
tools:
  - {server: fs, tool: read_file, tier: observe, class: none, title: Read}
  - {tool: write_file, class: fs.write}
guardrails:
  mode: active
  checks:
    - type: regex
      stage: tool_output
      id: aws
      on_fail: redact
      patterns: ["AKIA[A-Z0-9]{16}"]
    - {type: tool_pattern, stage: tool_use, tools: ["bash*"]}
results:
  - hook: output-sanitizer
    on_error: deny
  - hook: size-limiter
autonomy: {tier: act_auto, deadline_s: 3600}
limits: {call_ms: 1500, stream_ms: 2000, stream_bytes: 4096, stream_chunks: 7}
)";

TEST(PolicyTest, EveryKeyIsReadAndEndsInThePlan) {
  const Result<Policy> policy = read_policy(kWhole, "policy.yaml");
  ASSERT_TRUE(policy) << policy.error().where << ": " << policy.error().message;
  EXPECT_EQ(policy->name, "docs-team");
  EXPECT_EQ(policy->tools.size(), 2u);
  const auto plan = plan_of(kWhole);
  EXPECT_EQ(plan->durability(), core::IntentDurability::Strict);
  EXPECT_TRUE(plan->redaction_notice());
  EXPECT_EQ(plan->classify({.server = "fs", .tool = "read_file"}).tier, Tier::Observe);
  EXPECT_EQ(plan->classify({.server = "fs", .tool = "read_file"}).display_name, "Read");
  EXPECT_EQ(plan->classify({.server = "x", .tool = "read_file"}).tier, Tier::Confirm);
  EXPECT_EQ(plan->classify({.server = "x", .tool = "write_file"}).effect_class, "fs.write");
  EXPECT_EQ(plan->autonomy_rules()->dump().at("tier"), json::value("act_auto"));
  EXPECT_EQ(plan->approval_time(), std::chrono::hours(1));
  EXPECT_EQ(plan->time_limit(), std::chrono::milliseconds(1500));
  EXPECT_EQ(
      plan->stream_limits(),
      (core::StreamLimits{.bytes = 4096, .chunks = 7, .time = std::chrono::milliseconds(2000)}));
  ASSERT_EQ(plan->guards().size(), 1u);
  EXPECT_EQ(plan->guards().front()->traits().name, "guardrails");
  ASSERT_EQ(plan->result_guards().size(), 3u);
  EXPECT_EQ(plan->result_guards()[0]->traits().name, "guardrails-output");
  EXPECT_EQ(plan->result_guards()[1]->traits().name, "output-sanitizer");
  EXPECT_EQ(plan->result_guards()[2]->traits().name, "size-limiter");
}

// GR-69 (partly)
TEST(PolicyTest, ChecksOfTheGalleryAreTakenByName) {
  const auto policy = read_policy(
      "version: 1\nguardrails:\n  gallery: [dangerous-shell]\n  checks:\n"
      "    - {type: blocklist, stage: input, id: own, words: [x]}\n",
      "policy.yaml");
  ASSERT_TRUE(policy) << policy.error().message;
  ASSERT_GT(policy->guardrails->checks.size(), 5u);
  EXPECT_EQ(policy->guardrails->checks.front().id, "own");
  EXPECT_EQ(policy->guardrails->checks[1].id, "shell-remove-root");
  const auto alone = read_policy("version: 1\nguardrails: {gallery: [secrets]}\n", "policy.yaml");
  ASSERT_TRUE(alone) << alone.error().message;
  EXPECT_FALSE(alone->guardrails->checks.empty());
  const Error unknown = error_of("version: 1\nguardrails: {gallery: [nothing]}\n");
  EXPECT_EQ(unknown.where, "policy.yaml:2:24");
  EXPECT_FALSE(read_policy("version: 1\nguardrails: {gallery: [pii, pii]}\n", "policy.yaml"));
}

// An empty or absent section adds no guard: GR-1 GR-43 (partly)
TEST(PolicyTest, WithoutChecksNoGuardIsAdded) {
  for (const char* const text :
       {"version: 1", "version: 1\nguardrails:", "{version: 1, guardrails: {}}",
        "{\"version\": 1, \"guardrails\": {\"checks\": []}}"}) {
    const auto plan = plan_of(text);
    EXPECT_TRUE(plan->guards().empty()) << text;
    EXPECT_TRUE(plan->result_guards().empty()) << text;
  }
}

TEST(PolicyTest, AnUnknownKeyIsNamedWithItsPlaceAndWhatWasProbablyMeant) {
  const Error error = error_of("version: 1\ntools:\n  - {tol: x}\n");
  EXPECT_EQ(error.message, "unknown key `tol`, did you mean `tool`");
  EXPECT_EQ(error.where, "policy.yaml:3:6");
}

// GR-5 GR-6 (partly): the same errors, with the place in the file
TEST(PolicyTest, AnErrorOfTheGuardrailsHasItsLineAndColumn) {
  const Error unknown = error_of(
      "version: 1\nguardrails:\n  checks:\n    - type: regex\n      stage: output\n"
      "      patterns: [a]\n      pattern: b\n");
  EXPECT_EQ(unknown.where, "policy.yaml:7:7");
  EXPECT_EQ(unknown.cause, "unknown_key");
  const Error pattern = error_of(
      "version: 1\nguardrails:\n  checks:\n    - type: regex\n      stage: output\n"
      "      patterns: [fine, '(?=x)y']\n");
  EXPECT_EQ(pattern.where, "policy.yaml:6:24");
  EXPECT_EQ(pattern.cause, "invalid_regex");
  const Error stage =
      error_of("version: 1\nguardrails: {checks: [{type: regex, stage: outptu, patterns: [a]}]}\n");
  EXPECT_EQ(stage.where, "policy.yaml:2:44");
  EXPECT_EQ(stage.cause, "shape");
}

// PI-68 PI-72 PI-89
TEST(PolicyTest, ContradictionsAreRefusedAtLoadWithTheirPlace) {
  const Error order =
      error_of("version: 1\nresults:\n  - {hook: size-limiter}\n  - {hook: output-sanitizer}\n");
  EXPECT_EQ(order.where, "policy.yaml:4:6");
  const Error twice =
      error_of("version: 1\nresults:\n  - {hook: query-result}\n  - {hook: query-result}\n");
  EXPECT_EQ(twice.message, "duplicate guard `query-result`");
  const Error detector = error_of(
      "version: 1\nresults:\n  - hook: output-sanitizer\n    settings: {detectors: {nonsense: "
      "mask}}\n");
  EXPECT_TRUE(detector.where.starts_with("policy.yaml:4:")) << detector.where;
  EXPECT_EQ(detector.message, "`detectors.nonsense` is not a detector");
  EXPECT_EQ(error_of("version: 1\ntools: [{tool: a}, {tool: a}]").message, "duplicate tool `a`");
}

TEST(PolicyTest, WhatIsNoPolicyIsRefused) {
  EXPECT_EQ(error_of("").message, "a policy begins with `version: 1`");
  EXPECT_EQ(error_of("name: x").message, "`version` is missing");
  EXPECT_EQ(error_of("version: 2").where, "policy.yaml:1:10");
  EXPECT_EQ(error_of("version: 1\nname: a\nname: b").where.substr(0, 13), "policy.yaml:3");
  EXPECT_EQ(
      error_of("version: 1\ndurability: Strict").message,
      "`durability` must be one of strict, effect, relaxed, not `Strict`, did you mean `strict`");
  EXPECT_EQ(load_policy("/does/not/exist.yaml").error().code, ErrorCode::NotFound);
}

TEST(PolicyTest, TheHashFollowsWhatDecidesAndNothingElse) {
  const std::string base =
      "version: 1\nguardrails: {checks: [{type: blocklist, stage: tool_use, words: [a]}]}";
  EXPECT_EQ(plan_of(base)->hash(), plan_of("# why\n" + base)->hash());
  EXPECT_NE(plan_of(base)->hash(), plan_of(base + "\ndurability: strict")->hash());
  EXPECT_NE(
      plan_of(base)->hash(),
      plan_of("version: 1\nguardrails: {checks: [{type: blocklist, stage: tool_use, words: [b]}]}")
          ->hash());
}

// GR-1
TEST(PolicyTest, GuardrailsWithoutChecksAddNoGuard) {
  const std::string base = "version: 1\nautonomy: {tier: act_auto}\n";
  const auto without = plan_of(base);
  for (const char* const empty :
       {"", "guardrails: {}\n", "guardrails: {checks: []}\n", "guardrails: {mode: advisory}\n"}) {
    const auto plan = plan_of(base + empty);
    EXPECT_TRUE(plan->guards().empty()) << empty;
    EXPECT_TRUE(plan->result_guards().empty()) << empty;
    EXPECT_EQ(plan->hash(), without->hash()) << empty;
  }
  // A stage without checks has none, regardless of the others.
  const auto one =
      plan_of(base + "guardrails: {checks: [{type: blocklist, stage: tool_use, words: [a]}]}\n");
  EXPECT_EQ(one->guards().size(), 1u);
  EXPECT_TRUE(one->result_guards().empty());
}

// GR-72
TEST(PolicyTest, KeepingExcerptsIsPartOfWhatDecides) {
  const std::string base =
      "version: 1\nguardrails: {checks: [{type: blocklist, stage: tool_use, words: [a]}]}\n";
  EXPECT_EQ(plan_of(base)->hash(), plan_of(base + "keep_excerpts: false\n")->hash());
  EXPECT_NE(plan_of(base)->hash(), plan_of(base + "keep_excerpts: true\n")->hash());
  EXPECT_EQ(error_of(base + "keep_excerpts: yes please\n").where, "policy.yaml:3:16");
}

// Each key was once compared with all before it: the daemon was blocked for minutes.
TEST(PolicyTest, AFileOfManyKeysIsReadInTimeAndARepeatedOneIsStillFound) {
  std::string text = "version: 1\n";
  for (int i = 0; i < 60'000; ++i) text += "k" + std::to_string(i) + ": 1\n";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(error_of(text + "k7: 1\n").where, "policy.yaml:60002:1");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  const Error nested = error_of("version: 1\nlimits: {a: 1, a: 1}\n");
  EXPECT_EQ(nested.where + " " + nested.message, "policy.yaml:2:16 duplicate key");
}

TEST(PolicyTest, TheSchemaKnowsEveryKeyThatIsRead) {
  const json::value schema = policy_schema();
  EXPECT_EQ(schema.at("additionalProperties"), json::value(false));
  for (const char* const key : {"version", "name", "about", "durability", "redaction_notice",
                                "tools", "guardrails", "results", "autonomy", "limits"}) {
    EXPECT_TRUE(schema.at("properties").as_object().contains(key)) << key;
  }
  EXPECT_EQ(schema.at("properties").at("tools").at("items").at("required"),
            json::value(json::array{"tool"}));
}

}  // namespace
}  // namespace sallyport::policy
