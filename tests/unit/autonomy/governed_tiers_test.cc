// The effect of each tier on a call, on a real ledger: execution, the caller's answer, and the
// entries.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>

#include "autonomy/policy_rules.h"
#include "base/json_members.h"
#include "core/approval/approval_state.h"
#include "core/approval/attendant.h"
#include "core/approval/doors.h"
#include "support/governed.h"
#include "support/ledger_checks.h"
#include "support/test_clock.h"
#include "trust/standing.h"

namespace sallyport::autonomy {
namespace {

// Controls count as signed if the signature names the bytes.
class OnlyAda final : public core::ReviewerBook {
 public:
  Result<void> check(const std::string&, std::string_view, std::string_view) const override {
    return fail(ErrorCode::Unauthenticated, "no approver");
  }
  Result<void> check_control(const std::string& reviewer, std::string_view statement,
                             std::string_view signature) const override {
    if (reviewer == "user:ada" && signature == "signed " + std::string(statement)) return {};
    return fail(ErrorCode::Unauthenticated, "not signed by ada");
  }
  json::value dump() const override { return "ada"; }
};

// Rules that allow every call.
class AllowsAll final : public core::CallRules {
 public:
  core::RuleAnswer judge(const core::RuleQuestion&) const override {
    return {.verdict = core::RuleAnswer::Verdict::Allowed, .rule = "all"};
  }
  json::object dump() const override { return {{"allows", "all"}}; }
};

class GovernedTiersTest : public testing::Test {
 protected:
  void use(AutonomyPolicy policy, bool enforce_trust = false) {
    ledger_.clock = &clock;
    ledger_.open();
    core::PlanBuilder builder;
    builder.tool("", "write_file", {Tier::Confirm, "fs.write"});
    builder.tool("", "read_file", {Tier::Observe, "none"});
    builder.autonomy_rules(
        std::make_shared<PolicyRules>(std::move(policy), clock, entropy_, enforce_trust));
    if (rules_allow) builder.rules(std::make_shared<AllowsAll>());
    if (has_controller) builder.reviewers(std::make_shared<OnlyAda>());
    plans_.emplace(*builder.build());
    governor_.emplace(core::Governor::Parts{.plans = *plans_,
                                            .recorder = *ledger_,
                                            .redactor = none_,
                                            .clock = clock,
                                            .entropy = entropy_,
                                            .digest = ledger_->digest(),
                                            .approver = approver});
  }

  Answer call(const char* tool = "write_file", core::Caller caller = {}) {
    Call call{.agent_id = "bot", .session_id = "s", .tool = tool, .input = {{"path", "/tmp/x"}}};
    Result<Answer> answer = test::run_now(governor_->run(std::move(call), upstream, caller));
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? *answer : Answer{};
  }

  // Runs all on one loop, each as far as possible before the next.
  std::vector<Answer> at_once(int count, core::Caller caller = {}) {
    boost::asio::io_context loop;
    std::vector<Answer> answers;
    for (int n = 0; n < count; ++n) {
      Call call{.agent_id = "bot", .session_id = "s", .tool = "write_file", .input = {{"n", n}}};
      boost::asio::co_spawn(loop, governor_->run(std::move(call), upstream, caller),
                            [&](const std::exception_ptr& thrown, Result<Answer> answer) {
                              ASSERT_FALSE(thrown);
                              ASSERT_TRUE(answer) << answer.error().message;
                              answers.push_back(std::move(*answer));
                            });
    }
    loop.run();
    return answers;
  }

  // A call that does not wait is approved here and then resumed.
  Answer approved_through(std::string door) {
    const Answer asked = call("write_file", {.holds = false});
    Reply reply = Reply::approve("user:ada");
    reply.door = std::move(door);
    EXPECT_TRUE(test::run_now(governor_->approvals().answer(asked.approval_id, reply)));
    Call again{.call_id = asked.call_id,
               .tool_call_id = asked.call_id,
               .agent_id = "bot",
               .session_id = "s",
               .trace_id = "trace-1",
               .tool = "write_file",
               .input = {{"path", "/tmp/x"}}};
    core::Governor::Resumption waited{.call = again, .approval_id = asked.approval_id};
    Result<Answer> answer = test::run_now(governor_->resume(std::move(waited), upstream));
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? *answer : Answer{};
  }

