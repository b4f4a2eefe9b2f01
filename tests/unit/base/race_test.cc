#include "base/race.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <stdexcept>

namespace sallyport {
namespace {

namespace asio = boost::asio;
using std::chrono::hours;
using std::chrono::steady_clock;

class RaceTest : public testing::Test {
 protected:
  // Runs the race, and then the loop until it is idle.
  void race_with(Async<int> work, steady_clock::time_point deadline) {
    asio::co_spawn(loop_, raced(std::move(work), deadline), asio::detached);
    settle();
  }
  void settle() {
    loop_.restart();
    while (loop_.poll() > 0) {
    }
  }
  Async<void> raced(Async<int> work, steady_clock::time_point deadline) {
    result_ = co_await race<int>(std::move(work), deadline, stop_.get_token(), late_);
  }

  static Async<int> at_once() { co_return 7; }
  static Async<int> throwing() {
    throw std::runtime_error("boom");
    co_return 0;
  }
  // Ends when the test opens the gate, cancelled or not.
  Async<int> at_the_gate() {
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    boost::system::error_code opened;
    co_await gate_.async_wait(asio::redirect_error(asio::use_awaitable, opened));
    co_return 8;
  }

  asio::io_context loop_{1};
  asio::steady_timer gate_{loop_, hours(1)};
  std::stop_source stop_;
  std::optional<Raced<int>> result_;
  int came_late_ = 0;
  Late<int> late_ = [this](int value) -> Async<void> {
    came_late_ = value;
    co_return;
  };
};

TEST_F(RaceTest, WorkThatNeverWaitsWinsEvenWithoutTime) {
  race_with(at_once(), steady_clock::now() - hours(1));
  ASSERT_TRUE(result_);
  EXPECT_EQ(result_->finish, Finish::Worked);
  EXPECT_EQ(result_->value, 7);
}

TEST_F(RaceTest, WorkThatThrowsAtOnceHasThrown) {
  race_with(throwing(), steady_clock::now() + hours(1));
  ASSERT_TRUE(result_);
  EXPECT_EQ(result_->finish, Finish::Threw);
  EXPECT_FALSE(result_->value);
}

TEST_F(RaceTest, WorkThatWaitsWinsWhenItEndsInTime) {
  race_with(at_the_gate(), steady_clock::now() + hours(1));
  EXPECT_FALSE(result_);
  gate_.cancel();
  settle();
  ASSERT_TRUE(result_);
  EXPECT_EQ(result_->finish, Finish::Worked);
  EXPECT_EQ(result_->value, 8);
  EXPECT_EQ(came_late_, 0);
}

TEST_F(RaceTest, WorkThatMissesItsDeadlineIsHeardOfLater) {
  race_with(at_the_gate(), steady_clock::now() - hours(1));
  ASSERT_TRUE(result_);
  EXPECT_EQ(result_->finish, Finish::Deadline);
  gate_.cancel();
  settle();
  EXPECT_EQ(came_late_, 8);
}

TEST_F(RaceTest, ACancelEndsTheWaitAndNotTheWork) {
  race_with(at_the_gate(), steady_clock::now() + hours(1));
  stop_.request_stop();
  settle();
  ASSERT_TRUE(result_);
  EXPECT_EQ(result_->finish, Finish::Cancelled);
  gate_.cancel();
  settle();
  EXPECT_EQ(came_late_, 8);
}

}  // namespace
}  // namespace sallyport
