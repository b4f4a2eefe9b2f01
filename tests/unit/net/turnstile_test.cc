#include "net/turnstile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <vector>

namespace sallyport::net {
namespace {

namespace asio = boost::asio;

constexpr int kTurn = Turnstile::kEachTurn;

class TurnstileTest : public testing::Test {
 protected:
  // Passes, then has work for one more turn.
  Async<void> request(int number) {
    co_await turnstile.pass();
    begun.push_back(number);
    order.push_back(number);
    asio::post(loop, [this, number] { order.push_back(-number); });
  }

  // Numbers from 1 on.
  void arrive(int count, int from = 1) {
    for (int i = 0; i < count; ++i) asio::co_spawn(loop, request(from + i), asio::detached);
  }

  long place_of(int step) const { return std::ranges::find(order, step) - order.begin(); }

  asio::io_context loop{1};
  Turnstile turnstile{loop.get_executor()};
  std::vector<int> begun;
  std::vector<int> order;  // a number for a beginning, its negative for the second turn
};

TEST_F(TurnstileTest, AFewPassAtOnce) {
  arrive(3);
  loop.run();
  EXPECT_EQ(order, (std::vector{1, 2, 3, -1, -2, -3}));
}

TEST_F(TurnstileTest, ManyPassInTheOrderOfArrivalAndWhatHasBegunGoesOnBetween) {
  arrive(3 * kTurn);
  loop.run();
  EXPECT_EQ(begun.size(), 3u * kTurn);
  EXPECT_TRUE(std::ranges::is_sorted(begun));
  EXPECT_LT(place_of(-1), place_of(kTurn + 1));
  EXPECT_LT(place_of(-kTurn - 1), place_of(2 * kTurn + 1));
}

TEST_F(TurnstileTest, WhatComesLaterDoesNotOvertake) {
  arrive(kTurn + 2);
  asio::post(loop, [this] { arrive(1, 1000); });
  loop.run();
  EXPECT_EQ(begun.size(), kTurn + 3u);
  EXPECT_EQ(begun.back(), 1000);
}

TEST_F(TurnstileTest, WhatWaitsEndsWithItsLoop) {
  arrive(kTurn + 2);
  loop.run_one();
  EXPECT_EQ(order.size(), 1u);
}

}  // namespace
}  // namespace sallyport::net
