#include "workbench/asked_call.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sallyport::app {
namespace {

CallVerdict verdict_of_record(json::object body) {
  const json::object entry{{"sequence", 1}, {"agent_id", "a"}, {"tool_name", "act"}};
  return asked_in(entry, body).then->decision.verdict;
}

json::object blocked(std::string_view reason, std::string_view tier, std::string_view source,
                     std::string_view tool_tier = "confirm") {
  return {{"outcome", json::object{{"kind", "blocked"}, {"reason", reason}}},
          {"autonomy", tier},
          {"autonomy_source", source},
          {"tier", tool_tier}};
}

// A guard that denied with the text of a shadow tier was once shown as `shadow`.
TEST(AskedCallTest, TheTierOfARecordSaysWhetherItWasShadowAndNotItsText) {
  EXPECT_EQ(verdict_of_record(blocked("shadow: act was not run", "shadow", "agent_tiers")),
            CallVerdict::Shadow);
  EXPECT_EQ(verdict_of_record(blocked("shadow: no", "act_auto", "agent_tiers")),
            CallVerdict::Refused);
  EXPECT_EQ(verdict_of_record(blocked("shadow: no", "shadow", "not_weighed")),
            CallVerdict::Refused);
  EXPECT_EQ(verdict_of_record(blocked("no", "shadow", "plan", "observe")), CallVerdict::Refused);
}

// A call that the next policy refused, or shadowed, after a yes was shown as `asks`, so it was never
// reproduced (WB-8).
TEST(AskedCallTest, TheDecisionThatUsedAnApprovalIsTheOneOnRecord) {
  const auto after_a_yes = [](std::string_view tier, std::string_view source) {
    json::object body = blocked("no", tier, source);
    body["approval_id"] = "apr_1";
    return verdict_of_record(std::move(body));
  };
  EXPECT_EQ(after_a_yes("act_with_approval", "not_weighed"), CallVerdict::Refused);
  EXPECT_EQ(after_a_yes("shadow", "demotion"), CallVerdict::Shadow);
  // A person said no.
  EXPECT_EQ(after_a_yes("act_with_approval", "tier"), CallVerdict::Asks);
  EXPECT_EQ(after_a_yes("suggest", "tier"), CallVerdict::Proposed);
  json::object ran{{"outcome", json::object{{"kind", "completed"}}},
                   {"autonomy", "act_auto"},
                   {"autonomy_source", "promotion"},
                   {"tier", "confirm"},
                   {"approval_id", "apr_1"},
                   {"guards", json::array{json::object{{"guard", "g"}, {"verdict", "allow"}}}}};
  EXPECT_EQ(verdict_of_record(ran), CallVerdict::Runs);
  ran["rules"] = json::object{{"verdict", "asks"}};
  EXPECT_EQ(verdict_of_record(ran), CallVerdict::Asks);
  ran.erase("rules");
  ran["guards"] = json::array{json::object{{"guard", "g"}, {"verdict", "ask"}}};
  EXPECT_EQ(verdict_of_record(ran), CallVerdict::Asks);
}

TEST(AskedCallTest, TheOutcomeOfARecordIsAVerdict) {
  const auto ended = [](std::string_view outcome, std::string_view tier) {
    return verdict_of_record(
        {{"outcome", json::object{{"kind", outcome}}}, {"autonomy", tier}, {"tier", "confirm"}});
  };
  EXPECT_EQ(ended("completed", "act_auto"), CallVerdict::Runs);
  EXPECT_EQ(ended("invalidated", "act_auto"), CallVerdict::Refused);
  EXPECT_EQ(ended("requires_confirmation", "act_with_approval"), CallVerdict::Asks);
  EXPECT_EQ(ended("requires_confirmation", "suggest"), CallVerdict::Proposed);
}

TEST(AskedCallTest, EveryVerdictHasItsWord) {
  for (const std::string_view word : call_verdict_words()) {
    ASSERT_TRUE(call_verdict_from(word)) << word;
    EXPECT_EQ(to_string(*call_verdict_from(word)), word);
  }
  EXPECT_EQ(call_verdict_words().size(), 6u);
  EXPECT_FALSE(call_verdict_from("run"));
}

}  // namespace
}  // namespace sallyport::app
