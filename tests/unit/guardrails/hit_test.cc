#include "guardrails/check/hit.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sallyport::guardrails {
namespace {

// GR-16 (partly)
TEST(HitTest, EachTypeHasItsReasonCode) {
  EXPECT_EQ(reason_code_of(CheckType::Regex), "guardrail.regex");
  EXPECT_EQ(reason_code_of(CheckType::Blocklist), "guardrail.blocklist");
  EXPECT_EQ(reason_code_of(CheckType::ToolPattern), "guardrail.tool_pattern");
}

// GR-17 (partly)
TEST(HitTest, DefaultReplacementsSayWhatHappened) {
  EXPECT_EQ(default_replacement(Stage::Input, Action::Block),
            "[This prompt was refused by a guardrail.]");
  EXPECT_EQ(default_replacement(Stage::Output, Action::Block),
            "[This answer was withheld by a guardrail.]");
  EXPECT_EQ(default_replacement(Stage::ToolUse, Action::Block),
            "[This tool call was refused by a guardrail.]");
  EXPECT_EQ(default_replacement(Stage::ToolOutput, Action::Block),
            "[This tool result was withheld by a guardrail.]");
  for (const Stage stage : {Stage::Input, Stage::Output, Stage::ToolUse, Stage::ToolOutput}) {
    EXPECT_EQ(default_replacement(stage, Action::Redact), "[redacted]");
  }
}

// GR-18 (partly)
TEST(HitTest, AHitHasAllItsMembers) {
  const Hit hit{.check_index = 2,
                .check = "aws",
                .check_id = "aws",
                .stage = Stage::ToolOutput,
                .rule_type = CheckType::Regex,
                .action = Action::Log,
                .on_fail = Action::Redact,
                .severity = Severity::High,
                .reason_code = "guardrail.regex",
                .replacement = "",
                .entry = "AKIA",
                .matched = "AKIA",
                .start = 0,
                .end = 4,
                .view = "raw",
                .path = "/key"};
  EXPECT_EQ(json::value(to_json(hit)), json::parse(R"({
      "check_index":2,"check":"aws","check_id":"aws","stage":"tool_output","rule_type":"regex",
      "action":"log","on_fail":"redact","severity":"high","reason_code":"guardrail.regex",
      "replacement":"","entry":"AKIA","matched":"AKIA","start":0,"end":4,"view":"raw",
      "path":"/key"})"));
}

// GR-18 (partly)
TEST(HitTest, WhatDoesNotApplyIsNullAndAtIsForStreams) {
  Hit hit{.check = "tool_pattern#0",
          .stage = Stage::ToolUse,
          .rule_type = CheckType::ToolPattern,
          .reason_code = "guardrail.tool_pattern",
          .entry = "bash*",
          .matched = "bash"};
  EXPECT_EQ(json::value(to_json(hit)), json::parse(R"({
      "check_index":0,"check":"tool_pattern#0","check_id":null,"stage":"tool_use",
      "rule_type":"tool_pattern","action":"block","on_fail":"block","severity":"medium",
      "reason_code":"guardrail.tool_pattern","replacement":null,"entry":"bash*","matched":"bash",
      "start":null,"end":null,"view":null,"path":null})"));
  hit.at = 9;
  EXPECT_EQ(to_json(hit).at("at"), json::value(9));
}

// GR-62 (partly)
TEST(HitTest, CoverageSaysWhyACheckDidNotRun) {
  EXPECT_EQ(json::value(to_json(Coverage{.check_index = 1, .check = "a"})),
            json::parse(R"({"check_index":1,"check":"a","status":"ran","why":null})"));
  EXPECT_EQ(json::value(to_json(Coverage{.check = "a", .skipped = "no_tool"})),
            json::parse(R"({"check_index":0,"check":"a","status":"skipped","why":"no_tool"})"));
  EXPECT_EQ(json::value(to_json(Coverage{.check = "a", .decode_truncated = true})),
            json::parse(R"({"check_index":0,"check":"a","status":"ran","why":null,
                            "decode_truncated":true})"));
}

}  // namespace
}  // namespace sallyport::guardrails
