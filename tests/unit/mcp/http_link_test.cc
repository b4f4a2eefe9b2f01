#include "mcp/client/http_link.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>

#include "mcp/message/json_text.h"

namespace sallyport::mcp {
namespace {

std::size_t allocated() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

// The requests of a batch arrived in one body, which none of them needs while it waits.
TEST(HttpLinkTest, RequestsThatWaitKeepNoBody) {
  for (const bool shared : {false, true}) {
    boost::asio::io_context loop;
    HttpLink link(loop.get_executor(), {.shared = shared});
    net::ServerRequest head{.method = "POST"};
    head.headers.emplace_back("mcp-method", "ping");
    head.body = std::string(4u << 20, 'x');
    const std::size_t before = allocated();
    for (int i = 0; i < 16; ++i) {
      ASSERT_TRUE(link.ask(*Message::read(request_text(std::to_string(i), "ping", ""), {}), head));
    }
    EXPECT_LT(allocated() - before, 4u << 20) << shared;
  }
}

std::string next_of(boost::asio::io_context& loop, HttpLink& link) {
  // Shared, because waiting work may end after this function returns.
  const auto text = std::make_shared<std::optional<std::string>>();
  boost::asio::co_spawn(loop, link.next(),
                        [text](std::exception_ptr, std::optional<net::Line> line) {
                          *text = line ? line->text : "(none)";
                        });
  loop.restart();
  loop.poll();
  return text->value_or("(waits)");
}

TEST(HttpLinkTest, WhatWaitsIsBoundedByNumberAndBytes) {
  boost::asio::io_context loop;
  HttpLink few(loop.get_executor(), {.limits = {.requests = 2}});
  EXPECT_TRUE(few.receive(notification_text("a", "{}")));
  EXPECT_TRUE(few.receive(notification_text("b", "{}")));
  EXPECT_EQ(few.receive(notification_text("c", "{}")).error().code, ErrorCode::Exhausted);
  EXPECT_EQ(next_of(loop, few), notification_text("a", "{}"));
  EXPECT_TRUE(few.receive(notification_text("c", "{}")));
  const std::string text = notification_text("a", "{}");
  HttpLink small(loop.get_executor(), {.limits = {.queue_bytes = 2 * text.size()}});
  EXPECT_TRUE(small.receive(text));
  EXPECT_TRUE(small.receive(text));
  EXPECT_FALSE(small.receive(text));
  EXPECT_EQ(next_of(loop, small), text);
  EXPECT_TRUE(small.receive(text));
  HttpLink tiny(loop.get_executor(), {.limits = {.queue_bytes = 1}});
  EXPECT_TRUE(tiny.receive(text)) << "one of any size while nothing waits";
  EXPECT_FALSE(tiny.receive(text));
}

TEST(HttpLinkTest, RequestsAreBoundedAndTheirIdsAreTheirOwn) {
  boost::asio::io_context loop;
  HttpLink link(loop.get_executor(), {.limits = {.requests = 2}});
  const auto ask = [&](std::string_view id) {
    const auto asked = link.ask(*Message::read(request_text(id, "ping", ""), {}), {});
    (void)next_of(loop, link);
    return asked ? "" : asked.error().message;
  };
  EXPECT_FALSE(link.busy());
  EXPECT_EQ(ask("1"), "");
  EXPECT_TRUE(link.busy());
  EXPECT_EQ(ask("1"), "this id is in use");
  EXPECT_EQ(ask("2"), "");
  EXPECT_EQ(ask("3"), "too many requests wait; try again later");
  EXPECT_TRUE(link.send(result_text("1", "{}"), {}));
  EXPECT_EQ(ask("3"), "");
  EXPECT_TRUE(link.send(result_text("77", "{}"), {})) << "a client that has left";
}

TEST(HttpLinkTest, ASharedLinkRenamesIdsAndTokensAndBack) {
  boost::asio::io_context loop;
  HttpLink link(loop.get_executor(), {.shared = true});
  const std::string request =
      request_text("\"x\"", "tools/call", R"({"name":"t","_meta":{"progressToken":"mine","a":1}})");
  const auto first = link.ask(*Message::read(request, {}), {});
  const auto second = link.ask(*Message::read(request, {}), {});
  ASSERT_TRUE(first && second) << "ids of several clients do not meet";
  const std::string text = next_of(loop, link);
  EXPECT_EQ(find(text, {"id"}), "1");
  EXPECT_EQ(find(text, {"params", "_meta", "progressToken"}), "1");
  EXPECT_EQ(find(text, {"params", "_meta", "a"}), "1");
  const auto told = [&](const std::string& message, std::string_view about) {
    const auto heard = std::make_shared<std::string>();
    link.send(message, about);
    boost::asio::co_spawn(loop, (*first)->next(0, std::chrono::milliseconds(0)),
                          [heard](std::exception_ptr, std::optional<Outlet::Event> event) {
                            *heard = event ? event->text : "(none)";
                          });
    loop.restart();
    loop.run_for(std::chrono::milliseconds(5));
    return *heard;
  };
  EXPECT_EQ(told(notification_text("notifications/progress", R"({"progressToken":1})"), "1"),
            notification_text("notifications/progress", R"({"progressToken":"mine"})"));
  EXPECT_EQ(told(notification_text("notifications/progress", R"({"progressToken":2})"), "1"),
            notification_text("notifications/progress", R"({"progressToken":2})"));
  EXPECT_EQ(
      told(notification_text("n", R"({"_meta":{"io.modelcontextprotocol/subscriptionId":1}})"),
           "1"),
      notification_text("n", R"({"_meta":{"io.modelcontextprotocol/subscriptionId":"x"}})"));
  EXPECT_EQ(told(notification_text("n", "{}"), ""), "(none)") << "it belongs to no request";
  EXPECT_EQ(told(result_text("1", "{}"), ""), result_text("\"x\"", "{}"));
  EXPECT_EQ(link.standing()->waits(), false);
}

TEST(HttpLinkTest, HeadersThatContradictArgumentsAreSeenByASharedLinkOnly) {
  for (const bool shared : {false, true}) {
    boost::asio::io_context loop;
    HttpLink link(loop.get_executor(), {.shared = shared});
    net::ServerRequest head{.method = "POST"};
    head.headers.emplace_back("mcp-param-region", "us");
    ASSERT_TRUE(link.ask(*Message::read(request_text("1", "tools/call", "{}"), {}), head));
    const json::object property{{"type", "string"}, {"x-mcp-header", "Region"}};
    const json::value schema{{"properties", {{"region", property}}}};
    const json::value input{{"region", "eu"}};
    EXPECT_EQ(link.contradiction("1", schema, input).empty(), !shared);
    EXPECT_TRUE(link.contradiction("2", schema, input).empty());
  }
}

TEST(HttpLinkTest, AClosedLinkTakesAndSendsNothing) {
  boost::asio::io_context loop;
  HttpLink link(loop.get_executor(), {});
  bool ran = false;
  boost::asio::co_spawn(loop, link.run(), [&](std::exception_ptr) { ran = true; });
  const auto asked = link.ask(*Message::read(request_text("1", "ping", ""), {}), {});
  (void)next_of(loop, link);
  EXPECT_FALSE(ran);
  EXPECT_FALSE(link.broken());
  link.close();
  loop.restart();
  loop.poll();
  EXPECT_TRUE(ran);
  EXPECT_TRUE(link.broken());
  EXPECT_TRUE((*asked)->closed());
  EXPECT_TRUE(link.standing()->closed());
  EXPECT_FALSE(link.send(result_text("1", "{}"), {}));
  EXPECT_FALSE(link.receive(notification_text("a", "{}")));
  EXPECT_EQ(next_of(loop, link), "(none)");
  HttpLink hung(loop.get_executor(), {});
  EXPECT_TRUE(hung.receive(notification_text("a", "{}")));
  hung.hang_up();
  EXPECT_EQ(next_of(loop, hung), "(none)");
  EXPECT_EQ(hung.receive(notification_text("a", "{}")).error().code, ErrorCode::Unavailable);
}

TEST(HttpLinkTest, AStreamIsFoundByItsNumberWhileItsRequestWaitsAndAfterwards) {
  boost::asio::io_context loop;
  HttpLink link(loop.get_executor(),
                {.outlet = {.kept_events = 8, .kept_bytes = 100}, .kept_bytes = 2500});
  const auto first = link.ask(*Message::read(request_text("1", "ping", ""), {}), {});
  const auto second = link.ask(*Message::read(request_text("2", "ping", ""), {}), {});
  ASSERT_TRUE(first && second);
  const std::uint64_t number = (*second)->number();
  EXPECT_EQ(link.stream(number), *second);
  EXPECT_EQ(link.stream((*first)->number()), *first);
  EXPECT_EQ(link.stream(0), link.standing());
  EXPECT_EQ(link.stream(number + 1), nullptr);
  EXPECT_TRUE(link.send(result_text("2", "{}"), {}));
  EXPECT_EQ(link.stream(number), *second);
}

// Unread answers are as long as the tools make them.
TEST(HttpLinkTest, AnswersForWhoComesBackAreKeptUpToALimitTheNewestFirst) {
  boost::asio::io_context loop;
  HttpLink link(loop.get_executor(),
                {.outlet = {.kept_events = 8, .kept_bytes = 100}, .kept_bytes = 2500});
  for (int i = 1; i <= 4; ++i) {
    const std::string id = std::to_string(i);
    ASSERT_TRUE(link.ask(*Message::read(request_text(id, "ping", ""), {}), {}));
    EXPECT_TRUE(link.send(result_text(id, '"' + std::string(1000, 'x') + '"'), {}));
  }
  EXPECT_EQ(link.stream(2), nullptr);
  EXPECT_NE(link.stream(3), nullptr);
  EXPECT_NE(link.stream(4), nullptr);
  ASSERT_TRUE(link.ask(*Message::read(request_text("5", "ping", ""), {}), {}));
  EXPECT_TRUE(link.send(result_text("5", '"' + std::string(9000, 'x') + '"'), {}));
  EXPECT_EQ(link.stream(4), nullptr);
  EXPECT_NE(link.stream(5), nullptr);
}

TEST(HttpLinkTest, OnlyTheNewestStreamsAreKeptForWhoComesBack) {
  boost::asio::io_context loop;
  HttpLink link(
      loop.get_executor(),
      {.outlet = {.kept_events = 8, .kept_bytes = 100}, .kept_streams = 2, .kept_bytes = 2500});
  for (int i = 1; i <= 3; ++i) {
    const std::string id = std::to_string(i);
    ASSERT_TRUE(link.ask(*Message::read(request_text(id, "ping", ""), {}), {}));
    EXPECT_TRUE(link.send(result_text(id, "{}"), {}));
  }
  EXPECT_EQ(link.stream(1), nullptr);
  EXPECT_NE(link.stream(2), nullptr);
  EXPECT_NE(link.stream(3), nullptr);
  const std::size_t bytes = link.stream(2)->bytes() + link.stream(3)->bytes();
  ASSERT_GT(bytes, 0u);
  HttpLink full(loop.get_executor(),
                {.outlet = {.kept_events = 8, .kept_bytes = 100}, .kept_bytes = bytes});
  for (int i = 1; i <= 3; ++i) {
    const std::string id = std::to_string(i);
    ASSERT_TRUE(full.ask(*Message::read(request_text(id, "ping", ""), {}), {}));
    EXPECT_TRUE(full.send(result_text(id, "{}"), {}));
    EXPECT_NE(full.stream(i == 3 ? 2 : 1), nullptr) << "as many bytes as are kept";
  }
  EXPECT_EQ(full.stream(1), nullptr);
}

}  // namespace
}  // namespace sallyport::mcp