  std::vector<json::object> bodies(std::string_view kind, std::string_view topic = {}) {
    std::vector<json::object> found;
    for (const test::Seen& seen : test::all_entries(ledger_.store())) {
      if (seen.entry.at("kind").as_string() != kind) continue;
      if (!topic.empty() && seen.entry.at("topic").as_string() != topic) continue;
      found.push_back(seen.body.as_object());
    }
    return found;
  }
  // Returns `tier enforcement outcome` of each trust record.
  std::vector<std::string> trust() {
    std::vector<std::string> lines;
    for (const json::object& record : bodies("trust")) {
      lines.push_back(std::string(record.at("autonomy_tier").as_string()) + " " +
                      std::string(record.at("metadata").at("autonomy.enforcement").as_string()) +
                      " " + std::string(record.at("outcome").as_string()));
    }
    return lines;
  }
  std::string last_source() {
    const std::vector<json::object> records = bodies("tool_audit");
    return records.empty() ? "" : std::string(records.back().at("autonomy_source").as_string());
  }

  // The record that `trust promote` writes, with this signature.
  void change(bool promotion, Autonomy to, std::optional<std::string> signature = {}) {
    const auto stored = ledger_->fact(trust::kStandingSpace, "bot");
    trust::ControlHistory history = *trust::ControlHistory::parse(stored->value_or(""));
    trust::ControlStatement statement{.action = promotion ? "trust.promote" : "trust.demote",
                                      .agent = "bot",
                                      .control_id = std::to_string(++controls_),
                                      .from_tier = promotion ? Autonomy::Shadow : Autonomy::ActAuto,
                                      .to_tier = to,
                                      .ledger = ledger_->origin(),
                                      .reviewer = "user:ada",
                                      .signed_at = "2026-11-15T02:01:00Z"};
    std::string good = "signed " + statement.text();
    history.add(std::move(statement), signature.value_or(good));
    core::Draft draft{.kind = core::Kind::Event, .body = {{"n", 1}}};
    draft.facts.push_back({std::string(trust::kStandingSpace), "bot", history.text()});
    ledger_.append(std::move(draft));
  }

  bool has_controller = false;
  bool rules_allow = false;
  test::TestClock clock;
  std::shared_ptr<const core::Approver> approver;
  std::shared_ptr<test::FakeUpstream> upstream = std::make_shared<test::FakeUpstream>();
  test::TestLedger ledger_;

 private:
  int controls_ = 0;
  SystemEntropy entropy_;
  core::NoRedactor none_;
  std::optional<core::FixedPlan> plans_;
  std::optional<core::Governor> governor_;
};

using Lines = std::vector<std::string>;

// AT-27 AT-29 AT-8 LG-8 TR-6
TEST_F(GovernedTiersTest, ShadowRunsNothingAndSaysSo) {
  use({.action_tiers = {{"fs.write", Autonomy::Shadow}}});
  const Answer answer = call();
  EXPECT_TRUE(upstream->calls.empty());
  EXPECT_TRUE(answer.result.success);
  EXPECT_EQ(canonical_json(answer.result.data), R"({"sallyport":{"call_id":")" + answer.call_id +
                                                    R"(","status":"skipped","tier":"shadow"}})");
  EXPECT_TRUE(answer.result.output.starts_with("skipped: `write_file` was not run"));
  EXPECT_EQ(answer.outcome.kind, Outcome::Kind::Blocked);
  EXPECT_TRUE(answer.outcome.text.starts_with("shadow:"));
  EXPECT_EQ(trust(), Lines{"shadow shadow_noop denied"});
  EXPECT_EQ(last_source(), "action_tiers");
  const std::vector<json::object> proposed = bodies("topic", "trigger.outbox");
  ASSERT_EQ(proposed.size(), 1u);
  EXPECT_EQ(proposed[0].at("kind").as_string(), "dispatch_proposed");
  const json::object& payload = proposed[0].at("payload").as_object();
  EXPECT_EQ(canonical_json(payload.at("args")), R"([{"path":"/tmp/x"}])");
  EXPECT_EQ(payload.at("call_id").as_string(), answer.call_id);
  EXPECT_FALSE(payload.contains("approval_request_id"));
  EXPECT_EQ(test::verdict(ledger_.store()), "ok");
}

