#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "match/stream.h"

namespace sallyport::match {

// With little room the states are discarded and rebuilt all the time; with much, every thread finds
// the states that another one has just made.
class PatternSetConcurrent : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Rooms, PatternSetConcurrent,
                         testing::Values(4096, 64 << 10, std::size_t{64} << 20));

// GR-9 (partly)
TEST_P(PatternSetConcurrent, StreamsOfManyThreadsShareASet) {
  const std::vector<Rule> rules = {
      {.effect = Effect::Redact, .entries = {{.text = "[a-f]{3,6}x"}, {.text = "\\d+-\\d+"}}},
      {.effect = Effect::Log, .entries = {{.text = "[a-z]{2,9}@x"}, {.text = "\\b\\d{3}\\b"}}},
      {.effect = Effect::Block, .entries = {{.text = "stop\\b"}}}};
  const auto set = PatternSet::compile(rules, GetParam());
  ASSERT_TRUE(set);
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += "abc" + std::to_string(i * 37) + (i % 3 == 0 ? "-" : "x") + std::to_string(i) + "ffx ";
  }
  const auto redact = [&](std::size_t delta) {
    Stream stream(*set);
    std::string out;
    for (std::size_t at = 0; at < text.size(); at += delta) {
      out += stream.push(text.substr(at, delta))->text();
    }
    return out + stream.finish()->text();
  };
  const std::string expected = redact(1);
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i <= 4; ++i) {
    threads.emplace_back([&, i] {
      for (int turn = 0; turn < 5; ++turn) wrong += redact(i) == expected ? 0 : 1;
      wrong += (*set)->find("do not stop, 1-2").size() == 2 ? 0 : 1;
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

}  // namespace sallyport::match
