#include "net/process.h"

#include <gtest/gtest.h>

#include <thread>

#include "support/governed.h"

namespace sallyport::net {
namespace {

TEST(ProcessTest, OutputAndExitCodeComeBack) {
  const auto result =
      test::run_now(run_process({{"sh", "-c", "echo out; echo err >&2; exit 3"}}, {}));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->exit_code, 3);
  EXPECT_EQ(result->output, "out\nerr\n");
}

TEST(ProcessTest, OutputIsBounded) {
  const auto result = test::run_now(
      run_process({.arguments = {"sh", "-c", "yes | head -c 100000"}, .max_output = 1000}, {}));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->output.size(), 1000u);
  EXPECT_TRUE(result->truncated);
}

TEST(ProcessTest, AMissingProgramIsAnError) {
  EXPECT_EQ(test::run_now(run_process({{"/no/such/program"}}, {})).error().code,
            ErrorCode::Unavailable);
}

TEST(ProcessTest, ACancelKillsTheWholeGroup) {
  std::stop_source cancel;
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    cancel.request_stop();
  });
  const auto result =
      test::run_now(run_process({{"sh", "-c", "sleep 60 & sleep 60"}}, cancel.get_token()));
  EXPECT_EQ(result.error().code, ErrorCode::Cancelled);
}

}  // namespace
}  // namespace sallyport::net
