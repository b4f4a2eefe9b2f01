// The trust records of calls whose process died.
#include "autonomy/trust_memory.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/test_clock.h"

namespace sallyport::autonomy {
namespace {

json::object opening(std::string_view kind, std::string_view source,
                     std::string_view approval = {}) {
  return {{"kind", kind},
          {"call_id", "call-1"},
          {"session_id", "s"},
          {"agent_id", "agent:bot"},
          {"server", "files"},
          {"tool_name", "write_file"},
          {"trace_id", "trace-1"},
          {"body",
           {{"tool_call_id", "toolu_1"},
            {"tier", "confirm"},
            {"effect_class", "fs.write"},
            {"autonomy", "act_auto"},
            {"autonomy_source", source},
            {"approval_id", approval}}}};
}

// A call that was killed in the middle cost its agent no trust.
// AT-28 (partly) AP-21 (partly)
TEST(TrustMemoryTest, ACallWhoseProcessDiedIsAFailure) {
  const test::TestClock clock;
  SystemEntropy entropy;
  const auto close = closing_interrupted(clock, entropy);

  std::vector<core::Draft> ran = close(opening("intent", "default"));
  ASSERT_FALSE(ran.empty());
  EXPECT_EQ(ran.back().kind, core::Kind::Trust);
  EXPECT_EQ(ran.back().outcome, "failure");
  EXPECT_EQ(ran.back().subject->agent_id, "agent:bot");
  EXPECT_EQ(ran.back().subject->call_id, "call-1");
  EXPECT_EQ(ran.back().body.at("autonomy_tier"), "act_auto");
  EXPECT_FALSE(ran.back().changes.empty()) << "it counts in the score";

  // A prepared call that waited for a person cannot run any more.
  const std::vector<core::Draft> lost = close(opening("tool_audit", "default", "apr_1"));
  EXPECT_EQ(lost.back().kind, core::Kind::Trust);
  EXPECT_EQ(lost.back().outcome, "denied");

  // A plan without rules of autonomy keeps no trust records.
  for (const core::Draft& draft : close(opening("intent", core::kTierOfPlan))) {
    EXPECT_NE(draft.kind, core::Kind::Trust);
  }
}

}  // namespace
}  // namespace sallyport::autonomy