// AT-27 AT-29 LG-8
TEST_F(GovernedTiersTest, SuggestProposesAndRunsNothing) {
  use({.tier = Autonomy::Suggest});
  const Answer answer = call();
  EXPECT_TRUE(upstream->calls.empty());
  EXPECT_EQ(canonical_json(answer.result.data),
            R"({"sallyport":{"approval_id":")" + answer.approval_id + R"(","call_id":")" +
                answer.call_id + R"(","status":"proposed","tier":"suggest"}})");
  EXPECT_TRUE(answer.result.success);
  EXPECT_EQ(trust(), Lines{"suggest suggest_approval_request denied"});
  const std::vector<json::object> proposed = bodies("topic", "trigger.outbox");
  ASSERT_EQ(proposed.size(), 1u);
  EXPECT_EQ(proposed[0].at("payload").at("approval_request_id").as_string(), answer.approval_id);
}

// AT-27 AP-35 (partly)
TEST_F(GovernedTiersTest, ACallThatStillWaitsSaysSo) {
  use({});
  const Answer answer = call("write_file", {.holds = false});
  const json::object& about = answer.result.data.at("sallyport").as_object();
  EXPECT_EQ(about.at("status").as_string(), "pending_approval");
  EXPECT_EQ(about.at("tier").as_string(), "act_with_approval");
  EXPECT_TRUE(about.contains("retry_after_s"));
  EXPECT_TRUE(trust().empty());
}

// AT-28 TR-7
TEST_F(GovernedTiersTest, AnApprovedCallNamesItsApprover) {
  approver = std::make_shared<test::FunctionApprover>(
      [](const Question&) { return Reply::approve("user:ada"); });
  use({});
  call();
  EXPECT_EQ(upstream->calls.size(), 1u);
  EXPECT_EQ(trust(), Lines{"act_with_approval approval_granted success"});
  const json::object record = bodies("trust").at(0);
  EXPECT_EQ(record.at("approver").as_string(), "user:ada");
  const json::object& approval = record.at("metadata").at("approval").as_object();
  EXPECT_EQ(approval.at("required"), json::value(true));
  const std::string signature(
      approval.at("signatures").as_array().at(0).at("signature").as_string());
  EXPECT_TRUE(signature.starts_with("ledger:"));
  const std::vector<test::Seen> all = test::all_entries(ledger_.store());
  const test::Seen& answered = all.at(std::stoul(signature.substr(7)));
  EXPECT_EQ(answered.entry.at("kind").as_string(), "approval");
}

// AT-28 AP-21 (partly)
TEST_F(GovernedTiersTest, ARefusedCallIsDenied) {
  approver = std::make_shared<test::FunctionApprover>(
      [](const Question&) { return Reply::deny("user:ada", "no"); });
  use({});
  call();
  EXPECT_TRUE(upstream->calls.empty());
  EXPECT_EQ(trust(), Lines{"act_with_approval approval_denied denied"});
}

// A refusal with the reason `approval_expired` was once remembered as a timeout.
// AT-28
TEST_F(GovernedTiersTest, ARefusalIsDeniedWhateverItsReasonSays) {
  approver = std::make_shared<test::FunctionApprover>(
      [](const Question&) { return Reply::deny("user:ada", "approval_expired"); });
  use({});
  call();
  EXPECT_EQ(trust(), Lines{"act_with_approval approval_denied denied"});
}

