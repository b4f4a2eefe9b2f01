#include "net/sse_parser.h"

#include <gtest/gtest.h>

#include <vector>

namespace sallyport::net {
namespace {

std::vector<SseEvent> events(SseParser& parser, std::string_view text, std::size_t piece = 1000) {
  std::vector<SseEvent> seen;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    parser.feed(text.substr(at, piece));
    while (auto event = parser.next()) seen.push_back(std::move(*event));
  }
  return seen;
}

TEST(SseParserTest, EveryWayOfCuttingGivesTheSameEvents) {
  const std::string_view text =
      "\xEF\xBB\xBF: hello\r\nid: 1\r\nevent: message\r\ndata: {\"a\":\r\ndata:  1}\r\n\r\n"
      "retry: 1500\rdata\r\rdata: x\nunknown: y\nno colon\n\nid\ndata: never ended\n";
  SseParser whole(100);
  const std::vector<SseEvent> expected = events(whole, text);
  ASSERT_EQ(expected.size(), 3u);
  EXPECT_EQ(expected[0], (SseEvent{.name = "message", .data = "{\"a\":\n 1}"}));
  EXPECT_EQ(expected[1], SseEvent{});
  EXPECT_EQ(expected[2].data, "x");
  for (std::size_t piece = 1; piece < text.size(); ++piece) {
    SseParser parser(100);
    EXPECT_EQ(events(parser, text, piece), expected) << piece;
    EXPECT_EQ(parser.retry(), std::chrono::milliseconds(1500));
    EXPECT_EQ(parser.last_id(), "");
  }
}

TEST(SseParserTest, AnEventWithoutDataOnlyMovesTheId) {
  SseParser parser(100);
  EXPECT_TRUE(events(parser, "id: 7\n\n: only a comment\n\nevent: x\n\n").empty());
  EXPECT_EQ(parser.last_id(), "7");
}

TEST(SseParserTest, NothingIsDearerThanTheLimit) {
  SseParser parser(10);
  const std::string flood(100'000, 'x');
  const auto seen = events(parser, "data: " + flood + "\"id\":7}\n\ndata: short\n\n:" + flood +
                                       "\nid: " + flood + "\nretry: 99999999999999\n");
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_TRUE(seen[0].too_long);
  EXPECT_EQ(seen[0].data, "xxxxxxxxxx");
  EXPECT_TRUE(seen[0].tail.ends_with("\"id\":7}"));
  EXPECT_FALSE(seen[1].too_long);
  EXPECT_EQ(seen[1].data, "short");
  EXPECT_EQ(parser.last_id(), "");
  EXPECT_EQ(parser.retry(), std::nullopt);
}

TEST(SseParserTest, ManyLinesOfDataAreOneEventWithinTheLimit) {
  SseParser parser(8);
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "data: ab\n";
  const auto seen = events(parser, text + "\n");
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].data, "ab\nab\nab");
  EXPECT_TRUE(seen[0].too_long);
}

TEST(SseParserTest, AnIdWithANullIsNone) {
  SseParser parser(100);
  parser.feed(std::string_view("id: a\0b\n\n", 9));
  EXPECT_EQ(parser.next(), nullptr);
  EXPECT_EQ(parser.last_id(), "");
}

}  // namespace
}  // namespace sallyport::net
