#include "core/record/metered_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/governed.h"

namespace sallyport::core {
namespace {

using test::FakeRecorder;
using test::run_now;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class MeteredRecorderTest : public testing::Test {
 protected:
  Result<Answer> call(std::string id = "toolu_1") {
    if (!plans) plans.emplace(*plan.build());
    if (!governor) {
      governor.emplace(
          Governor::Parts{.plans = *plans,
                          .recorder = recorder,
                          .redactor = redactor,
                          .clock = clock,
                          .entropy = entropy,
                          .digest = KeyedDigest("k"),
                          .log = [this](std::string_view line) { said.emplace_back(line); }});
    }
    Call call = test::Governed::read_file();
    call.tool_call_id = std::move(id);
    return run_now(governor->run(std::move(call), std::make_shared<test::FakeUpstream>()));
  }

  PlanBuilder plan = PlanBuilder().autonomy(Autonomy::ActAuto);
  SystemClock clock;
  FakeRecorder ledger;
  Metrics metrics;
  std::vector<std::string> said;
  MeteredRecorder recorder{ledger, metrics, clock, "mcp_http"};
  SystemEntropy entropy;
  NoRedactor redactor;
  std::optional<test::ChangingPlan> plans;
  std::optional<Governor> governor;
};

TEST_F(MeteredRecorderTest, ACallIsCountedByItsRecord) {
  plan.guard(std::make_shared<test::FunctionGuard>("paths", [](const Call&) {
    Verdict verdict = Verdict::deny("not here");
    verdict.rule = "no-tmp";
    return Result<Verdict>(verdict);
  }));
  ASSERT_TRUE(call());
  const std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("sallyport_calls_total{outcome=\"blocked\",server=\"\","
                              "agent=\"agent:a\",front=\"mcp_http\"} 1\n"));
  EXPECT_THAT(text, ContainsRegex("\\{verdict=\"deny\",rule=\"no-tmp\",tier=\"[a-z_]*\","
                                  "front=\"mcp_http\"\\} 1\n"));
  EXPECT_THAT(text, HasSubstr("sallyport_guard_runs_total{guard=\"paths\",phase=\"tool_use\","
                              "outcome=\"ran\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("sallyport_ledger_lag_records 0\n"));
}

TEST_F(MeteredRecorderTest, WhatTheLedgerRefusesIsNotCountedAsRecorded) {
  ledger.refuse_announcements = Error{ErrorCode::Unavailable, "full", {}, "no_space"};
  EXPECT_FALSE(call());
  const std::string text = metrics.text();
  EXPECT_THAT(text, Not(HasSubstr("records_total{kind=\"intent\"} 1")));
  EXPECT_THAT(text, HasSubstr("sallyport_ledger_append_seconds_count{result=\"refused\"} 1\n"));
  // Its end is owed and will be written.
  EXPECT_THAT(text, HasSubstr("sallyport_calls_total{outcome=\"persistence_failed\",server=\"\","
                              "agent=\"agent:a\",front=\"mcp_http\"} 1\n"));
}

// Two fronts of one process: counted separately for calls, and together for everything else.
TEST_F(MeteredRecorderTest, FrontsShareNumbersAndAreNotMixedUp) {
  MeteredRecorder hooks(ledger, metrics, clock, "hook");
  ASSERT_TRUE(call());
  Draft ended{.kind = Kind::ToolAudit,
              .subject = Subject{.agent_id = "claude-code", .server = "claude-code"},
              .outcome = "completed",
              .body = {{"terminal", true}}};
  std::vector<Draft> drafts;
  drafts.push_back(std::move(ended));
  ASSERT_TRUE(run_now(hooks.append(std::move(drafts), Urgency::Reports)));
  const std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("agent=\"agent:a\",front=\"mcp_http\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("agent=\"claude-code\",front=\"hook\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("sallyport_ledger_records_total{kind=\"tool_audit\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("sallyport_fail_open_seconds_total 0\n"));
}

// EV-70
TEST_F(MeteredRecorderTest, EachCallThatAFailedGuardIsLetPassForIsLoggedAndCounted) {
  plan.guard(std::make_shared<test::FunctionGuard>("broken", [](const Call&) -> Result<Verdict> {
    return fail(ErrorCode::Unavailable, "down");
  }));
  plan.fail_open("broken");
  ASSERT_TRUE(call("toolu_1"));
  ASSERT_TRUE(call("toolu_2"));
  const std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("sallyport_fail_open_total{guard=\"broken\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("outcome=\"failed\"} 2\n"));
  EXPECT_THAT(text, Not(HasSubstr("sallyport_fail_open_seconds_total 0\n")));
  const auto told = HasSubstr("guard `broken` failed (error) and the policy lets the call pass");
  EXPECT_THAT(said, ElementsAre(told, told));
}

// A call that a cached answer ended was allowed; the guards' last objection names its rule.
TEST_F(MeteredRecorderTest, AVerdictIsCountedUnderTheRuleThatObjectedLast) {
  const auto write = [&](std::string outcome, json::array guards, bool terminal = true) {
    std::vector<Draft> drafts;
    drafts.push_back({.kind = Kind::ToolAudit,
                      .subject = Subject{.agent_id = "a"},
                      .outcome = std::move(outcome),
                      .body = {{"terminal", terminal}, {"guards", std::move(guards)}}});
    ASSERT_TRUE(run_now(recorder.append(std::move(drafts), Urgency::Reports)));
  };
  const auto run = [](std::string_view verdict, std::string_view rule) {
    return json::object{{"guard", "g"}, {"verdict", verdict}, {"rule", rule}};
  };
  write("blocked", {run("deny", "first"), run("allow", "none")});
  write("completed", {run("rewrite", "second"), run("allow", "none")});
  write("requires_confirmation", {run("ask", "third")}, false);
  write("cached", {run("allow", "none")});
  write("blocked", {run("deny", "")});
  const std::string text = metrics.text();
  for (const char* const verdict :
       {"verdict=\"deny\",rule=\"first\"", "verdict=\"allow\",rule=\"second\"",
        "verdict=\"ask\",rule=\"third\"", "verdict=\"allow\",rule=\"\"",
        "verdict=\"deny\",rule=\"g\""}) {
    EXPECT_THAT(text, HasSubstr(verdict));
  }
  EXPECT_THAT(text, Not(HasSubstr("rule=\"none\"")));
}

}  // namespace
}  // namespace sallyport::core
