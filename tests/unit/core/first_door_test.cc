// The effect of tier, autonomy and guards on a call before it may run, and its record.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/try.h"
#include "core/decision/session_workspace.h"
#include "support/governed.h"

namespace sallyport::core {
namespace {

using test::FunctionApprover;
using test::FunctionGuard;
using test::Governed;
using test::text_at;

Result<Answer> plain(Governed& governed) {
  return governed.call(Governed::read_file());
}

class CautiousTool final : public Upstream {
 public:
  Task<Envelope> invoke(Call, std::shared_ptr<Delivery>, std::stop_token) override {
    ++calls;
    co_return Envelope::of("done");
  }
  bool raises_caution() const override { return true; }
  int calls = 0;
};

// AT-25 AT-26 (partly)
TEST(FirstDoorTest, ADefinitionThatAsksForCautionMakesALookACallToConfirm) {
  for (const Tier tier : {Tier::Observe, Tier::Confirm}) {
    for (const std::string effect : {"none", "fs.write"}) {
      Governed governed;
      governed.plan.autonomy(Autonomy::Shadow).tool("", "read_file", {tier, effect});
      const auto tool = std::make_shared<CautiousTool>();
      governed.tool = tool;
      ASSERT_TRUE(plain(governed));
      const Draft record = governed.recorder.records().front();
      EXPECT_EQ(text_at(record, "/tier"), "Confirm");
      EXPECT_EQ(text_at(record, "/effect_class"), effect == "none" ? "unknown" : effect);
      EXPECT_EQ(tool->calls, 0) << "a tool that only looks would have run";
      EXPECT_EQ(text_at(record, "/class_source") == "hint", tier == Tier::Observe);
    }
  }
}

// AU-39
TEST(FirstDoorTest, TierAndAutonomyDecideByTheTable) {
  using enum Autonomy;
  for (const Tier tier : {Tier::Observe, Tier::Confirm}) {
    for (const Autonomy autonomy : {Shadow, Suggest, ActWithApproval, ActAuto}) {
      SCOPED_TRACE(std::string(to_string(tier)) + " " + std::string(to_string(autonomy)));
      Governed governed;
      governed.plan.autonomy(autonomy).tool("", "read_file", {tier, "none"});
      bool approver_asked = false;
      governed.approver = std::make_shared<FunctionApprover>([&](const Question&) {
        approver_asked = true;
        return Reply::approve("user:ada");
      });
      const Result<Answer> answer = plain(governed);
      ASSERT_TRUE(answer);
      const Draft first = governed.recorder.records().front();
      EXPECT_EQ(text_at(first, "/autonomy"), to_string(autonomy));
      EXPECT_EQ(text_at(first, "/tier"), to_string(tier));
      const bool free = tier == Tier::Observe || autonomy == ActAuto;
      const bool held = !free && autonomy == ActWithApproval;
      EXPECT_EQ(approver_asked, held);
      EXPECT_EQ(governed.upstream->calls.size(), free || held ? 1u : 0u);
      EXPECT_EQ(first.outcome, free                 ? "completed"
                               : autonomy == Shadow ? "blocked"
                                                    : "requires_confirmation");
      if (!free && autonomy == Shadow) EXPECT_TRUE(answer->outcome.text.starts_with("shadow:"));
      if (!free && autonomy == Suggest) {
        EXPECT_EQ(answer->outcome.kind, Outcome::Kind::RequiresConfirmation);
        EXPECT_FALSE(answer->approval_id.empty());
      }
    }
  }
}

// AU-39
TEST(FirstDoorTest, WithoutANamedAutonomyAPersonIsAsked) {
  const auto plan = *PlanBuilder().build();
  EXPECT_EQ(plan->autonomy(), Autonomy::ActWithApproval);
}

// AU-40 (partly) AU-41
TEST(FirstDoorTest, AGuardTurnsAllowIntoAskOrBlockAndNeverBlockIntoAllow) {
  struct Case {
    Autonomy autonomy;
    std::vector<Verdict> verdicts;
    std::string outcome;
  };
  const Case cases[] = {
      {Autonomy::ActAuto, {Verdict::ask("sure?")}, "requires_confirmation"},
      {Autonomy::ActAuto, {Verdict::deny("no"), Verdict::allow()}, "blocked"},
      {Autonomy::ActAuto, {Verdict::ask("sure?"), Verdict::deny("no")}, "blocked"},
      {Autonomy::ActAuto, {Verdict::ask("sure?"), Verdict::allow()}, "requires_confirmation"},
      {Autonomy::ActAuto, {Verdict::escalate("look"), Verdict::allow()}, "completed"},
      {Autonomy::Shadow, {Verdict::allow(), Verdict::rewrite({{"path", "/a"}})}, "blocked"},
      {Autonomy::ActWithApproval, {Verdict::allow()}, "requires_confirmation"},
  };
  for (const Case& each : cases) {
    Governed governed;
    governed.plan.autonomy(each.autonomy);
    int n = 0;
    for (const Verdict& verdict : each.verdicts) {
      governed.plan.guard(std::make_shared<FunctionGuard>("g" + std::to_string(++n),
                                                          [=](const Call&) { return verdict; }));
    }
    ASSERT_TRUE(governed.call(Governed::read_file(), Caller{.holds = false}));
    EXPECT_EQ(governed.recorder.records().back().outcome, each.outcome)
        << to_string(each.autonomy) << " case with " << each.verdicts.size();
  }
}

// Asks for two facts that always change together, and each time for one that it has not asked for
// before. While it reads, another writer may change them.
class TwinFacts final : public Guard {
 public:
  TwinFacts(test::FakeRecorder& ledger, int changes) : ledger_(ledger), changes_(changes) {
    traits_.name = "twins";
  }
  const GuardTraits& traits() const override { return traits_; }
  Task<Verdict> judge(const Call&, const GuardContext& context) const override {
    const std::string other = std::to_string(looks++);
    const auto first = context.facts->fact("twins", "a");
    if (changes_-- > 0) {
      const std::string value = std::to_string(changes_);
      Draft draft{.kind = Kind::Topic, .topic = "twins"};
      draft.facts = {{"twins", "a", value}, {"twins", "b", value}};
      std::vector<Draft> drafts{std::move(draft)};
      SALLYPORT_CO_CHECK_OK(co_await ledger_.append(std::move(drafts), Urgency::Reports));
    }
    (void)context.facts->fact("twins", other);
    const auto second = context.facts->fact("twins", "b");
    if (*first != *second) co_return Verdict::deny("the facts are of two moments");
    co_return Verdict::allow();
  }
  mutable int looks = 0;

