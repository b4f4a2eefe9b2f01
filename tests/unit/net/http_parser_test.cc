#include "net/http_parser.h"

#include <gtest/gtest.h>

namespace sallyport::net {
namespace {

TEST(HttpParserTest, EveryWayOfCuttingGivesTheSameAnswer) {
  const std::string_view text =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream; x\r\n"
      "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    HttpParser parser(1000);
    for (std::size_t at = 0; at < text.size(); at += piece) {
      ASSERT_TRUE(parser.feed(text.substr(at, piece)));
    }
    EXPECT_TRUE(parser.done() && parser.may_be_reused()) << piece;
    EXPECT_EQ(parser.head().status, 200u);
    EXPECT_EQ(parser.head().content_type(), "text/event-stream");
    EXPECT_EQ(parser.take_body(), "abcde");
  }
}

TEST(HttpParserTest, WhatIsNoHttpIsRefused) {
  for (const char* const text :
       {"SSH-2.0-x\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}) {
    HttpParser parser(1000);
    EXPECT_FALSE(parser.feed(text)) << text;
  }
}

// Lines that continue on the next one were once joined silently.
TEST(HttpParserTest, AFoldedHeaderIsRefusedHoweverItIsCut) {
  const std::string_view text =
      "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n text/event-stream\r\nContent-Length: "
      "0\r\n\r\n";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    HttpParser parser(1000);
    Result<void> fed;
    for (std::size_t at = 0; at < text.size() && fed; at += piece) {
      fed = parser.feed(text.substr(at, piece));
    }
    ASSERT_FALSE(fed) << piece;
    EXPECT_EQ(fed.error().code, ErrorCode::Corrupt);
  }
  HttpParser body(1000);
  EXPECT_TRUE(body.feed("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n a\r\n b\r\n"));
  EXPECT_TRUE(body.done());
}

TEST(HttpParserTest, AHeadHasALimit) {
  HttpParser parser(1000);
  const Result<void> fed = parser.feed("HTTP/1.1 200 OK\r\nX: " + std::string(5000, 'x'));
  ASSERT_FALSE(fed);
  EXPECT_EQ(fed.error().code, ErrorCode::Exhausted);
}

// Answers of any size pass; lines between their chunks have the limit of a head.
TEST(HttpParserTest, WhatStandsBesideAChunkHasALimit) {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string piece(500, 'x');
  for (const std::string& endless : {head + "1;", head + "0\r\nX: "}) {
    HttpParser parser(1000);
    ASSERT_TRUE(parser.feed(endless));
    Result<void> fed;
    for (int i = 0; i < 10 && fed; ++i) fed = parser.feed(piece);
    ASSERT_FALSE(fed) << endless;
    EXPECT_EQ(fed.error().code, ErrorCode::Exhausted);
  }
  HttpParser parser(1000);
  ASSERT_TRUE(parser.feed(head + "186A0;" + piece + "\r\n" + std::string(100'000, 'y')));
  ASSERT_TRUE(parser.feed("\r\n0\r\n\r\n"));
  EXPECT_TRUE(parser.done());
  EXPECT_EQ(parser.take_body().size(), 100'000u);
}

TEST(HttpParserTest, HalfAnAnswerIsNone) {
  HttpParser parser(1000);
  ASSERT_TRUE(parser.feed("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc"));
  EXPECT_TRUE(parser.has_head());
  EXPECT_FALSE(parser.feed_end());
}

TEST(HttpParserTest, BytesBehindAnAnswerEndTheConnection) {
  HttpParser parser(1000);
  ASSERT_TRUE(parser.feed("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 200 OK"));
  EXPECT_TRUE(parser.done());
  EXPECT_FALSE(parser.may_be_reused());
}

}  // namespace
}  // namespace sallyport::net