// AT-28
TEST_F(GovernedTiersTest, WhatRunsByItselfIsASuccessOrAFailureAndItsRecordComesLast) {
  use({.tier = Autonomy::ActAuto});
  call();
  upstream = std::make_shared<test::FakeUpstream>(
      [](Call, std::stop_token) -> Task<Envelope> { co_return Envelope::error("broken"); });
  call();
  EXPECT_EQ(trust(), (Lines{"act_auto auto success", "act_auto auto failure"}));
  const std::vector<test::Seen> all = test::all_entries(ledger_.store());
  EXPECT_EQ(all.back().entry.at("kind").as_string(), "trust");
  EXPECT_EQ(all.at(all.size() - 2).entry.at("kind").as_string(), "tool_audit");
}

// AT-9 AT-31
TEST_F(GovernedTiersTest, LookingIsNotTieredAndLeavesNoTrustRecord) {
  use({.tier = Autonomy::Shadow});
  call("read_file");
  EXPECT_EQ(upstream->calls.size(), 1u);
  EXPECT_TRUE(trust().empty());
  EXPECT_EQ(last_source(), "observe");
}

// AT-18 AT-19
TEST_F(GovernedTiersTest, OverItsBudgetACallIsAskedAboutAndOneEventTellsIt) {
  use({.tier = Autonomy::ActAuto, .budget = {.max_per_hour = 2}});
  for (int i = 0; i < 5; ++i) call("write_file", {.holds = false});
  EXPECT_EQ(upstream->calls.size(), 2u);
  EXPECT_EQ(last_source(), "budget");
  ASSERT_EQ(bodies("topic", "autonomy").size(), 1u);
  EXPECT_EQ(bodies("topic", "autonomy")[0].at("kind").as_string(), "autonomy.budget_exceeded");
  clock.advance(std::chrono::hours(1));
  for (int i = 0; i < 5; ++i) call("write_file", {.holds = false});
  EXPECT_EQ(upstream->calls.size(), 4u);
  EXPECT_EQ(bodies("topic", "autonomy").size(), 2u);
}

// AT-19
TEST_F(GovernedTiersTest, WhoeverLosesTheRaceForTheLastPlaceIsAskedAbout) {
  use({.tier = Autonomy::ActAuto, .budget = {.max_per_hour = 1}});
  const std::vector<Answer> answers = at_once(4, {.holds = false});
  const auto ended = [&](Outcome::Kind kind) {
    return std::ranges::count(answers, kind, [](const Answer& one) { return one.outcome.kind; });
  };
  EXPECT_EQ(ended(Outcome::Kind::Completed), 1);
  EXPECT_EQ(ended(Outcome::Kind::RequiresConfirmation), 3);
  EXPECT_EQ(upstream->calls.size(), 1u);
  EXPECT_EQ(bodies("intent").size(), 1u);
  EXPECT_EQ(bodies("topic", "autonomy").size(), 1u);
  for (const json::object& record : bodies("tool_audit")) {
    const bool asked = record.at("outcome").at("kind").as_string() == "requires_confirmation";
    EXPECT_EQ(record.at("autonomy").as_string(), asked ? "act_with_approval" : "act_auto");
    EXPECT_EQ(record.at("autonomy_source").as_string(), asked ? "budget" : "tier");
  }
}

// AT-5 AT-6 TR-18
TEST_F(GovernedTiersTest, APromotionAndADemotionHoldForTheNextCall) {
  has_controller = true;
  use({.tier = Autonomy::Suggest});
  change(true, Autonomy::ActAuto);
  call();
  EXPECT_EQ(upstream->calls.size(), 1u);
  EXPECT_EQ(last_source(), "promotion");
  change(false, Autonomy::Shadow);
  call();
  EXPECT_EQ(upstream->calls.size(), 1u);
  EXPECT_EQ(last_source(), "demotion");
}

