// Agents that share one engine.
#include "sallyport/agent.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "engine_setup.h"
#include "support/temp_folder.h"

namespace sallyport {
namespace {

TEST(AgentTest, SessionsRunSideBySideAndEachCallHasOneRecord) {
  constexpr int kSessions = 12;
  const test::TempFolder folder;
  std::ofstream(folder / "talk.yaml")
      << "turns: [{calls: [{tool: count}, {tool: count}]}, {calls: [{tool: count}]}, {text: done}]";
  std::atomic<int> counted = 0;
  const auto engine = test::opened(
      EngineBuilder(folder / "data")
          .autonomy(Autonomy::ActAuto)
          .tool({.name = "count",
                 .classification = test::kActs,
                 .run = [&](const Invocation&) -> Result<json::value> { return ++counted; }}));
  const auto agent =
      Agent::open(*engine, {.id = "agent:many",
                            .model = {.provider = AgentModel::Provider::Script,
                                      .name = "demo",
                                      .script = folder / "talk.yaml"},
                            .tools = {{.name = "count", .schema = {{"type", "object"}}}}});
  ASSERT_TRUE(agent) << agent.error().message;
  std::atomic<int> finished = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kSessions; ++i) {
      threads.emplace_back([&, i] {
        const Result<AgentRun> run = (*agent)->run("s-" + std::to_string(i), "go");
        if (run && run->status == AgentStatus::Finished && run->tool_calls == 3) ++finished;
      });
    }
  }
  EXPECT_EQ(finished, kSessions);
  EXPECT_EQ(counted, 3 * kSessions);
  EXPECT_EQ(engine->records()->size(), 3u * kSessions);
  // The lease is released: the session can continue.
  EXPECT_EQ((*agent)->resume("s-1").error().cause, "nothing_to_resume");
}

// RT-79
TEST(AgentTest, ASessionIsWorkedOnByOneRunAtATime) {
  const test::TempFolder folder;
  std::ofstream(folder / "talk.yaml") << "turns: [{text: slow, delay_ms: 60000}]";
  const auto engine = test::opened(EngineBuilder(folder / "data").autonomy(Autonomy::ActAuto));
  const auto agent = Agent::open(*engine, {.id = "agent:one",
                                           .model = {.provider = AgentModel::Provider::Script,
                                                     .name = "demo",
                                                     .script = folder / "talk.yaml"}});
  ASSERT_TRUE(agent);
  std::stop_source cancel;
  Result<AgentRun> first = fail(ErrorCode::Internal, "not run");
  std::jthread slow([&] { first = (*agent)->run("s-1", "go", {.cancel = cancel.get_token()}); });
  while (engine->events({.event_type = "model_request_started"})->empty()) {
    std::this_thread::yield();
  }
  const Result<AgentRun> second = (*agent)->run("s-1", "me too");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().cause, "lease_unavailable");
  cancel.request_stop();
  slow.join();
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->status, AgentStatus::Aborted);
  EXPECT_EQ(first->reason, "cancelled");
}

}  // namespace
}  // namespace sallyport
