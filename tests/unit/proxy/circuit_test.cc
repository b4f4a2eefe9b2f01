#include <gtest/gtest.h>

#include <optional>

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
  // Returns the time until a request may make an attempt. It makes none.
  std::optional<seconds> blocked() {
    const auto allowed = circuit_.allow();
    return allowed ? std::nullopt : std::optional(allowed.error());
  }

  test::TestClock clock_;
  Circuit circuit_{clock_};
};

// MP-76
TEST_F(CircuitTest, OpensAfterFiveFailuresInARowAndTestsWithOneRequest) {
  fail_times(4);
  EXPECT_FALSE(blocked());
  fail_times(1);
  EXPECT_EQ(blocked(), seconds(15));
  EXPECT_TRUE(circuit_.is_open());
  clock_.advance(seconds(15));
  const auto test = circuit_.allow();
  EXPECT_TRUE(test);
  EXPECT_EQ(blocked(), seconds(1));  // others wait
  circuit_.worked();
  EXPECT_FALSE(blocked());
}

// MP-76
TEST_F(CircuitTest, AFailedTestOpensItAgain) {
  fail_times(5);
  clock_.advance(seconds(16));
  const auto test = circuit_.allow();
  EXPECT_TRUE(test);
  circuit_.failed();
  EXPECT_EQ(blocked(), seconds(15));
}

// A test request that was never made, for example because its client had left, once kept the
// circuit open forever.
// MP-76
TEST_F(CircuitTest, ATestThatIsNotMadeIsLeftToAnotherRequest) {
  fail_times(5);
  clock_.advance(seconds(15));
  EXPECT_TRUE(circuit_.allow());
  EXPECT_FALSE(blocked());
}

// MP-76
TEST_F(CircuitTest, ATestThatHasFailedDoesNotEndTheNextOne) {
  fail_times(5);
  clock_.advance(seconds(15));
  auto first = std::make_optional(circuit_.allow());
  circuit_.failed();
  clock_.advance(seconds(15));
  const auto second = circuit_.allow();
  EXPECT_TRUE(second);
  first.reset();
  EXPECT_EQ(blocked(), seconds(1));
}

// MP-76
TEST_F(CircuitTest, FailuresThatLieApartOrThatASuccessDividesDoNotOpenIt) {
  fail_times(4);
  clock_.advance(seconds(31));
  fail_times(1);
  EXPECT_FALSE(blocked());
  circuit_.worked();
  fail_times(4);
  EXPECT_FALSE(blocked());
}

// Answers that began and broke off once closed the circuit at each head.
// MP-76
TEST_F(CircuitTest, AnswersThatBeginAndBreakOffOpenIt) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(blocked());
    circuit_.begun();
    circuit_.failed();
  }
  EXPECT_TRUE(circuit_.is_open());
  clock_.advance(seconds(15));
  const auto test = circuit_.allow();
  EXPECT_TRUE(test);
  circuit_.begun();  // others need not wait for the end of its answer
  EXPECT_FALSE(blocked());
  circuit_.failed();
  EXPECT_TRUE(circuit_.is_open());
}

}  // namespace
}  // namespace sallyport::proxy