 private:
  test::FakeRecorder& ledger_;
  mutable int changes_;
  GuardTraits traits_;
};

// A decision once used facts of two moments if another process wrote in between. WB-8
TEST(FirstDoorTest, ADecisionIsMadeOfFactsOfOneMoment) {
  Governed governed;
  const auto twins = std::make_shared<TwinFacts>(governed.recorder, 2);
  governed.plan.guard(twins);
  const Result<Answer> answer = plain(governed);
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->result.success) << answer->result.output;
  EXPECT_EQ(twins->looks, 3);
  const Draft record = governed.recorder.records().back();
  EXPECT_EQ(text_at(record, "/as_of"), "2");  // after both changes
  EXPECT_EQ(record.body.at("guards").as_array().size(), 1U);
  EXPECT_EQ(std::ranges::count(governed.recorder.events(), "tool_authorization_finished(allow)"),
            1);
}

// WB-8
TEST(FirstDoorTest, WhatChangesForEverIsNotDecided) {
  Governed governed;
  const auto twins = std::make_shared<TwinFacts>(governed.recorder, 1'000);
  governed.plan.guard(twins);
  const Result<Answer> answer = plain(governed);
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->result.success);
  EXPECT_LT(twins->looks, 20);
  EXPECT_TRUE(governed.upstream->calls.empty());
  EXPECT_EQ(governed.recorder.records().back().outcome, "blocked");
}

class AskingRules final : public CallRules {
 public:
  RuleAnswer judge(const RuleQuestion&) const override {
    RuleAnswer answer;
    answer.verdict = RuleAnswer::Verdict::Asks;
    answer.all_free = false;
    return answer;
  }
  json::object dump() const override { return {{"rules", "ask"}}; }
};

// At each check of the call the workspace of its session has changed since the check began.
class RestlessWorkspace final : public Upstream {
 public:
  explicit RestlessWorkspace(test::FakeRecorder& ledger) : ledger_(ledger) {}
  Result<json::value> structured_input(const Call& call) const override {
    Draft draft{.kind = Kind::Topic, .topic = "workspace"};
    draft.facts = {{std::string(kWorkspaceSpace), workspace_key(call),
                    canonical_json(json::array{"/w" + std::to_string(++changes_)})}};
    std::vector<Draft> drafts{std::move(draft)};
    EXPECT_TRUE(test::run_now(ledger_.append(std::move(drafts), Urgency::Reports)));
    return call.input;
  }
  Task<Envelope> invoke(Call, std::shared_ptr<Delivery>, std::stop_token) override {
    ++calls;
    co_return Envelope::of({{"answer", 42}});
  }
  int calls = 0;

