// Keeps the probe that decided the compiler: g++ 12.2 destroys a braced temporary in a co_await
// expression twice. Without these tests a compiler that frees memory twice could build the product.
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <set>
#include <string>
#include <vector>

#include "base/async.h"

namespace sallyport {
namespace {

namespace asio = boost::asio;

// Knows which instances are alive, so that a second destruction of one is detected.
class Probe {
 public:
  Probe() { begin(); }
  Probe(const Probe&) { begin(); }
  Probe(Probe&&) noexcept { begin(); }
  Probe& operator=(const Probe&) = default;
  ~Probe() {
    if (alive().erase(this) != 1) ++ended_twice();
  }

  static std::set<const Probe*>& alive() {
    static std::set<const Probe*> set;
    return set;
  }
  static int& ended_twice() {
    static int count = 0;
    return count;
  }

 private:
  void begin() { alive().insert(this); }
};

struct Request {
  std::string name;
  std::vector<std::string> more;
  Probe probe{};
};

// Suspends once, as a real operation does, before it reads its argument.
Async<std::size_t> measure(Request request) {
  co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
  co_return request.name.size() + request.more.size();
}

Async<std::size_t> measure_called(std::string suffix, auto make) {
  co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
  co_return make(suffix).name.size();
}

template <class Start>
std::size_t run(Start start) {
  Probe::alive().clear();
  Probe::ended_twice() = 0;
  asio::io_context context;
  std::size_t answer = 0;
  asio::co_spawn(context, start(), [&answer](const std::exception_ptr& error, std::size_t size) {
    EXPECT_EQ(error, nullptr);
    answer = size;
  });
  context.run();
  return answer;
}

void expect_every_end_once() {
  EXPECT_EQ(Probe::ended_twice(), 0);
  EXPECT_TRUE(Probe::alive().empty());
}

Async<std::size_t> braced() {
  const std::string text(100, 'x');
  co_return co_await measure({text + "t", {}});
}

Async<std::size_t> braced_with_a_list() {
  const std::string text(100, 'x');
  co_return co_await measure(Request{.name = text + "t", .more = {text, text + "u"}});
}

Async<std::size_t> capturing() {
  const std::string text(100, 'x');
  const Probe probe;
  co_return co_await measure_called(
      text, [text, probe](const std::string& suffix) { return Request{text + suffix, {}}; });
}

Async<std::size_t> in_a_condition() {
  const std::string text(100, 'x');
  if (co_await measure({text, {text}}) == 101 && co_await measure({text + "u", {}}) == 101) {
    co_return 1;
  }
  co_return 0;
}

TEST(ToolchainTest, ABracedTemporaryInAnAwaitIsDestroyedOnce) {
  EXPECT_EQ(run(braced), 101U);
  expect_every_end_once();
}

TEST(ToolchainTest, AnAggregateWithAListInAnAwaitIsDestroyedOnce) {
  EXPECT_EQ(run(braced_with_a_list), 103U);
  expect_every_end_once();
}

TEST(ToolchainTest, ACapturingLambdaInAnAwaitIsDestroyedOnce) {
  EXPECT_EQ(run(capturing), 200U);
  expect_every_end_once();
}

TEST(ToolchainTest, TemporariesInAnAwaitedConditionAreDestroyedOnce) {
  EXPECT_EQ(run(in_a_condition), 1U);
  expect_every_end_once();
}

}  // namespace
}  // namespace sallyport
