#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <future>
#include <memory>
#include <vector>

#include "base/loop_crew.h"

namespace sallyport {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

// Counts how many handlers run at the same moment.
struct OneAtATime {
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  void enter() { most = std::max(most.load(), ++running); }
  void leave() { --running; }
};

// SC-50
TEST(LoopCrewConcurrentTest, TheLoopGoesOnWhileAHandlerWaits) {
  asio::io_context loop(2);
  std::promise<void> answer;
  bool ran = false;
  bool waited = false;
  asio::post(loop, [&] {
    const Aside aside;
    ASSERT_TRUE(aside.may_wait());
    // Only the other handler lets this one continue.
    waited = answer.get_future().wait_for(60s) == std::future_status::ready;
  });
  asio::post(loop, [&] {
    ran = true;
    answer.set_value();
  });
  LoopCrew(loop).run();
  EXPECT_TRUE(ran);
  EXPECT_TRUE(waited);
}

TEST(LoopCrewConcurrentTest, HandlersRunOneAtATimeHoweverManyWait) {
  asio::io_context loop(2);
  OneAtATime turns;
  int ended = 0;
  std::vector<std::unique_ptr<asio::steady_timer>> timers;
  for (int n = 0; n < 200; ++n) {
    timers.push_back(
        std::make_unique<asio::steady_timer>(loop, std::chrono::microseconds(n * 300)));
    timers.back()->async_wait([&, n](boost::system::error_code) {
      turns.enter();
      turns.leave();
      {
        const Aside aside;
        if (aside.may_wait()) std::this_thread::sleep_for(std::chrono::milliseconds(n % 12));
      }
      turns.enter();
      ++ended;  // a data race, if two handlers ran at once
      turns.leave();
    });
  }
  LoopCrew(loop).run();
  EXPECT_EQ(ended, 200);
  EXPECT_EQ(turns.most, 1);
}

TEST(LoopCrewConcurrentTest, BeyondABoundAWaitIsRefusedAndTheLoopGoesOn) {
  asio::io_context loop(2);
  std::promise<void> answer;
  const std::shared_future<void> answered = answer.get_future().share();
  int waited = 0;
  int refused = 0;
  for (std::size_t n = 0; n < LoopCrew::kMostHelpers + 4; ++n) {
    asio::post(loop, [&] {
      bool may_wait = false;
      {
        const Aside aside;
        may_wait = aside.may_wait();
        if (may_wait) answered.wait();
      }
      ++(may_wait ? waited : refused);
    });
  }
  asio::post(loop, [&] { answer.set_value(); });
  LoopCrew(loop).run();
  EXPECT_GE(waited, static_cast<int>(LoopCrew::kMostHelpers));
  EXPECT_GE(refused, 1);
  EXPECT_EQ(waited + refused, static_cast<int>(LoopCrew::kMostHelpers) + 4);
}

TEST(LoopCrewConcurrentTest, ALoopThatIsStoppedWaitsForTheHandlersThatWait) {
  asio::io_context loop(2);
  const auto work = asio::make_work_guard(loop);
  std::promise<void> answer;
  bool ended = false;
  asio::post(loop, [&] {
    {
      const Aside aside;
      answer.get_future().wait();
      std::this_thread::sleep_for(20ms);
    }
    ended = true;
  });
  asio::post(loop, [&] {
    loop.stop();
    answer.set_value();
  });
  LoopCrew(loop).run();
  EXPECT_TRUE(ended);
}

TEST(LoopCrewConcurrentTest, OutsideOfACrewNothingHappens) {
  const Aside aside;
  EXPECT_TRUE(aside.may_wait());
}

}  // namespace
}  // namespace sallyport
