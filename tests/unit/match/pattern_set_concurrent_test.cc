#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "match/stream.h"

namespace sallyport::match {

// GR-9 (partly)
TEST(PatternSetConcurrent, StreamsOfManyThreadsShareASetThatIsGivenUpAndMadeAnew) {
  const std::vector<Rule> rules = {
      {.effect = Effect::Redact, .entries = {{.text = "[a-f]{3,6}x"}, {.text = "\\d+-\\d+"}}},
      {.effect = Effect::Block, .entries = {{.text = "stop\\b"}}}};
  const auto set = PatternSet::compile(rules, 4096);
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
