#include "daemon/login/login_links.h"

#include <gtest/gtest.h>

#include "support/test_clock.h"

namespace sallyport::app {
namespace {

class LoginLinksTest : public testing::Test {
 protected:
  std::string link(const std::string& name) { return links.make({.name = name, .method = "link"}); }

  test::TestClock clock;
  SystemEntropy entropy;
  LoginLinks links{clock, entropy};
};

// CO-15 (partly)
TEST_F(LoginLinksTest, ALinkWorksOnceForFiveMinutes) {
  const std::string used = link("user:ada");
  const std::string late = link("user:bo");
  const std::string last = link("user:cy");
  EXPECT_EQ(links.take(used)->name, "user:ada");
  EXPECT_FALSE(links.take(used));
  clock.advance(std::chrono::minutes(5) - std::chrono::microseconds(1));
  EXPECT_EQ(links.take(last)->name, "user:cy");
  clock.advance(std::chrono::microseconds(1));
  EXPECT_FALSE(links.take(late));
  EXPECT_FALSE(links.take(""));
}

// CO-15 (partly)
TEST_F(LoginLinksTest, OfTooManyLinksTheOldestGoes) {
  const std::string oldest = link("user:ada");
  clock.advance(std::chrono::seconds(1));
  const std::string second = link("user:bo");
  for (std::size_t i = 1; i < LoginLinks::kMost; ++i) link("user:cy");
  EXPECT_FALSE(links.take(oldest));
  EXPECT_TRUE(links.take(second));
}

}  // namespace
}  // namespace sallyport::app
