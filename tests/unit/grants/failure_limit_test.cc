#include "grants/failure_limit.h"

#include <gtest/gtest.h>

namespace sallyport::grants {
namespace {

using namespace std::chrono_literals;

// CG-68
TEST(FailureLimitTest, SoManyFailuresInSoMuchTimeAreTooMany) {
  FailureLimit limit({.most = 2, .per = 60s});
  const SteadyTime begin{};
  EXPECT_FALSE(limit.reached("a", begin));
  limit.note("a", begin);
  EXPECT_FALSE(limit.reached("a", begin));
  limit.note("a", begin + 10s);
  EXPECT_TRUE(limit.reached("a", begin + 10s));
  EXPECT_FALSE(limit.reached("b", begin + 10s)) << "each principal has its own";
  EXPECT_TRUE(limit.reached("a", begin + 60s - 1us));
  EXPECT_FALSE(limit.reached("a", begin + 60s)) << "the first is as old as the time";
  limit.note("a", begin + 61s);
  EXPECT_TRUE(limit.reached("a", begin + 61s)) << "the second still counts";
  EXPECT_FALSE(limit.reached("a", begin + 121s));
  EXPECT_FALSE(limit.reached("a", begin + 122s));
}

// CG-68
TEST(FailureLimitTest, ThoseLongestWithoutAFailureAreForgottenFirst) {
  FailureLimit limit({.most = 1, .per = 60s, .principals = 2});
  const SteadyTime begin{};
  limit.note("a", begin);
  limit.note("b", begin + 1s);
  EXPECT_TRUE(limit.reached("a", begin + 2s)) << "as many as are kept";
  limit.note("a", begin + 2s);
  limit.note("c", begin + 3s);
  EXPECT_FALSE(limit.reached("b", begin + 3s));
  EXPECT_TRUE(limit.reached("a", begin + 3s));
  EXPECT_TRUE(limit.reached("c", begin + 3s));
}

}  // namespace
}  // namespace sallyport::grants
