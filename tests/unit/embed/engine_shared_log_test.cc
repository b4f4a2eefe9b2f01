// Engines that write to one log in PostgreSQL, as processes on several machines do.
#include <cstdlib>
#include <filesystem>
#include <latch>
#include <thread>

#include "engine_setup.h"
#include "support/private_postgresql.h"
#include "support/temp_folder.h"

namespace sallyport::test {
namespace {

// The specification requires 1,000; every run tests a sample.
int tries() {
  const char* const asked = std::getenv("SALLYPORT_CLUSTER_TRIES");
  return asked == nullptr ? 25 : std::atoi(asked);
}

class EngineSharedLogTest : public testing::Test {
 protected:
  void SetUp() override {
    if (PrivatePostgresql::instance() == nullptr) GTEST_SKIP() << "postgresql is not installed";
    url_ = PrivatePostgresql::instance()->new_database();
  }

  // The first engine makes the keys, and the second copies them.
  std::unique_ptr<Engine> engine(const std::string& name, const Tool& tool) {
    const std::filesystem::path data = folder_ / name;
    if (std::filesystem::exists(folder_ / "first")) {
      std::filesystem::create_directories(data);
      std::filesystem::copy(folder_ / "first" / "keys", data / "keys",
                            std::filesystem::copy_options::recursive);
      std::filesystem::permissions(data, std::filesystem::perms::owner_all);
    }
    EngineBuilder builder(data);
    return opened(builder.shared_log(url_).autonomy(tier_).tool(tool));
  }

  TempFolder folder_;
  std::string url_;
  Autonomy tier_ = Autonomy::ActAuto;
};

// SC-35
TEST_F(EngineSharedLogTest, TheSameCallGivenToTwoEnginesAtOnceRunsOnce) {
  const CountedTool tool("save", kActs);
  const auto first = engine("first", tool.tool());
  const auto second = engine("second", tool.tool());
  for (int n = 0; n < tries(); ++n) {
    std::latch begin(2);
    const auto run = [&](Engine& one) {
      begin.arrive_and_wait();
      (void)one.call(call_of("save", "t-" + std::to_string(n)));
    };
    std::thread other([&] { run(*second); });
    run(*first);
    other.join();
    ASSERT_EQ(tool.runs(), n + 1);
  }
}

// SC-38
TEST_F(EngineSharedLogTest, WhatWaitsOutlivesItsEngineAndGoesOnAtAnother) {
  const CountedTool tool("save", kActs);
  tier_ = Autonomy::ActWithApproval;
  auto first = engine("first", tool.tool());
  const auto second = engine("second", tool.tool());
  const Result<TurnEnd> waits = first->run_turn({.session_id = kSession}, {call_of("save", "t-1")});
  ASSERT_TRUE(waits && waits->paused);
  const Result<HumanAnswer> asked =
      first->ask({.agent_id = kAgent, .text = "Which branch?"}, {.hold = false});
  ASSERT_TRUE(asked) << asked.error().message;
  first.reset();
  ASSERT_TRUE(second->answer(waits->approval_id, Reply::approve(kPerson)));
  const Result<TurnEnd> end = second->resume_turn(*waits->paused, kSession);
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(tool.runs(), 1);
  EXPECT_TRUE(second->answer_to(asked->request_id)) << "the question is still there";
}

// SC-38
TEST_F(EngineSharedLogTest, AHandOffOutlivesItsEngineAndIsCompletedAtAnother) {
  const CountedTool tool("save", kActs);
  auto first = engine("first", tool.tool());
  const auto second = engine("second", tool.tool());
  const Result<HandedOut> given =
      first->hand_out({.session_id = kSession}, {call_of("save", "t-1")});
  ASSERT_TRUE(given) << given.error().message;
  first.reset();
  CallResult done{.tool_call_id = "t-1"};
  done.result = {.success = true, .output = "saved by the client"};
  const auto answers = second->submit({given->hand_off.continuation, {done}}, kSession);
  ASSERT_TRUE(answers) << answers.error().message;
  EXPECT_EQ(answers->at(0).result.output, "saved by the client");
  EXPECT_EQ(outcomes_of(*second), std::vector<std::string>{"completed"});
}

// SC-1
TEST_F(EngineSharedLogTest, WhatOneEngineRecordsAnotherReads) {
  const CountedTool tool("save", kActs);
  const auto first = engine("first", tool.tool());
  const auto second = engine("second", tool.tool());
  ASSERT_TRUE(first->call(call_of("save", "t-1")));
  const Result<Answer> again = second->call(call_of("save", "t-1"));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->result.output, "save ran") << "the answer of before is served";
  EXPECT_EQ(tool.runs(), 1);
}

}  // namespace
}  // namespace sallyport::test
