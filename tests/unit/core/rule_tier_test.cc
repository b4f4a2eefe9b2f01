// The effect of rules on the tier of a call, if the policy has no further rules of autonomy.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/governed.h"

namespace sallyport::core {
namespace {

using test::Governed;
using test::text_at;

class FixedRules final : public CallRules {
 public:
  explicit FixedRules(RuleAnswer answer) : answer_(std::move(answer)) {}
  RuleAnswer judge(const RuleQuestion&) const override { return answer_; }
  json::object dump() const override { return {{"rules", "fixed"}}; }

 private:
  RuleAnswer answer_;
};

Rehearsal rehearsed(Governed& governed) {
  return test::run_now(governed.governor().rehearse(Governed::read_file(), governed.upstream))
      .value();
}

std::string tier_under(RuleAnswer::Verdict verdict, Autonomy autonomy) {
  Governed governed;
  governed.plan.autonomy(autonomy).rules(
      std::make_shared<FixedRules>(RuleAnswer{.verdict = verdict, .rule = "r"}));
  const Rehearsal seen = rehearsed(governed);
  std::string text = std::string(to_string(seen.tier)) + " by " + seen.tier_source;
  for (const TierStep& step : seen.tier_steps) text += " <- " + step.source;
  return text;
}

// RU-7
TEST(RuleTierTest, ARuleLiftsACallThatMayRunAndCapsOneThatWouldRunAlone) {
  using enum RuleAnswer::Verdict;
  EXPECT_EQ(tier_under(Allowed, Autonomy::ActWithApproval), "act_auto by rule <- plan <- rule");
  EXPECT_EQ(tier_under(Allowed, Autonomy::Suggest), "suggest by plan <- plan");
  EXPECT_EQ(tier_under(Asks, Autonomy::ActAuto), "act_with_approval by rule <- plan <- rule");
  EXPECT_EQ(tier_under(Asks, Autonomy::Suggest), "suggest by plan <- plan");
  EXPECT_EQ(tier_under(Open, Autonomy::ActAuto), "act_auto by plan <- plan");
}

// A scope of the policy that narrows the approval.
class NarrowScope final : public AutonomyRules {
 public:
  AutonomyAnswer weigh(const AutonomyQuestion&, RecordReader&, WallTime) const override {
    return {.tier = Autonomy::ActWithApproval,
            .source = "scope",
            .bounds = ApprovalBounds{.use_within = std::chrono::seconds(20)}};
  }
  bool may_ask() const override { return true; }
  Draft remember(const Remembered&, WallTime) const override { return {.kind = Kind::Trust}; }
  json::object dump() const override { return {{"scope", "narrow"}}; }
};

// A rehearsal once reported the plan's time limit, which rules and scopes shorten.
TEST(RuleTierTest, ARehearsalTellsHowLongAYesIsValidUnderRulesAndScopes) {
  Governed governed;
  governed.plan.autonomy(Autonomy::ActWithApproval);
  EXPECT_EQ(rehearsed(governed).use_within, std::chrono::seconds(600));
  const PlanBuilder ruled = governed.plan.rules(std::make_shared<FixedRules>(RuleAnswer{
      .verdict = RuleAnswer::Verdict::Asks, .rule = "r", .use_within = std::chrono::seconds(30)}));
  governed.change_plan(ruled);
  EXPECT_EQ(rehearsed(governed).use_within, std::chrono::seconds(30));
  governed.change_plan(PlanBuilder(ruled).autonomy_rules(std::make_shared<NarrowScope>()));
  EXPECT_EQ(rehearsed(governed).use_within, std::chrono::seconds(20));
}

// RU-20: a call that is made reports an expired rule; the expiry is no finding of a guard.
TEST(RuleTierTest, AnExpiredRuleIsToldOnceAndNotByARehearsal) {
  Governed governed;
  governed.plan.rules(std::make_shared<FixedRules>(
      RuleAnswer{.verdict = RuleAnswer::Verdict::Allowed, .expired = {"old"}}));
  EXPECT_TRUE(rehearsed(governed).findings.empty());
  EXPECT_TRUE(governed.recorder.written.empty());
  const auto told = [&] {
    std::size_t count = 0;
    for (const Draft& draft : governed.recorder.of(Kind::Topic)) {
      count += canonical_json(draft.body.members()).contains("old") ? 1 : 0;
    }
    return count;
  };
  for (const char* const id : {"toolu_1", "toolu_2"}) {
    Call call = Governed::read_file();
    call.tool_call_id = id;
    ASSERT_TRUE(governed.call(call)->result.success);
    EXPECT_EQ(told(), 1u);
  }
}

}  // namespace
}  // namespace sallyport::core
