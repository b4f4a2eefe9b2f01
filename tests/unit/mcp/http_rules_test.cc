#include "mcp/client/http_rules.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "mcp/client/outlet.h"
#include "mcp/message/json_text.h"
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
  EXPECT_EQ(contradiction({{"mcp-param-count", "7.0"}}, R"({"count":7})"), "");
  EXPECT_EQ(contradiction({{"mcp-param-count", "18446744073709551615"}},
                          R"({"count":18446744073709551615})"),
            "");
  EXPECT_NE(
      contradiction({{"mcp-param-count", "9007199254740993.0"}}, R"({"count":9007199254740992})"),
      "");
  EXPECT_NE(contradiction({{"mcp-param-count", "7.5"}}, R"({"count":7})"), "");
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
  EXPECT_TRUE(accepts(head({{"accept", "a/b ,\t text/event-stream \t;q=1"}}), "text/event-stream"));
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

// Returns the code of the refusal, or 0 if there is none.
std::int64_t refused(Headers headers, std::string_view method, std::string_view params) {
  const Message message = Message::read(request_text("1", method, params), {}).value();
  const auto refusal = refuse_modern(head(std::move(headers)), message);
  return refusal ? refusal->code : 0;
}

TEST(HttpRulesTest, HeadersAndBodyOfAStatelessRequestSayTheSame) {
  const std::string version = R"("io.modelcontextprotocol/protocolVersion":"2026-07-28")";
  const std::string capabilities = R"("io.modelcontextprotocol/clientCapabilities":{})";
  const std::string good = "{\"_meta\":{" + version + "," + capabilities + "}}";
  const std::string named =
      R"({"name":"t","uri":"u","_meta":{)" + version + "," + capabilities + "}}";
  const Headers both{{"mcp-protocol-version", "2026-07-28"}, {"mcp-method", "ping"}};
  const auto with = [&](std::string method, Headers more = {}) {
    more.emplace_back("mcp-protocol-version", "2026-07-28");
    more.emplace_back("mcp-method", std::move(method));
    return more;
  };
  EXPECT_EQ(refused(both, "ping", good), 0);
  EXPECT_EQ(refused({{"mcp-method", "ping"}}, "ping", good), kHeaderMismatch);
  EXPECT_EQ(refused(with("ping", {{"mcp-protocol-version", "2026-07-28"}}), "ping", good),
            kHeaderMismatch);
  EXPECT_EQ(refused(both, "ping", "{\"_meta\":{" + capabilities + "}}"), kInvalidParams);
  EXPECT_EQ(refused(both, "ping", "{\"_meta\":{" + version + "}}"), kInvalidParams);
  EXPECT_EQ(refused(with("ping", {{"mcp-method", "ping"}}), "ping", good), kHeaderMismatch);
  EXPECT_EQ(refused(with("pong"), "ping", good), kHeaderMismatch);
  EXPECT_EQ(refused(with("=?base64?x?="), "ping", good), kHeaderMismatch);
  EXPECT_EQ(refused({{"mcp-protocol-version", "2030-01-01"}, {"mcp-method", "ping"}}, "ping",
                    R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2030-01-01"}})"),
            kUnsupportedVersion);
  EXPECT_EQ(refused(with("initialize"), "initialize", good), kMethodNotFound);
  EXPECT_EQ(refused(with("tools/call", {{"mcp-name", "t"}}), "tools/call", named), 0);
  EXPECT_EQ(refused(with("tools/call", {{"mcp-name", "other"}}), "tools/call", named),
            kHeaderMismatch);
  EXPECT_EQ(refused(with("tools/call"), "tools/call", named), kHeaderMismatch);
  EXPECT_EQ(refused(with("tools/call"), "tools/call", good), kInvalidParams);
  EXPECT_EQ(refused(with("resources/read", {{"mcp-name", "u"}}), "resources/read", named), 0);
  EXPECT_EQ(refused(with("prompts/get", {{"mcp-name", "t"}}), "prompts/get", named), 0);
  const Message answer = Message::read(result_text("1", "{}"), {}).value();
  EXPECT_EQ(refuse_modern(head(both), answer)->code, kInvalidRequest);
  const Message told = Message::read(notification_text("x", "{}"), {}).value();
  EXPECT_FALSE(refuse_modern(head({}), told));
}

