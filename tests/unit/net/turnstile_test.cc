#include "net/turnstile.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <string>

namespace sallyport::net {
namespace {

namespace asio = boost::asio;

class TurnstileTest : public testing::Test {
 protected:
  // Passes, then has work for one more turn.
  Async<void> request(char name) {
    co_await turnstile.pass();
    order += name;
    asio::post(loop, [this, name] { order += static_cast<char>(name + 'A' - 'a'); });
  }

  void arrive(std::string_view names) {
    for (const char name : names) asio::co_spawn(loop, request(name), asio::detached);
  }

  asio::io_context loop{1};
  Turnstile turnstile{loop.get_executor()};
  std::string order;
};

TEST_F(TurnstileTest, AFewPassAtOnce) {
  arrive("abc");
  loop.run();
  EXPECT_EQ(order, "abcABC");
}

TEST_F(TurnstileTest, ManyPassInTheOrderOfArrivalAndWhatHasBegunGoesOnBetween) {
  arrive("abcdefghijklmnopqrst");
  loop.run();
  std::string begun;
  for (const char step : order) {
    if (step >= 'a') begun += step;
  }
  EXPECT_EQ(begun, "abcdefghijklmnopqrst");
  EXPECT_LT(order.find('A'), order.find('i'));
  EXPECT_LT(order.find('I'), order.find('t'));
}

TEST_F(TurnstileTest, WhatComesLaterDoesNotOvertake) {
  arrive("abcdefghij");
  asio::post(loop, [this] { arrive("z"); });
  loop.run();
  EXPECT_LT(order.find('j'), order.find('z'));
  EXPECT_EQ(order.size(), 22u);
}

TEST_F(TurnstileTest, WhatWaitsEndsWithItsLoop) {
  arrive("abcdefghij");
  loop.run_one();
  EXPECT_EQ(order.size(), 1u);
}

}  // namespace
}  // namespace sallyport::net
