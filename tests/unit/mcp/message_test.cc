#include "mcp/message/message.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "mcp/call/forwarded_call.h"

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

// An id beyond 2^53 was once rounded, so that its answer had another id.
TEST(MessageTest, AnIdOf64BitsKeepsAllItsDigits) {
  for (const std::string id :
       {"9007199254740993", "-9007199254740993", "9223372036854775807", "18446744073709551615"}) {
    const std::string head = R"({"jsonrpc":"2.0","id":)" + id;
    EXPECT_EQ(read(head + R"(,"method":"m"})")->id, id);
    EXPECT_EQ(read(head + R"(,"result":{}})")->id, id);
    EXPECT_EQ(id_in_malformed(head + ",", head + ","), id);
    EXPECT_EQ(awaited_id(head + R"(,"method":"m","params":[]})"), id);
    EXPECT_EQ(cancelled_id(*read(
                  notification_text("notifications/cancelled", R"({"requestId":)" + id + "}"))),
              id);
  }
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
        R"({"jsonrpc":"2.0","id":1,"method":"tools/call\u007f"})",
        R"({"jsonrpc":"2.0","id":1,"method":"tools\u2044call"})", R"({"jsonrpc":"2.0","id":1})",
        R"({"jsonrpc":"2.0","id":1,"result":1,"error":2})"}) {
    const auto message = read(text);
    ASSERT_FALSE(message) << text;
    EXPECT_EQ(message.error().cause, "request") << text;
  }
}

void expect_same(const Result<Message>& made, const std::string& text) {
  const Result<Message> wanted = read(text);
  ASSERT_TRUE(made && wanted) << text;
  EXPECT_EQ(made->text, text);
  EXPECT_EQ(made->kind, wanted->kind);
  EXPECT_EQ(made->value, wanted->value);
  EXPECT_EQ(made->id, wanted->id);
  EXPECT_EQ(made->method, wanted->method);
  EXPECT_EQ(made->exact, wanted->exact);
  EXPECT_EQ(made->values, wanted->values);
}

TEST(MessageTest, WhatWeMakeIsWhatWouldBeReadFromItsText) {
  expect_same(Message::make_notification("notifications/x"),
              R"({"jsonrpc":"2.0","method":"notifications/x"})");
  expect_same(Message::make_request("ping", {}, {}), R"({"jsonrpc":"2.0","id":0,"method":"ping"})");
  expect_same(Message::make_request("m", R"({"a": [1.50, {"b":null}]})", {}),
              R"({"jsonrpc":"2.0","id":0,"method":"m","params":{"a": [1.50, {"b":null}]}})");
  expect_same(Message::make_answer(R"({"n":12345678901234567890})", {}),
              R"({"jsonrpc":"2.0","id":0,"result":{"n":12345678901234567890}})");
  EXPECT_EQ(Message::make_request("m ", "{}", {}).error().cause, "request");
  EXPECT_EQ(Message::make_request("m", "[]", {}).error().cause, "request");
  EXPECT_EQ(Message::make_request("m", "{", {}).error().cause, "parse");
}

TEST(MessageTest, AReplacedMemberIsReadWithinTheLimitsOfTheMessage) {
  auto answer = read(R"({"jsonrpc":"2.0","id":7,"result":{"a":[1,2]}})");
  ASSERT_TRUE(answer->replace("result", R"({"a": []})", {}));
  expect_same(answer, R"({"jsonrpc":"2.0","id":7,"result":{"a": []}})");
  const std::string before = answer->text;
  EXPECT_EQ(answer->replace("result", R"({"a": [1]})", {.bytes = before.size()}).error().cause,
            kOverLimit);
  EXPECT_EQ(answer->replace("result", R"({"a":{}})", {.depth = 2}).error().cause, kOverLimit);
  expect_same(answer, before);
}

