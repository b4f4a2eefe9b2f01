#include "mcp/message.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "mcp/forwarded_call.h"

namespace sallyport::mcp {
namespace {

Result<Message> read(std::string text) {
  return Message::read(std::move(text), {});
}

TEST(MessageTest, RequestsNotificationsAndResponsesAreToldApart) {
  const auto request = read(R"({"jsonrpc":"2.0","id":"a","method":"m","params":{"x":1.0}})");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->kind, Message::Kind::Request);
  EXPECT_EQ(request->id, "\"a\"");
  EXPECT_EQ(request->params_text(), R"({"x":1.0})");
  EXPECT_EQ(request->with_id("5"), R"({"jsonrpc":"2.0","id":5,"method":"m","params":{"x":1.0}})");
  EXPECT_EQ(read(R"({"jsonrpc":"2.0","method":"m"})")->kind, Message::Kind::Notification);
  const auto response = read(R"({"jsonrpc":"2.0","id":1,"result":{"a":2}})");
  EXPECT_EQ(response->kind, Message::Kind::Response);
  EXPECT_EQ(response->result_text(), R"({"a":2})");
  EXPECT_TRUE(read(R"({"jsonrpc":"2.0","id":1,"error":{}})")->is_error());
}

TEST(MessageTest, WhatIsNoMessageIsRefusedWithItsCause) {
  EXPECT_EQ(read("hello").error().cause, "parse");
  EXPECT_EQ(read(R"({"jsonrpc":"2.0","id":1,"id":2,"method":"m"})").error().cause, "parse");
  for (const char* const text :
       {"1", "[]", "{}", R"({"jsonrpc":"1.0","id":1,"method":"m"})",
        R"({"jsonrpc":"2.0","id":{},"method":"m"})", R"({"jsonrpc":"2.0","id":1.5,"method":"m"})",
        R"({"jsonrpc":"2.0","id":null,"method":"m"})", R"({"jsonrpc":"2.0","method":1})",
        R"({"jsonrpc":"2.0","id":1,"method":"tools/call\u0000"})",
        R"({"jsonrpc":"2.0","id":1,"method":"tools/call "})",
        R"({"jsonrpc":"2.0","id":1,"method":"tools\u2044call"})", R"({"jsonrpc":"2.0","id":1})",
        R"({"jsonrpc":"2.0","id":1,"result":1,"error":2})"}) {
    const auto message = read(text);
    ASSERT_FALSE(message) << text;
    EXPECT_EQ(message.error().cause, "request") << text;
  }
}

TEST(MessageTest, TheIdOfAWreckIsFoundAtEitherEnd) {
  EXPECT_EQ(id_in_wreck(R"({"jsonrpc":"2.0","id":12,"result":{"te)", ""), "12");
  EXPECT_EQ(id_in_wreck(R"({"result":{"text":"xxx)", R"(xxx"},"jsonrpc":"2.0","id":"k"})"),
            "\"k\"");
  EXPECT_EQ(id_in_wreck("nothing", "nothing"), "");
  EXPECT_EQ(id_in_wreck(R"({"id":[1]})", R"({"id":[1]})"), "");
}

TEST(AskedTest, ACallIsItsToolAndItsArguments) {
  const auto request = read(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1},"_meta":{"progressToken":1}}})");
  const auto asked = read_asked(*request);
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->tool, "add");
  EXPECT_EQ(asked->input, (json::value{{"a", 1}}));
  EXPECT_EQ(asked->raw_input, std::nullopt);
  EXPECT_EQ(params_with_input(*request, R"({"a":2})"),
            R"({"name":"add","arguments":{"a":2},"_meta":{"progressToken":1}})");
}

TEST(AskedTest, NumbersThatADoubleCannotHoldAreKeptAsText) {
  const auto exact = read(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":1},"_meta":{"big":12345678901234567890}}})");
  EXPECT_EQ(read_asked(*exact)->raw_input, std::nullopt);
  const auto inexact = read(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":12345678901234567890}}})");
  EXPECT_EQ(read_asked(*inexact)->raw_input, R"({"a":12345678901234567890})");
}

TEST(AskedTest, OtherMethodsAreCallsOfTheirName) {
  const auto request = read(
      R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///x","_meta":{"k":1}}})");
  const auto asked = read_asked(*request);
  EXPECT_EQ(asked->tool, "resources/read");
  EXPECT_EQ(asked->input, (json::value{{"uri", "file:///x"}}));
  EXPECT_EQ(params_with_input(*request, R"({"uri":"y"})"), R"({"_meta":{"k":1},"uri":"y"})");
}

TEST(AskedTest, ACallWithoutANameOrWithOtherArgumentsIsNone) {
  for (const char* const params :
       {R"({})", R"({"name":1})", R"({"name":""})", R"([])", R"({"name":"t","arguments":[1]})",
        R"({"name":"t","arguments":"x"})"}) {
    const auto request = read(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":)" +
                              std::string(params) + "}");
    EXPECT_FALSE(read_asked(*request)) << params;
  }
}

}  // namespace
}  // namespace sallyport::mcp
