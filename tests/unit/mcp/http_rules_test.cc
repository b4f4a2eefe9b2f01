#include "mcp/client/http_rules.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "mcp/client/outlet.h"
#include "support/governed.h"

namespace sallyport::mcp {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;
using namespace std::chrono_literals;

net::ServerRequest head(Headers headers) {
  return {.method = "POST", .headers = std::move(headers)};
}

std::string contradiction(Headers headers, std::string_view input) {
  const json::value schema = json::parse(R"({"type":"object","properties":{
    "region":{"type":"string","x-mcp-header":"Region"},
    "count":{"type":"integer","x-mcp-header":"Count"},
    "deep":{"type":"object","properties":{"on":{"type":"boolean","x-mcp-header":"On"}}},
    "list":{"type":"array","items":{"properties":{"x":{"x-mcp-header":"Never"}}}}}})");
  return argument_contradiction(head(std::move(headers)), schema, json::parse(input));
}

TEST(HttpRulesTest, ArgumentsAreComparedAsWhatTheyAre) {
  EXPECT_EQ(contradiction({}, "{}"), "");
  EXPECT_EQ(contradiction({}, R"({"region":null})"), "");
  EXPECT_EQ(contradiction({{"mcp-param-region", "eu"}}, R"({"region":"eu"})"), "");
  EXPECT_EQ(contradiction({{"mcp-param-region", "=?base64?w6TDtg==?="}}, R"({"region":"äö"})"), "");
  EXPECT_EQ(contradiction({{"mcp-param-count", "7"}}, R"({"count":7})"), "");
  EXPECT_EQ(contradiction({{"mcp-param-count", "007"}}, R"({"count":7.0})"), "");
  EXPECT_EQ(contradiction({{"mcp-param-on", "true"}}, R"({"deep":{"on":true}})"), "");
  EXPECT_EQ(contradiction({{"mcp-param-other", "x"}}, "{}"), "");
  EXPECT_NE(contradiction({}, R"({"region":"eu"})"), "");
  EXPECT_NE(contradiction({{"mcp-param-region", "eu"}}, "{}"), "");
  EXPECT_NE(contradiction({{"mcp-param-region", "EU"}}, R"({"region":"eu"})"), "");
  EXPECT_NE(
      contradiction({{"mcp-param-region", "eu"}, {"mcp-param-region", "eu"}}, R"({"region":"eu"})"),
      "");
  EXPECT_NE(contradiction({{"mcp-param-count", "7x"}}, R"({"count":7})"), "");
  EXPECT_NE(contradiction({{"mcp-param-count", "8"}}, R"({"count":7})"), "");
  EXPECT_NE(contradiction({{"mcp-param-on", "1"}}, R"({"deep":{"on":true}})"), "");
  EXPECT_NE(contradiction({{"mcp-param-region", "=?base64?w6?="}}, R"({"region":"ä"})"), "");
}

TEST(HttpRulesTest, OnlyTextBetweenBothMarksIsDecoded) {
  EXPECT_EQ(header_text("plain"), "plain");
  EXPECT_EQ(header_text("=?base64?SGVsbG8=?="), "Hello");
  EXPECT_EQ(header_text("=?base64?SGVsbG8="), "=?base64?SGVsbG8=");
  EXPECT_EQ(header_text("=?base64?SGVsbG8?="), std::nullopt);
  EXPECT_EQ(header_text("=?base64?="), "=?base64?=");
}

TEST(HttpRulesTest, AcceptIsReadWithItsParametersAndWildCards) {
  EXPECT_TRUE(accepts(head({}), "text/event-stream"));
  EXPECT_TRUE(accepts(head({{"accept", "application/json, text/event-stream;q=0.5"}}),
                      "text/event-stream"));
  EXPECT_TRUE(accepts(head({{"accept", "*/*"}}), "text/event-stream"));
  EXPECT_TRUE(accepts(head({{"accept", "Text/*"}}), "text/event-stream"));
  EXPECT_FALSE(accepts(head({{"accept", "application/json"}}), "text/event-stream"));
  EXPECT_FALSE(accepts(head({{"accept", ",;,"}}), "text/event-stream"));
}

TEST(HttpRulesTest, ErrorsOfTheStatelessEraHaveTheirStatus) {
  EXPECT_EQ(status_of_error(kMethodNotFound), 404u);
  EXPECT_EQ(status_of_error(kHeaderMismatch), 400u);
  EXPECT_EQ(status_of_error(kMissingCapability), 400u);
  EXPECT_EQ(status_of_error(kUnsupportedVersion), 400u);
  EXPECT_EQ(status_of_error(kInvalidParams), 200u);
  EXPECT_EQ(status_of_error(kDenied), 200u);
}

Async<std::string> heard_of(Outlet& outlet, int most = 100) {
  std::string heard;
  for (int i = 0; i < most; ++i) {
    const auto event = co_await outlet.next(1ms);
    if (!event) break;
    heard += event->text;
  }
  co_return heard;
}

Async<bool> come_back() {
  Outlet outlet(co_await boost::asio::this_coro::executor, 1,
                {.waiting_bytes = 10, .kept_events = 2, .kept_bytes = 100});
  for (const char* const text : {"a", "b", "c", "d"}) EXPECT_TRUE(outlet.put(text, false));
  std::string heard = co_await heard_of(outlet, 3);
  EXPECT_EQ(heard, "abc");
  outlet.rewind(2);
  heard = co_await heard_of(outlet);
  EXPECT_EQ(heard, "cd");
  // What is gone cannot be told again.
  outlet.rewind(0);
  heard = co_await heard_of(outlet);
  EXPECT_EQ(heard, "cd");
  outlet.rewind(99);
  heard = co_await heard_of(outlet);
  EXPECT_EQ(heard, "");
  co_return true;
}

TEST(OutletTest, AClientThatComesBackHearsTheNewestOnceMore) {
  EXPECT_TRUE(test::run_now(come_back()));
}

Async<bool> bounded() {
  Outlet outlet(co_await boost::asio::this_coro::executor, 1, {.waiting_bytes = 10});
  EXPECT_TRUE(outlet.put(std::string(50, 'x'), false)) << "one of any size while nothing waits";
  EXPECT_FALSE(outlet.put("y", false));
  EXPECT_TRUE(outlet.put("z", true)) << "the last one always";
  EXPECT_FALSE(outlet.put("after", true));
  const std::string heard = co_await heard_of(outlet);
  EXPECT_EQ(heard, std::string(50, 'x') + "z");
  outlet.close();
  const auto none = co_await outlet.next(10s);
  EXPECT_FALSE(none);
  co_return true;
}

TEST(OutletTest, WhatWaitsIsBoundedButTheAnswerIsNeverLost) {
  EXPECT_TRUE(test::run_now(bounded()));
}

}  // namespace
}  // namespace sallyport::mcp
