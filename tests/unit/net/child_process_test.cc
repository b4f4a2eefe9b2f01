#include "net/child_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <fstream>

#include "net/line_reader.h"
#include "support/governed.h"

namespace sallyport::net {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

Async<std::unique_ptr<ChildProcess>> started(std::vector<std::string> arguments) {
  const auto executor = co_await asio::this_coro::executor;
  Result<std::unique_ptr<ChildProcess>> child = ChildProcess::start(executor, arguments);
  co_return child ? std::move(*child) : nullptr;
}

Async<std::string> echoed() {
  const auto child = co_await started({"cat"});
  const std::string said = "hello\n";
  co_await asio::async_write(child->input(), asio::buffer(said), asio::use_awaitable);
  LineReader reader(child->output(), 100);
  const std::optional<Line> line = co_await reader.next();
  const ExitStatus exit = co_await child->stop(1s);
  co_return line->text + " " + exit.text();
}

TEST(ChildProcessTest, ItsStreamsAreInOurHandsAndItEndsWithItsInput) {
  EXPECT_EQ(test::run_now(echoed()), "hello exit code 0");
}

// The process that inherits the child may leave it unreaped.
bool ended(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return true;
  return text.substr(text.rfind(')') + 2, 1) == "Z";
}

Async<std::pair<std::string, bool>> stubborn() {
  // Ignores both the end of its input and the request to end, and has a child of its own.
  const auto child = co_await started(
      {"sh", "-c", "trap '' TERM; sleep 60 & echo $!; while true; do sleep 1; done"});
  LineReader reader(child->output(), 100);
  const std::optional<Line> line = co_await reader.next();
  const ExitStatus exit = co_await child->stop(100ms);
  const pid_t grandchild = std::stoi(line->text);
  bool gone = false;
  for (int tries = 0; tries < 200 && !gone; ++tries) {
    gone = ended(grandchild);
    if (!gone) usleep(10'000);
  }
  co_return std::pair(exit.text(), gone);
}

TEST(ChildProcessTest, OneThatDoesNotEndIsKilledWithAllItStarted) {
  const auto [exit, gone] = test::run_now(stubborn());
  EXPECT_EQ(exit, "signal 9");
  EXPECT_TRUE(gone);
}

Async<bool> wait_for_one_that_runs() {
  const auto child = co_await started({"sleep", "60"});
  co_return co_await child->wait(20ms);
}

TEST(ChildProcessTest, AWaitEndsAlsoWhenTheProcessDoesNot) {
  EXPECT_FALSE(test::run_now(wait_for_one_that_runs()));
}

Async<bool> missing() {
  co_return co_await started({"/no/such/program"}) == nullptr;
}

TEST(ChildProcessTest, AMissingProgramIsAnError) {
  EXPECT_TRUE(test::run_now(missing()));
}

}  // namespace
}  // namespace sallyport::net