 private:
  test::FakeRecorder& ledger_;
  mutable int changes_ = 0;
};

// A refused call was once decided again if facts changed at that moment. WB-8
TEST(FirstDoorTest, ANoOfAPersonStaysWhateverChangesMeanwhile) {
  Governed governed;
  governed.plan.autonomy(Autonomy::ActWithApproval).rules(std::make_shared<AskingRules>());
  const auto tool = std::make_shared<RestlessWorkspace>(governed.recorder);
  governed.tool = tool;
  int asked = 0;
  governed.approver = std::make_shared<test::FunctionApprover>([&](const Question&) {
    EXPECT_TRUE(tool->structured_input(Governed::read_file()));  // and while the approver is asked
    return ++asked == 1 ? Reply::deny("user:ada", "no") : Reply::approve("user:ada");
  });
  Call call = Governed::read_file();
  call.setting.folder = "/w";
  const Result<Answer> answer = governed.call(std::move(call));
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->result.success);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(tool->calls, 0);
}

// AU-42
TEST(FirstDoorTest, TheQuestionNamesTheToolForPeopleAndTheRefusalItsReason) {
  Governed governed;
  governed.plan.autonomy(Autonomy::ActWithApproval)
      .tool("", "read_file", {Tier::Confirm, "read", "Read a file"});
  const Result<Answer> asked = governed.call(Governed::read_file(), Caller{.holds = false});
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->outcome.text, "Confirm Read a file?");
  EXPECT_EQ(text_at(governed.recorder.records().back(), "/outcome/description"),
            "Confirm Read a file?");
  EXPECT_EQ(text_at(governed.recorder.records().back(), "/display_name"), "Read a file");
  Governed refused;
  refused.plan.guard(
      std::make_shared<FunctionGuard>("g", [](const Call&) { return Verdict::deny("outside"); }));
  EXPECT_EQ(plain(refused)->result.output, "Blocked: outside");
  EXPECT_FALSE(plain(refused)->result.success);
  for (const auto& [autonomy, status] :
       {std::pair(Autonomy::Shadow, "skipped"), std::pair(Autonomy::Suggest, "proposed")}) {
    Governed not_run;
    not_run.plan.autonomy(autonomy);
    const Result<Answer> told = plain(not_run);
    ASSERT_TRUE(told);
    EXPECT_TRUE(told->result.success);
    EXPECT_EQ(told->result.data.at("sallyport").at("status"), status);
    EXPECT_TRUE(told->result.output.starts_with(status)) << told->result.output;
  }
}

}  // namespace
}  // namespace sallyport::core
