#include "core/record/log_watch.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <thread>

namespace sallyport::core {
namespace {

using std::chrono::milliseconds;

class SizedLog final : public RecordReader {
 public:
  Result<Moment> moment(const std::vector<FactKey>&) override {
    ++reads;
    return Moment{.size = size};
  }
  Result<std::optional<std::string>> fact(std::string_view, std::string_view) override {
    return std::nullopt;
  }
  Result<std::vector<Fact>> facts(std::string_view) override { return std::vector<Fact>(); }
  Result<json::object> entry(std::uint64_t) override { return json::object(); }

  std::uint64_t size = 7;
  int reads = 0;
};

Async<void> wait_once(LogWatch& watch, std::string key, int& returned) {
  co_await watch.wait(std::move(key), milliseconds(10), {});
  ++returned;
}

TEST(LogWatchTest, OneOfThoseWhoWaitLooksForAll) {
  SizedLog log;
  LogWatch watch(log);
  boost::asio::io_context loop(1);
  int returned = 0;
  for (int n = 0; n < 50; ++n) {
    boost::asio::co_spawn(loop, wait_once(watch, std::to_string(n), returned),
                          boost::asio::detached);
  }
  loop.run();
  EXPECT_EQ(returned, 50);
  EXPECT_EQ(log.reads, 1);
}

// The reader has left and may not return.
TEST(LogWatchTest, AfterOneHasLookedTheNextCanLook) {
  SizedLog log;
  LogWatch watch(log);
  boost::asio::io_context loop(1);
  int returned = 0;
  for (int n = 1; n <= 3; ++n) {
    boost::asio::co_spawn(loop, wait_once(watch, "a", returned), boost::asio::detached);
    loop.run();
    loop.restart();
    EXPECT_EQ(log.reads, n);
  }
}

TEST(LogWatchTest, OneReadOfTheSizeServesAllWhoAskAtOnce) {
  SizedLog log;
  LogWatch watch(log);
  for (int n = 0; n < 1000; ++n) {
    std::uint64_t seen = 0;
    EXPECT_TRUE(watch.grown(seen));
    EXPECT_EQ(seen, 7u);
    EXPECT_FALSE(watch.grown(seen));
  }
  EXPECT_LT(log.reads, 20);
}

TEST(LogWatchTest, GrowthIsToldOnceToEach) {
  SizedLog log;
  LogWatch watch(log);
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  EXPECT_TRUE(watch.grown(first));
  EXPECT_TRUE(watch.grown(second));
  log.size = 8;
  while (!watch.grown(first)) std::this_thread::yield();  // until the size is read again
  EXPECT_EQ(first, 8u);
  EXPECT_TRUE(watch.grown(second));
  EXPECT_FALSE(watch.grown(second));
}

// A log whose size cannot be read may have grown.
TEST(LogWatchTest, WithoutASizeEveryoneLooksForItself) {
  SizedLog log;
  log.size = 0;
  LogWatch watch(log);
  std::uint64_t seen = 0;
  EXPECT_TRUE(watch.grown(seen));
  EXPECT_TRUE(watch.grown(seen));
}

}  // namespace
}  // namespace sallyport::core