// TR-15 TR-18: a self-made key once promoted its agent, because only the stored tier was read.
TEST_F(GovernedTiersTest, APromotionThatNoControllerOfThePlanSignedIsNone) {
  has_controller = true;
  use({.tier = Autonomy::Suggest});
  change(true, Autonomy::ActAuto, "ed25519:AAAA");
  call();
  EXPECT_TRUE(upstream->calls.empty());
  EXPECT_EQ(last_source(), "tier");
}

// TR-15
TEST_F(GovernedTiersTest, WhereAPlanNamesNobodyNobodyIsPromoted) {
  use({.tier = Autonomy::Suggest});
  change(true, Autonomy::ActAuto);
  call();
  EXPECT_TRUE(upstream->calls.empty());
  EXPECT_EQ(last_source(), "tier");
}

// TR-18
TEST_F(GovernedTiersTest, AStandingThatCannotBeReadIsShadow) {
  use({.tier = Autonomy::ActAuto});
  core::Draft draft{.kind = core::Kind::Event, .body = {{"n", 1}}};
  draft.facts.push_back({std::string(trust::kStandingSpace), "bot", "nonsense"});
  ledger_.append(std::move(draft));
  EXPECT_TRUE(call().outcome.text.starts_with("shadow:"));
  EXPECT_EQ(last_source(), "trust");
}

// TR-13
TEST_F(GovernedTiersTest, WhereTrustIsEnforcedAFailureEndsActingAlone) {
  use({.tier = Autonomy::ActAuto}, true);
  call("write_file", {.holds = false});
  upstream = std::make_shared<test::FakeUpstream>(
      [](Call, std::stop_token) -> Task<Envelope> { co_return Envelope::error("broken"); });
  call("write_file", {.holds = false});
  EXPECT_EQ(upstream->calls.size(), 1u);
  call("write_file", {.holds = false});
  EXPECT_EQ(upstream->calls.size(), 1u);
  EXPECT_EQ(last_source(), "trust");
}

// TR-13
TEST_F(GovernedTiersTest, WithoutEnforcementTheRecordLowersNothing) {
  use({.tier = Autonomy::ActAuto});
  upstream = std::make_shared<test::FakeUpstream>(
      [](Call, std::stop_token) -> Task<Envelope> { co_return Envelope::error("broken"); });
  for (int i = 0; i < 3; ++i) call("write_file", {.holds = false});
  EXPECT_EQ(upstream->calls.size(), 3u);
}

// A reader that fails for one space and has no facts in the others.
class FailingReader final : public core::RecordReader {
 public:
  FailingReader(std::string space, ErrorCode code) : space_(std::move(space)), code_(code) {}
  Result<std::optional<std::string>> fact(std::string_view space, std::string_view) override {
    if (space == space_) return fail(code_, "it does not answer");
    return std::nullopt;
  }
  Result<std::vector<core::Fact>> facts(std::string_view) override {
    return std::vector<core::Fact>();
  }
  Result<json::object> entry(std::uint64_t) override { return fail(ErrorCode::NotFound, "none"); }

 private:
  std::string space_;
  ErrorCode code_;
};

