// The permitted answers of an external program, and their effect.
#include "external/wire.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "core/event/hook_registry.h"

namespace sallyport::external {
namespace {

Result<Verdict> said(Kind kind, std::string_view text) {
  const Result<json::object> answer = answer_from(text);
  if (!answer) return std::unexpected(answer.error());
  return call_verdict(kind, *answer);
}

// RU-65
TEST(ExternalWireTest, EachShapeIsItsVerdict) {
  EXPECT_EQ(said(Kind::Guard, R"({"verdict":"allow"})"), Verdict::allow());
  EXPECT_EQ(said(Kind::Guard, R"({"verdict":"deny","message":"no"})"), Verdict::deny("no"));
  EXPECT_EQ(said(Kind::Guard, R"({"verdict":"ask","message":"ok?","rule":"r"})"),
            Verdict::ask("ok?", "r"));
  EXPECT_EQ(said(Kind::Guard, R"({"verdict":"escalate","message":"see"})"),
            Verdict::escalate("see"));
  EXPECT_EQ(said(Kind::Rewriter, R"({"verdict":"rewrite","input":{"a":1}})"),
            Verdict::rewrite({{"a", 1}}));
}

// RU-66
TEST(ExternalWireTest, WhatIsNoShapeIsAFailure) {
  for (const std::string_view text :
       {"", "null", "[]", "{}", R"({"verdict":null})", R"({"verdict":"Allow"})",
        R"({"verdict":"allow"}{"verdict":"allow"})", R"({"verdict":"allow","verdict":"deny"})",
        R"({"verdict":"allow","id":1})", R"({"verdict":"deny"})",
        R"({"verdict":"deny","message":""})", R"({"verdict":"rewrite"})",
        R"({"verdict":"rewrite","input":{},"message":"x"})"}) {
    const Result<Verdict> verdict = said(Kind::Guard, text);
    ASSERT_FALSE(verdict) << text;
    EXPECT_EQ(verdict.error().code, ErrorCode::Corrupt) << text;
  }
  EXPECT_FALSE(answer_from(R"({"a":")" + std::string(kLargestAnswer, 'x') + "\"}"));
}

// RU-64: the rights of the corresponding function of the library.
TEST(ExternalWireTest, AKindSaysOnlyWhatItMay) {
  constexpr std::string_view kRewrite = R"({"verdict":"rewrite","input":{}})";
  constexpr std::string_view kAsk = R"({"verdict":"ask","message":"x"})";
  constexpr std::string_view kEscalate = R"({"verdict":"escalate","message":"x"})";
  EXPECT_FALSE(said(Kind::Authorizer, kRewrite));
  EXPECT_FALSE(said(Kind::Authorizer, kEscalate));
  EXPECT_TRUE(said(Kind::Authorizer, kAsk));
  EXPECT_FALSE(said(Kind::Rewriter, kAsk));
  EXPECT_FALSE(said(Kind::Rewriter, kEscalate));
}

// An unknown member of an answer about a result was passed over.
// PI-1 PI-86 (partly)
TEST(ExternalWireTest, AnAnswerAboutAResultHasExactlyItsMembers) {
  const auto about = [](std::string_view text) { return result_verdict(*answer_from(text)); };
  EXPECT_EQ(about(R"({"verdict":"allow"})"), Verdict::allow());
  EXPECT_EQ(about(R"({"verdict":"block","reason":"no"})"), Verdict::deny("no"));
  EXPECT_EQ(about(R"({"verdict":"redact","value":1})"), Verdict::rewrite(1));
  EXPECT_EQ(about(R"({"verdict":"escalate","message":"see"})"), Verdict::escalate("see"));
  for (const std::string_view text :
       {R"({"verdict":"allow","x":1})", R"({"verdict":"Block","reason":"no"})",
        R"({"verdict":"block"})", R"({"verdict":"block","reason":""})",
        R"({"verdict":"block","reason":5})", R"({"verdict":"redact"})",
        R"({"verdict":"block","reason":"no","value":1})", R"({"verdict":"deny","message":"no"})"}) {
    const Result<Verdict> verdict = about(text);
    ASSERT_FALSE(verdict) << text;
    EXPECT_EQ(verdict.error().code, ErrorCode::Corrupt) << text;
  }
}

// EV-60 RU-66
TEST(ExternalWireTest, ADenialOfAListenerIsNoFailure) {
  const auto told = [](std::string_view text) { return events_result(*answer_from(text)); };
  EXPECT_TRUE(told(R"({"verdict":"allow"})"));
  const Result<void> denied = told(R"({"verdict":"deny","message":"frozen"})");
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().cause, core::kHookRefuses);
  for (const std::string_view text :
       {R"({"verdict":"deny"})", R"({"verdict":"ask","message":"x"})"}) {
    const Result<void> failed = told(text);
    ASSERT_FALSE(failed) << text;
    EXPECT_EQ(failed.error().cause, "") << text;
  }
}

// RU-67
TEST(ExternalWireTest, AnApproverAnswersInOneNameOrLeavesItToPeople) {
  const auto reply = [](std::string_view text) { return reply_from(*answer_from(text), "bot"); };
  EXPECT_EQ((**reply(R"({"verdict":"allow"})")).by, "bot");
  EXPECT_EQ((**reply(R"({"verdict":"deny","message":"no"})")).kind, Reply::Kind::Denied);
  EXPECT_FALSE(reply(R"({"verdict":"ask","message":"people?"})")->has_value());
  EXPECT_FALSE(reply(R"({"verdict":"allow","by":"user:ada"})"));
}

}  // namespace
}  // namespace sallyport::external
