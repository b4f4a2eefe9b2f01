// Turns that pause for a person: who may resume them, and with what.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "core/turns.h"
#include "support/governed.h"

namespace sallyport::core {
namespace {

using test::Governed;

class TurnTest : public testing::Test {
 protected:
  TurnTest() { governed.plan.autonomy(Autonomy::ActWithApproval); }

  Turns& turns() {
    if (!turns_) {
      continuations_.emplace(governed.recorder, KeyedDigest("k"), clock_, entropy_);
      turns_.emplace(governed.governor(), *continuations_,
                     [this](const Call&) { return governed.upstream; });
    }
    return *turns_;
  }

  Turns::Ended pause(const std::string& id) {
    Call call = Governed::read_file();
    call.tool_call_id = id;
    Result<Turns::Ended> ended =
        test::run_now(turns().run({.session_id = "s-1", .turn = 3}, {call}));
    EXPECT_TRUE(ended) << ended.error().message;
    EXPECT_TRUE(ended->paused);
    return std::move(*ended);
  }

  std::string cause(const Continuation& continuation, std::string approval_id = {},
                    std::string session = "s-1") {
    const auto ended =
        test::run_now(turns().resume(continuation, std::move(session), std::move(approval_id)));
    return ended ? "none" : ended.error().cause;
  }

  void approve(const std::string& approval_id) {
    ASSERT_TRUE(test::run_now(
        governed.governor().approvals().answer(approval_id, Reply::approve("user:ada"), {})));
  }

  Governed governed;

 private:
  SystemClock clock_;
  SystemEntropy entropy_;
  std::optional<Continuations> continuations_;
  std::optional<Turns> turns_;
};

// AU-71 AU-97: each fault alone and, with all those behind it, still the first.
TEST_F(TurnTest, TheFirstFailingCheckIsTheErrorAndNothingExecutes) {
  const Turns::Ended waiting = pause("toolu_1");
  const Turns::Ended other = pause("toolu_2");
  const Continuation good = *waiting.paused;

  Continuation bad = good;
  EXPECT_EQ(cause(bad), "approval_pending");
  approve(waiting.approval_id);
  EXPECT_EQ(cause(bad, other.approval_id), "tool_call_mismatch");
  EXPECT_EQ(cause(bad, other.approval_id, "s-2"), "session_mismatch");
  bad.payload.state = {{"changed", true}};
  EXPECT_EQ(cause(bad, other.approval_id, "s-2"), "continuation_altered");
  bad.id = "con-nobody";
  EXPECT_EQ(cause(bad, other.approval_id, "s-2"), "continuation_unknown");
  bad.version = 2;
  EXPECT_EQ(cause(bad, other.approval_id, "s-2"), "continuation_version");
  EXPECT_TRUE(governed.upstream->calls.empty());

  EXPECT_EQ(cause(good), "none");
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
  EXPECT_EQ(cause(good), "already_resumed");
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
}

// AU-70 AU-73
TEST_F(TurnTest, TheDecisionIsThatOfTheAnsweredApproval) {
  const Turns::Ended yes = pause("toolu_1");
  const Turns::Ended no = pause("toolu_2");
  approve(yes.approval_id);
  ASSERT_TRUE(test::run_now(governed.governor().approvals().answer(
      no.approval_id, Reply::deny("user:ada", "not today"), {})));
  EXPECT_EQ(canonical_json(to_json(*turns().decision(yes.approval_id))), R"({"kind":"approved"})");
  EXPECT_EQ(canonical_json(to_json(*turns().decision(no.approval_id))),
            R"({"kind":"rejected","reason":"not today"})");
  const auto refused = test::run_now(turns().resume(*no.paused, "s-1"));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->results.at(0).result.output, "Blocked: not today");
  EXPECT_TRUE(governed.upstream->calls.empty());
}

// AU-87
TEST_F(TurnTest, WhatAWaitingTurnNeedsIsKeptEncryptedAndGoesWithItsCall) {
  const Turns::Ended waiting = pause("toolu_1");
  ASSERT_EQ(governed.recorder.facts("continuation_kept")->size(), 1u);
  EXPECT_TRUE(governed.recorder.facts("continuation_kept")->at(0).value->starts_with("sealed:"))
      << "what the recorder's encrypt made of it";
  approve(waiting.approval_id);
  ASSERT_TRUE(test::run_now(turns().resume(*waiting.paused, "s-1")));
  EXPECT_TRUE(governed.recorder.facts("continuation_kept")->empty());
}

}  // namespace
}  // namespace sallyport::core