TEST(HttpRulesTest, TheEraOfARequestIsInItsBodyOrItsVersion) {
  const auto modern = [](Headers headers, std::string_view method, std::string_view params) {
    return is_modern(head(std::move(headers)),
                     Message::read(request_text("1", method, params), {}).value());
  };
  const std::string meta = R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}})";
  EXPECT_TRUE(modern({}, "ping", meta));
  EXPECT_FALSE(modern({}, "ping", "{}"));
  EXPECT_TRUE(modern({{"mcp-protocol-version", "2026-07-28"}}, "ping", "{}"));
  EXPECT_FALSE(modern({{"mcp-protocol-version", "2025-06-18"}}, "ping", "{}"));
  EXPECT_FALSE(
      modern({{"mcp-protocol-version", "2026-07-28"}, {"mcp-session-id", "s"}}, "ping", "{}"));
  EXPECT_FALSE(modern({{"mcp-protocol-version", "2026-07-28"}}, "initialize", "{}"));
  EXPECT_FALSE(refuse_legacy(head({})));
  EXPECT_FALSE(refuse_legacy(head({{"mcp-protocol-version", "2024-11-05"}})));
  EXPECT_TRUE(refuse_legacy(head({{"mcp-protocol-version", "2026-07-28"}})));
  EXPECT_TRUE(refuse_legacy(
      head({{"mcp-protocol-version", "2024-11-05"}, {"mcp-protocol-version", "2024-11-05"}})));
}

Async<std::string> heard_of(Outlet& outlet, int most = 100) {
  std::string heard;
  for (int i = 0; i < most; ++i) {
    const auto event = co_await outlet.next(0, 1ms);
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
  // A dropped message cannot be sent again.
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
  const auto none = co_await outlet.next(0, 10s);
  EXPECT_FALSE(none);
  co_return true;
}

Async<bool> at_the_limits() {
  Outlet outlet(co_await boost::asio::this_coro::executor, 1,
                {.waiting_bytes = 10, .kept_events = 9, .kept_bytes = 3});
  EXPECT_TRUE(outlet.put("aaaaa", false));
  EXPECT_TRUE(outlet.put("bbbbb", false)) << "as much as may wait";
  EXPECT_FALSE(outlet.put("c", false));
  std::string heard = co_await heard_of(outlet);
  EXPECT_EQ(heard, "aaaaabbbbb");
  EXPECT_EQ(outlet.bytes(), 0u) << "more than is kept";
  EXPECT_TRUE(outlet.put("ddd", false));
  heard = co_await heard_of(outlet);
  EXPECT_EQ(outlet.bytes(), 3u);
  outlet.rewind(2);
  EXPECT_TRUE(outlet.waits());
  outlet.wake();
  auto none = co_await outlet.next(0, 10s);
  EXPECT_FALSE(none) << "it was woken";
  heard = co_await heard_of(outlet);
  EXPECT_EQ(heard, "ddd");
  outlet.close();
  EXPECT_FALSE(outlet.put("e", true));
  co_return true;
}

Async<bool> taken_over() {
  Outlet outlet(co_await boost::asio::this_coro::executor, 1, {});
  const std::uint64_t first = outlet.take_over();
  EXPECT_TRUE(outlet.put("a", false));
  const std::uint64_t second = outlet.take_over();
  const auto none = co_await outlet.next(first, 10s);
  EXPECT_FALSE(none);
  const auto event = co_await outlet.next(second, 10s);
  EXPECT_EQ(event ? event->text : "", "a");
  co_return true;
}

// A connection that was dead without a sign of it got what the client waited for on another one.
TEST(OutletTest, ALaterReaderTakesThePlaceOfAnEarlierOne) {
  EXPECT_TRUE(test::run_now(taken_over()));
}

TEST(OutletTest, AStreamWaitsKeepsAndIsWokenUpToItsLimits) {
  EXPECT_TRUE(test::run_now(at_the_limits()));
}

TEST(OutletTest, WhatWaitsIsBoundedButTheAnswerIsNeverLost) {
  EXPECT_TRUE(test::run_now(bounded()));
}

}  // namespace
}  // namespace sallyport::mcp
