// A person's yes overrides nothing else: whatever denies a call denies it despite a yes.
#include <thread>

#include "engine_setup.h"

namespace sallyport::test {
namespace {

class EngineConsentTest : public testing::Test {
 protected:
  // An approver who says yes to everything, and runs `meanwhile` first.
  void approve_all(EngineBuilder& builder) {
    builder.tool(act_.tool()).approver([this](const Question&) -> Result<Reply> {
      ++asked_;
      if (meanwhile) meanwhile();
      return Reply::approve(kPerson);
    });
  }
  std::string reason(Engine& engine, Call call = call_of("act")) {
    const Result<Answer> answer = engine.call(std::move(call));
    if (!answer) return answer.error().message;
    EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Blocked);
    return answer->outcome.text;
  }

  CountedTool act_{"act", kActs};
  int asked_ = 0;
  std::function<void()> meanwhile;
};

// AT-20: a guard.
TEST_F(EngineConsentTest, WhatAGuardDeniesNobodyIsAskedAboutAndAYesDoesNotSaveIt) {
  bool denies = true;
  EngineBuilder builder("");
  approve_all(builder);
  builder.guard("strict", [&](const Call&, const GuardView&) -> Result<Verdict> {
    return denies ? Verdict::deny("never") : Verdict::allow();
  });
  const auto engine = opened(builder);
  EXPECT_EQ(reason(*engine), "never");
  EXPECT_EQ(asked_, 0);
  denies = false;
  meanwhile = [&] { denies = true; };
  EXPECT_EQ(reason(*engine), "never");
  EXPECT_EQ(asked_, 1);
  EXPECT_EQ(act_.runs(), 0);
}

// AT-20: a deny rule of the policy.
TEST_F(EngineConsentTest, WhatARuleBlocksIsBlockedWhateverPeopleWouldSay) {
  EngineBuilder builder("");
  approve_all(builder);
  const auto engine = opened(
      builder.policy("version: 1\nautonomy: {tier: act_with_approval}\nguardrails:\n  checks:\n"
                     "    - {type: blocklist, stage: tool_use, id: word, words: [swordfish]}\n"));
  EXPECT_FALSE(reason(*engine, call_of("act", {}, {{"text", "swordfish"}})).empty());
  EXPECT_EQ(asked_, 0);
  const Result<Answer> other = engine->call(call_of("act", {}, {{"text", "herring"}}));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->outcome.kind, Outcome::Kind::Completed);
  EXPECT_EQ(asked_, 1);
}

// AT-20: a grant.
TEST_F(EngineConsentTest, ACallWithoutTheGrantItNeedsIsNotAskedAbout) {
  EngineBuilder builder("");
  approve_all(builder);
  const auto engine = opened(builder.policy(
      "version: 1\nautonomy: {tier: act_with_approval}\ngrants:\n  required: [{tool: act}]\n"
      "  trusted_issuers: "
      "[\"ed25519:03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8\"]\n"));
  EXPECT_EQ(reason(*engine), "grant_missing");
  EXPECT_EQ(asked_, 0);
  EXPECT_EQ(act_.runs(), 0);
}

// AT-20: a limit.
TEST_F(EngineConsentTest, AnApprovedCallHasNoMoreTimeThanAnyOther) {
  EngineBuilder builder("");
  builder.tool(tool_of(
      "slow",
      [](const Invocation& invocation) -> Result<json::value> {
        while (!invocation.stop_requested()) std::this_thread::yield();
        return json::value("late");
      },
      kActs));
  approve_all(builder);
  const auto engine = opened(builder.time_limit(std::chrono::milliseconds(50)));
  const Result<Answer> answer = engine->call(call_of("slow"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(asked_, 1);
  EXPECT_FALSE(answer->result.success);
  EXPECT_EQ(answer->effect, EffectState::Unknown);
  EXPECT_NE(answer->result.output.find("timed out"), std::string::npos);
}

}  // namespace
}  // namespace sallyport::test
