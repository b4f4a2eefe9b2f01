#include "mcp/message/model_call_in_meta.h"

#include <gtest/gtest.h>

namespace sallyport::mcp {
namespace {

std::string id_in(const std::string& meta, const std::string& method = "tools/call") {
  const std::string text = R"({"jsonrpc":"2.0","id":1,"method":")" + method +
                           R"(","params":{"name":"read","arguments":{},"_meta":)" + meta + "}}";
  const Result<Message> message = Message::read(text, {});
  EXPECT_TRUE(message) << text;
  return message ? model_call_id(*message) : "(none)";
}

// MP-61
TEST(ModelCallInMeta, TheIdOfTheModelIsReadWhateverTheClientIsCalled) {
  EXPECT_EQ(id_in(R"({"claudecode/toolUseId":"toolu_1"})"), "toolu_1");
  EXPECT_EQ(id_in(R"({"example.com/toolCallId":"call_1"})"), "call_1");
  EXPECT_EQ(id_in(R"({"tool_call_id":"call_2","progressToken":7})"), "call_2");
  EXPECT_EQ(id_in(R"({"a/toolUseId":"x","b/toolCallId":"x"})"), "x");
}

// MP-61
TEST(ModelCallInMeta, WhatIsNoIdOrNamesTwoIsNone) {
  EXPECT_EQ(id_in("{}"), "");
  EXPECT_EQ(id_in(R"({"claudecode/toolUseId":7})"), "");
  EXPECT_EQ(id_in(R"({"claudecode/toolUseId":""})"), "");
  EXPECT_EQ(id_in(R"({"claudecode/toolUseIds":"toolu_1"})"), "");
  EXPECT_EQ(id_in(R"({"a/toolUseId":"x","b/toolCallId":"y"})"), "");
  EXPECT_EQ(id_in(R"({"claudecode/toolUseId":")" + std::string(513, 'a') + "\"}"), "");
  const std::string longest(512, 'a');
  EXPECT_EQ(id_in(R"({"claudecode/toolUseId":")" + longest + "\"}"), longest);
  EXPECT_EQ(id_in(R"({"claudecode/toolUseId":"toolu_1"})", "tools/list"), "");
}

}  // namespace
}  // namespace sallyport::mcp