// PI-27, PI-32: a member beside `result`, `error` or `params` once passed every guard unchecked.
TEST(MessageTest, MembersThatBelongToNoMessageAreLeftOut) {
  const auto result =
      read(R"({"extra":"k", "jsonrpc":"2.0","id":1,"result":{"a": 1.50},"params":{}})");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->text, R"({"jsonrpc":"2.0","id":1,"result":{"a": 1.50}})");
  EXPECT_EQ(result->dropped, 2u);
  EXPECT_FALSE(result->object().contains("extra"));
  const auto asked = read(R"({"jsonrpc":"2.0","id":1,"method":"m","result":"k","error":"k"})");
  EXPECT_EQ(asked->text, R"({"jsonrpc":"2.0","id":1,"method":"m"})");
  const auto told = read(R"({"jsonrpc":"2.0","method":"m","\u0065xtra":1})");
  EXPECT_EQ(told->text, R"({"jsonrpc":"2.0","method":"m"})");
}

TEST(MessageTest, AMessageWithItsOwnMembersAloneStaysTheBytesThatCame) {
  for (const char* const text :
       {R"( { "result" : {"z":12345678901234567890123,"a":1.50}, "id":1 ,"jsonrpc":"2.0"} )",
        R"({"method":"m","params":null,"jsonrpc":"2.0","id":"\u0061"})",
        R"({"jsonrpc":"2.0","id":1,"error":{"data":[1e2],"message":"\u0061","code":-1}})"}) {
    const auto message = read(text);
    ASSERT_TRUE(message) << text;
    EXPECT_EQ(message->text, text);
    EXPECT_EQ(message->dropped, 0u);
  }
}

// Guards see the code, the message and the data of an error, and so does the client.
TEST(MessageTest, AnErrorHasThreeMembersOfTheirTypes) {
  const auto odd = read(
      R"({"jsonrpc":"2.0","id":1,"error":{"code":"k","message":{"k":1},"data":1.50,"hint":"k"}})");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->text,
            R"({"jsonrpc":"2.0","id":1,"error":{"data":1.50,"code":-32603,"message":""}})");
  EXPECT_EQ(odd->dropped, 1u);
  EXPECT_EQ(canonical_json(odd->object().at("error")),
            R"({"code":-32603,"data":1.5,"message":""})");
  EXPECT_FALSE(read(R"({"jsonrpc":"2.0","id":1,"error":"k"})"));
}

TEST(MessageTest, ParamsAreAnObject) {
  for (const char* const params : {"[1]", "\"k\"", "1", "true"}) {
    const std::string text =
        std::string(R"({"jsonrpc":"2.0","method":"m","params":)") + params + '}';
    EXPECT_EQ(read(text).error().cause, "request") << text;
  }
}

TEST(MessageTest, TheSubjectOfARequestIsInTheMemberOfItsMethod) {
  for (const char* const method : {"tools/call", "prompts/get"}) {
    EXPECT_EQ(subject_member(method), "name") << method;
  }
  EXPECT_EQ(subject_member("resources/read"), "uri");
  for (const char* const method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
    EXPECT_EQ(subject_member(method), "taskId") << method;
  }
  for (const char* const method : {"tasks/list", "tools/list", "ping", ""}) {
    EXPECT_EQ(subject_member(method), "") << method;
  }
}

TEST(MessageTest, TheIdOfAWreckIsFoundAtEitherEnd) {
  EXPECT_EQ(id_in_malformed(R"({"jsonrpc":"2.0","id":12,"result":{"te)", ""), "12");
  EXPECT_EQ(id_in_malformed(R"({"result":{"text":"xxx)", R"(xxx"},"jsonrpc":"2.0","id":"k"})"),
            "\"k\"");
  EXPECT_EQ(id_in_malformed("nothing", "nothing"), "");
  EXPECT_EQ(id_in_malformed(R"({"id":[1]})", R"({"id":[1]})"), "");
}

TEST(AskedTest, ACallIsItsToolAndItsArguments) {
  const auto request = read(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1},"_meta":{"progressToken":1}}})");
  const auto asked = read_call_params(*request);
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->tool, "add");
  EXPECT_EQ(asked->input, (json::value{{"a", 1}}));
  EXPECT_EQ(asked->raw_input, std::nullopt);
  EXPECT_EQ(decided_params(*request, *asked, Call{.input = asked->input}), request->params_text());
  EXPECT_EQ(decided_params(*request, *asked, Call{.input = json::object{{"a", 2}}}),
            R"({"name":"add","arguments":{"a":2},"_meta":{"progressToken":1}})");
}

