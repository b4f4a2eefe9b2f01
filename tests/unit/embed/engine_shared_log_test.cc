// Engines that write one log in PostgreSQL, as processes on several machines do.
#include <cstdlib>
#include <filesystem>
#include <latch>
#include <thread>

#include "engine_setup.h"
#include "support/private_postgresql.h"
#include "support/temp_folder.h"

namespace sallyport::test {
namespace {

// The specification asks for 1,000; a sample on every run.
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

  // The first makes the keys, which the second copies.
  std::unique_ptr<Engine> engine(const std::string& name, const Tool& tool) {
    const std::filesystem::path data = folder_ / name;
    if (std::filesystem::exists(folder_ / "first")) {
      std::filesystem::create_directories(data);
      std::filesystem::copy(folder_ / "first" / "keys", data / "keys",
                            std::filesystem::copy_options::recursive);
      std::filesystem::permissions(data, std::filesystem::perms::owner_all);
    }
    EngineBuilder builder(data);
    return opened(builder.shared_log(url_).autonomy(Autonomy::ActAuto).tool(tool));
  }

  TempFolder folder_;
  std::string url_;
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
