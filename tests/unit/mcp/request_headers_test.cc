#include "mcp/server/request_headers.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sallyport::mcp {
namespace {

std::optional<std::vector<ParamHeader>> headers_of(std::string_view schema) {
  return param_headers({{"name", "t"}, {"inputSchema", json::parse(std::string(schema))}});
}

TEST(RequestHeadersTest, MarkedArgumentsAreFoundByTheirPath) {
  const auto found = headers_of(
      R"({"properties":{"a":{"type":"object","properties":{"b":{"type":"integer","x-mcp-header":"B"}}},
          "x-mcp-header":{"type":"string"},"c":{"type":"string","default":{"x-mcp-header":1}}}})");
  ASSERT_TRUE(found && found->size() == 1);
  EXPECT_EQ(found->front().header, "B");
  EXPECT_EQ(found->front().path, (std::vector<std::string>{"a", "b"}));
}

TEST(RequestHeadersTest, WhatMustNotBeMarkedMakesAToolUnusable) {
  for (
      const char* const schema :
      {R"({"properties":{"a":{"type":"number","x-mcp-header":"A"}}})",
       R"({"properties":{"a":{"type":"string","x-mcp-header":"A B"}}})",
       R"({"properties":{"a":{"type":"string","x-mcp-header":""}}})",
       R"({"properties":{"a":{"type":"string","x-mcp-header":7}}})",
       R"({"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}})",
       R"({"properties":{"a":{"items":{"type":"string","x-mcp-header":"A"}}}})",
       R"({"anyOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]})",
       R"({"type":"string","x-mcp-header":"A"})"}) {
    EXPECT_FALSE(headers_of(schema)) << schema;
  }
}

TEST(RequestHeadersTest, EveryCharacterOfATokenMayBeInAMark) {
  const auto usable = [](char c) {
    const json::object property{{"type", "string"}, {"x-mcp-header", std::string(1, c)}};
    return param_headers({{"inputSchema", {{"properties", {{"a", property}}}}}}).has_value();
  };
  for (const char c : std::string_view("azAZ09!#$%&'*+-.^_`|~")) EXPECT_TRUE(usable(c)) << c;
  for (const char c : std::string_view("@[{/: \"(),;<=>?\\]}")) EXPECT_FALSE(usable(c)) << c;
  EXPECT_TRUE(param_headers({{"name", "t"}})->empty());
}

TEST(RequestHeadersTest, ValuesThatAHeaderCannotCarryAreEncoded) {
  EXPECT_EQ(header_value("plain text"), "plain text");
  EXPECT_EQ(header_value(" x"), "=?base64?IHg=?=");
  EXPECT_EQ(header_value("x "), "=?base64?eCA=?=");
  EXPECT_EQ(header_value("~ ~"), "~ ~");
  EXPECT_EQ(header_value("\x7f"), "=?base64?fw==?=");
  EXPECT_EQ(header_value("=?base64?x"), "=?base64?x");
  EXPECT_EQ(header_value("x?="), "x?=");
  EXPECT_EQ(header_value("a\r\nX-Evil: 1"), "=?base64?YQ0KWC1FdmlsOiAx?=");
  EXPECT_EQ(header_value("=?base64?eA==?="), "=?base64?PT9iYXNlNjQ/ZUE9PT89?=");
}

TEST(RequestHeadersTest, HeadersSayWhatTheBodySays) {
  const Result<Message> request = Message::read(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":
          {"s":"x","n":5.0,"b":true,"o":{},"z":null},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})",
      {});
  const std::vector<ParamHeader> params{{{"s"}, "S"}, {{"n"}, "N"}, {{"b"}, "B"},
                                        {{"o"}, "O"}, {{"z"}, "Z"}, {{"s", "x"}, "X"}};
  const net::HttpHeaders expected{{"MCP-Protocol-Version", "2026-07-28"},
                                  {"Mcp-Method", "tools/call"},
                                  {"Mcp-Name", "t"},
                                  {"Mcp-Param-S", "x"},
                                  {"Mcp-Param-N", "5"},
                                  {"Mcp-Param-B", "true"}};
  EXPECT_EQ(modern_headers(*request, params), expected);
  const auto number = [](std::string_view text) {
    const Result<Message> one = Message::read(
        R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"n":)" +
            std::string(text) + "}}}",
        {});
    const net::HttpHeaders given = modern_headers(*one, {{{"n"}, "N"}});
    return given.back().first == "Mcp-Param-N" ? given.back().second : "(none)";
  };
  EXPECT_EQ(number("9007199254740992.0"), "9007199254740992");
  EXPECT_EQ(number("-9007199254740992.0"), "-9007199254740992");
  EXPECT_EQ(number("9007199254740994.0"), "(none)");
  EXPECT_EQ(number("0.5"), "(none)");
}

}  // namespace
}  // namespace sallyport::mcp