// SC-42 TR-18: an unreachable ledger refuses the call; a damaged one makes it a shadow.
TEST(PolicyRulesTest, WhatCannotBeReadNeverRaisesATier) {
  test::TestClock clock;
  SystemEntropy entropy;
  const PolicyRules rules({.tier = Autonomy::ActAuto, .budget = Budget{.max_per_hour = 5}}, clock,
                          entropy);
  const Call call{.agent_id = "bot", .tool = "write_file"};
  const Classification classification{Tier::Confirm, "fs.write"};
  const auto weighed = [&](std::string_view space, ErrorCode code) {
    FailingReader reader(std::string(space), code);
    return rules.weigh({.call = call, .classification = classification}, reader, clock.wall());
  };
  EXPECT_EQ(weighed("other", ErrorCode::Unavailable).tier, Autonomy::ActAuto);
  EXPECT_EQ(weighed("other", ErrorCode::Unavailable).refusal, "");
  const core::AutonomyAnswer away = weighed(trust::kStandingSpace, ErrorCode::Unavailable);
  EXPECT_EQ(away.tier, Autonomy::Shadow);
  EXPECT_NE(away.refusal.find("the tier is not known"), std::string::npos);
  const core::AutonomyAnswer damaged = weighed(trust::kStandingSpace, ErrorCode::Corrupt);
  EXPECT_EQ(damaged.tier, Autonomy::Shadow);
  EXPECT_EQ(damaged.refusal, "");
}

// AT-18: approvals and reads use no budget.
TEST(PolicyRulesTest, OnlyWhatRunsByItselfUnderABudgetIsCounted) {
  test::TestClock clock;
  SystemEntropy entropy;
  const auto counted = [&](Autonomy tier, Budget budget, Tier tool = Tier::Confirm) {
    const PolicyRules rules({.tier = tier, .budget = budget}, clock, entropy);
    FailingReader reader("none", ErrorCode::Unavailable);
    const Call call{.agent_id = "bot", .tool = "t"};
    const Classification classification{tool, tool == Tier::Confirm ? "fs.write" : "none"};
    return rules.weigh({.call = call, .classification = classification}, reader, clock.wall())
               .spending != nullptr;
  };
  const Budget budget{.max_per_hour = 5};
  EXPECT_TRUE(counted(Autonomy::ActAuto, budget));
  EXPECT_FALSE(counted(Autonomy::ActAuto, {}));
  EXPECT_FALSE(counted(Autonomy::ActAuto, budget, Tier::Observe));
  EXPECT_FALSE(counted(Autonomy::ActWithApproval, budget));
  EXPECT_FALSE(counted(Autonomy::Suggest, budget));
}

// AT-8 (partly)
TEST(PolicyRulesTest, TheStepOfABudgetSaysHowMuchOfItIsUsed) {
  test::TestClock clock;
  SystemEntropy entropy;
  const Call call{.agent_id = "bot", .tool = "write_file"};
  const Classification classification{Tier::Confirm, "fs.write"};
  const auto about = [&](Budget budget) {
    const PolicyRules rules({.tier = Autonomy::ActAuto, .budget = budget}, clock, entropy);
    FailingReader reader("none", ErrorCode::Unavailable);
    std::vector<core::TierStep> steps;
    (void)rules.weigh({.call = call, .classification = classification, .steps = &steps}, reader,
                      clock.wall());
    std::string text;
    for (const core::TierStep& step : steps) {
      if (step.source == "budget") text += step.about;
    }
    return text;
  };
  EXPECT_EQ(about({.max_per_hour = 5}), "0 of 5 in the last hour");
  EXPECT_EQ(about({.max_per_day = 9}), "0 of 9 in the last day");
  EXPECT_EQ(about({.max_per_hour = 5, .max_per_day = 9}),
            "0 of 5 in the last hour, 0 of 9 in the last day");
  EXPECT_EQ(about({}), "");
}

// AT-2 (partly)
TEST(PolicyJsonTest, APolicyReadsBackFromItsDump) {
  const AutonomyPolicy policy{.agent_id = "bot",
                              .autonomy_tier = Autonomy::Suggest,
                              .tier = Autonomy::Shadow,
                              .action_tiers = {{"fs.write", Autonomy::ActAuto}},
                              .agent_tiers = {{"bot", Autonomy::ActWithApproval}},
                              .agent_action_tiers = {{"bot", {{"write_file", Autonomy::ActAuto}}}},
                              .reviewers = {"user:ada", "user:bo"},
                              .requires_human = true,
                              .requires_human_actions = {"process.exec"},
                              .requires_human_agents = {"intern"},
                              .quorum = 2,
                              .deadline_s = 60,
                              .use_within_s = 30,
                              .budget = {.max_per_hour = 0, .max_per_day = 5},
                              .ceiling = Autonomy::ActAuto};
  EXPECT_EQ(autonomy_policy_from_json(to_json(policy)), policy);
  EXPECT_TRUE(to_json(AutonomyPolicy{}).empty());
}

