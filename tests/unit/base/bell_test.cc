#include "base/bell.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

namespace sallyport {
namespace {

class BellTest : public testing::Test {
 protected:
  void wait_for(const std::string& key) {
    boost::asio::co_spawn(loop_, waited(key), boost::asio::detached);
  }
  // Runs until the loop is idle without a ring.
  void settle() {
    loop_.restart();
    while (loop_.poll() > 0) {
    }
  }

  Async<void> waited(std::string key) {
    co_await bell_.wait(std::move(key), std::chrono::hours(1), stop_.get_token());
    ++woken_;
  }

  boost::asio::io_context loop_{1};
  Bell bell_;
  std::stop_source stop_;
  int woken_ = 0;
};

TEST_F(BellTest, ARingWakesThoseWhoWaitForItsKey) {
  wait_for("a");
  wait_for("a");
  wait_for("b");
  settle();
  bell_.ring("a");
  settle();
  EXPECT_EQ(woken_, 2);
  stop_.request_stop();
  settle();
  EXPECT_EQ(woken_, 3);
}

TEST_F(BellTest, ARingForAllWakesAll) {
  for (const char* const key : {"a", "a", "b"}) wait_for(key);
  settle();
  bell_.ring_all();
  settle();
  EXPECT_EQ(woken_, 3);
}

TEST_F(BellTest, ARingForOneWakesOne) {
  for (const char* const key : {"a", "a", "b"}) wait_for(key);
  settle();
  for (int woken = 1; woken <= 3; ++woken) {
    bell_.ring_one();
    settle();
    EXPECT_EQ(woken_, woken);
  }
  bell_.ring_one();  // none is left
}

}  // namespace
}  // namespace sallyport
