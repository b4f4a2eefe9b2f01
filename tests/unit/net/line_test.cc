#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/this_coro.hpp>
#include <sstream>

#include "net/line_reader.h"
#include "net/line_writer.h"
#include "net/spawn.h"
#include "net/task_group.h"
#include "support/governed.h"

namespace sallyport::net {
namespace {

using Stream = boost::asio::posix::stream_descriptor;
using namespace std::chrono_literals;

Async<std::vector<Line>> lines_of(std::string text, std::size_t limit) {
  const auto executor = co_await boost::asio::this_coro::executor;
  const Result<Pipe> pipe = make_pipe();
  Stream out(executor, pipe->write_end);
  out.native_non_blocking(true);
  Stream in(executor, pipe->read_end);
  LineWriter writer(out, 1 << 20);
  TaskGroup group(executor, {});
  group.start(writer.run());
  std::istringstream in_lines(text);
  for (std::string line; std::getline(in_lines, line);) EXPECT_TRUE(writer.push(line));
  writer.close();
  LineReader reader(in, limit);
  std::vector<Line> lines;
  while (lines.size() < 100) {
    if (writer.waiting() == 0) out.close();
    std::optional<Line> line = co_await reader.next();
    if (!line) break;
    lines.push_back(std::move(*line));
  }
  co_await group.join(1s);
  co_return lines;
}

Async<bool> written(std::string text, int to) {
  Stream out(co_await boost::asio::this_coro::executor, to);
  out.native_non_blocking(true);
  LineWriter writer(out, 1 << 20);
  const bool taken = writer.push(std::move(text));
  EXPECT_TRUE(taken);
  co_return taken;
}

TEST(LineReaderTest, LinesComeOneByOneAndEmptyOnesAreNone) {
  const auto lines = test::run_now(lines_of("one\n\n \r\ntwo\n{\"a\":1}", 100));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].text, "one");
  EXPECT_EQ(lines[2].text, "{\"a\":1}");
}

// A line end between the parts of a message once made the rest a second message, which no guard had
// checked.
TEST(LineWriterTest, AMessageIsOneLineForEveryReader) {
  const Result<Pipe> pipe = make_pipe();
  test::run_now(written("{\"a\":\n{\"b\":\r1}\r\n}", pipe->write_end));
  std::string read(100, '\0');
  read.resize(static_cast<std::size_t>(::read(pipe->read_end, read.data(), read.size())));
  ::close(pipe->read_end);
  EXPECT_EQ(read, "{\"a\": {\"b\": 1}  }\n");
}

TEST(LineReaderTest, ALineOverTheLimitKeepsItsEndsAndTheNextIsWhole) {
  const std::string body(300'000, 'x');
  const auto lines = test::run_now(lines_of("head" + body + "tail\nnext", 1000));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(lines[0].too_long);
  EXPECT_EQ(lines[0].text.size(), 1000u);
  EXPECT_TRUE(lines[0].text.starts_with("head"));
  EXPECT_TRUE(lines[0].tail.ends_with("tail"));
  EXPECT_FALSE(lines[1].too_long);
  EXPECT_EQ(lines[1].text, "next");
}

TEST(LineReaderTest, ALineOfExactlyTheLimitIsWhole) {
  const auto lines =
      test::run_now(lines_of(std::string(1000, 'x') + "\n" + std::string(1001, 'y'), 1000));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_FALSE(lines[0].too_long);
  EXPECT_TRUE(lines[1].too_long);
}

Async<std::vector<bool>> push_into_a_full_pipe(std::size_t bound) {
  const auto executor = co_await boost::asio::this_coro::executor;
  const Result<Pipe> pipe = make_pipe();
  Stream out(executor, pipe->write_end);
  out.native_non_blocking(true);
  Stream in(executor, pipe->read_end);
  LineWriter writer(out, bound);
  std::vector<bool> taken;
  taken.push_back(writer.push(std::string(1 << 20, 'x')));  // more than a pipe holds
  taken.push_back(writer.push(std::string(bound, 'y')));
  co_await writer.room(10ms);
  taken.push_back(writer.waiting() <= bound);
  in.close();
  TaskGroup group(executor, {});
  group.start(writer.run());
  co_await group.join(1s);
  taken.push_back(writer.broken());
  taken.push_back(writer.push("z"));
  co_return taken;
}

TEST(LineWriterTest, WhatNobodyReadsIsBounded) {
  signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(test::run_now(push_into_a_full_pipe(1000)),
            (std::vector<bool>{true, false, false, true, false}));
}

}  // namespace
}  // namespace sallyport::net