// AT-17 (partly): a proposal that needs a human keeps another source; once nothing else showed it.
TEST_F(GovernedTiersTest, TheQuestionAboutAProposalSaysThatItNeedsAHuman) {
  use({.tier = Autonomy::Suggest, .requires_human = true});
  const Answer answer = call();
  EXPECT_EQ(last_source(), "tier");
  EXPECT_EQ(bodies("approval").at(0).at("needs_human"), json::value(true));
  EXPECT_TRUE((*core::approval_state(*ledger_, answer.approval_id))->needs_human);
}

TEST_F(GovernedTiersTest, TheQuestionAboutAnotherCallSaysNothingOfIt) {
  use({.tier = Autonomy::Suggest});
  const Answer answer = call();
  EXPECT_FALSE(bodies("approval").at(0).contains("needs_human"));
  EXPECT_FALSE((*core::approval_state(*ledger_, answer.approval_id))->needs_human);
}

// AT-17 (partly) AP-31 (partly): after a resume, a yes through the agent's client once counted.
TEST_F(GovernedTiersTest, AResumedCallThatNeedsAHumanTakesNoYesThroughTheClient) {
  use({.tier = Autonomy::ActWithApproval, .requires_human = true});
  EXPECT_TRUE(approved_through("cli:key").result.success);
  for (const std::string_view door : {core::kClientDoor, core::kAgentTerminalDoor}) {
    EXPECT_EQ(approved_through(std::string(door)).outcome,
              Outcome::blocked("approval_invalid: a person has to answer elsewhere"));
  }
  EXPECT_EQ(upstream->calls.size(), 1u);
}

// RU-7: a demotion caps a call that a rule allows.
TEST_F(GovernedTiersTest, ADemotionCountsBeforeARuleThatAllows) {
  rules_allow = true;
  has_controller = true;
  use({.tier = Autonomy::ActWithApproval});
  call();
  EXPECT_EQ(upstream->calls.size(), 1u);
  EXPECT_EQ(last_source(), "rule");
  change(false, Autonomy::Shadow);
  call();
  EXPECT_EQ(upstream->calls.size(), 1u);
  EXPECT_EQ(last_source(), "demotion");
}

// RU-7: a used-up budget caps it too, and so does a record of failures if trust is enforced.
TEST_F(GovernedTiersTest, ABudgetCountsBeforeARuleThatAllows) {
  rules_allow = true;
  use({.tier = Autonomy::ActWithApproval, .budget = {.max_per_hour = 2}});
  for (int i = 0; i < 3; ++i) call("write_file", {.holds = false});
  EXPECT_EQ(upstream->calls.size(), 2u);
  EXPECT_EQ(last_source(), "budget");
}

// RU-7
TEST_F(GovernedTiersTest, TrustCountsBeforeARuleThatAllows) {
  rules_allow = true;
  use({.tier = Autonomy::ActAuto}, true);
  call("write_file", {.holds = false});
  EXPECT_EQ(last_source(), "rule");
  upstream = std::make_shared<test::FakeUpstream>(
      [](Call, std::stop_token) -> Task<Envelope> { co_return Envelope::error("broken"); });
  call("write_file", {.holds = false});
  EXPECT_EQ(upstream->calls.size(), 1u);
  call("write_file", {.holds = false});
  EXPECT_EQ(upstream->calls.size(), 1u);
  EXPECT_EQ(last_source(), "trust");
}

}  // namespace
}  // namespace sallyport::autonomy
