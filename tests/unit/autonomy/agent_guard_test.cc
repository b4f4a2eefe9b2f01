#include "autonomy/agent_guard.h"

#include <gtest/gtest.h>

#include "support/governed.h"

namespace sallyport::autonomy {
namespace {

// AT-10
TEST(AgentGuardTest, APolicyForOneAgentRefusesAllOthers) {
  const AgentGuard guard("agent:a");
  const auto judged = [&](std::string agent) {
    return *test::run_now(guard.judge({.agent_id = std::move(agent), .tool = "x"}, {}));
  };
  EXPECT_EQ(judged("agent:a").kind, Verdict::Kind::Allow);
  for (const std::string other : {"agent:b", "agent:a2", "", "AGENT:A"}) {
    const Verdict verdict = judged(other);
    EXPECT_EQ(verdict.kind, Verdict::Kind::Deny) << other;
    EXPECT_NE(verdict.reason.find("`agent:a`"), std::string::npos);
  }
}

}  // namespace
}  // namespace sallyport::autonomy
