#include <gtest/gtest.h>

#include "proxy/upstreams.h"
#include "support/test_clock.h"

namespace sallyport::proxy {
namespace {

using std::chrono::seconds;

class CircuitTest : public testing::Test {
 protected:
  void fail_times(int count) {
    for (int i = 0; i < count; ++i) circuit_.failed();
  }

  test::TestClock clock_;
  Circuit circuit_{clock_};
};

// MP-76
TEST_F(CircuitTest, OpensAfterFiveFailuresInARowAndTestsWithOneRequest) {
  fail_times(4);
  EXPECT_FALSE(circuit_.blocked());
  fail_times(1);
  EXPECT_EQ(circuit_.blocked(), seconds(15));
  EXPECT_TRUE(circuit_.is_open());
  clock_.advance(seconds(15));
  EXPECT_FALSE(circuit_.blocked());           // this one tests it
  EXPECT_EQ(circuit_.blocked(), seconds(1));  // others wait
  circuit_.worked();
  EXPECT_FALSE(circuit_.blocked());
}

// MP-76
TEST_F(CircuitTest, AFailedTestOpensItAgain) {
  fail_times(5);
  clock_.advance(seconds(16));
  EXPECT_FALSE(circuit_.blocked());
  circuit_.failed();
  EXPECT_EQ(circuit_.blocked(), seconds(15));
}

// MP-76
TEST_F(CircuitTest, FailuresThatLieApartOrThatASuccessDividesDoNotOpenIt) {
  fail_times(4);
  clock_.advance(seconds(31));
  fail_times(1);
  EXPECT_FALSE(circuit_.blocked());
  circuit_.worked();
  fail_times(4);
  EXPECT_FALSE(circuit_.blocked());
}

}  // namespace
}  // namespace sallyport::proxy