TEST(AskedTest, NumbersThatADoubleCannotHoldAreKeptAsText) {
  const auto exact = read(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":1},"_meta":{"big":12345678901234567890}}})");
  EXPECT_EQ(read_call_params(*exact)->raw_input, std::nullopt);
  const auto inexact = read(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":12345678901234567890}}})");
  EXPECT_EQ(read_call_params(*inexact)->raw_input, R"({"a":12345678901234567890})");
}

TEST(AskedTest, OtherMethodsAreCallsOfTheirName) {
  const auto request = read(
      R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///x","_meta":{"k":1}}})");
  const auto asked = read_call_params(*request);
  EXPECT_EQ(asked->tool, "resources/read");
  EXPECT_EQ(asked->input, (json::value{{"uri", "file:///x"}}));
  EXPECT_EQ(decided_params(*request, *asked, Call{.input = json::object{{"uri", "y"}}}),
            R"({"_meta":{"k":1},"uri":"y"})");
}

TEST(AskedTest, ACallWithoutANameOrWithOtherArgumentsIsNone) {
  for (const char* const params :
       {R"({})", R"({"name":1})", R"({"name":""})", R"({"name":"t","arguments":[1]})",
        R"({"name":"t","arguments":"x"})"}) {
    const auto request = read(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":)" +
                              std::string(params) + "}");
    EXPECT_FALSE(read_call_params(*request)) << params;
  }
}

TEST(MessageTest, AMessageOverALimitIsAnsweredUnderItsIdWithTheLimit) {
  const JsonLimits few{.values = 20};
  const std::string request =
      R"({"jsonrpc":"2.0","method":"tools/call","params":{"n":[1,2,3,4,5,6,7,8,9,10,11]},"id":5})";
  const auto refused = Message::read(request, few);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().cause, kOverLimit);
  EXPECT_EQ(unreadable_text(request, refused.error()),
            R"({"jsonrpc":"2.0","id":5,"error":{"code":-32600,"message":)"
            R"("the message is too large: over 20 values and member names, the limit"}})");
  EXPECT_EQ(Message::read(std::string(200, ' ') + request, {.bytes = 200}).error().cause,
            kOverLimit);
}

TEST(MessageTest, AMessageKnowsWhatItWeighs) {
  const auto small = read(R"({"jsonrpc":"2.0","method":"m"})");
  const auto many = read(R"({"jsonrpc":"2.0","method":"m","params":{"n":[1,1,1,1,1,1,1,1]}})");
  EXPECT_EQ(small->values, 5u);
  EXPECT_EQ(many->values, 17u);
  EXPECT_GT(many->weight(), small->weight() + 12 * 100);
}

// The first thousand members are enough to find an id, and the rest is not read.
TEST(MessageTest, TheIdOfAWreckIsLookedForAmongTheFirstMembersOnly) {
  std::string many = R"({"method":"m")";
  for (int i = 0; i < 2000; ++i) many += R"(,"\u006eame":1)";
  EXPECT_EQ(awaited_id(many + R"(,"id":5})"), "");
  EXPECT_EQ(awaited_id(R"({"method":"m","i\u0064":5})"), "5");
  EXPECT_EQ(awaited_id(R"({"method":"m","id":5,"i\u0064":6})"), "");
}

}  // namespace
}  // namespace sallyport::mcp
