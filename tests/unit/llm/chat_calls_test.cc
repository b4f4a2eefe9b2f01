#include <gtest/gtest.h>

#include "chat_samples.h"

namespace sallyport::llm::test::chat {
namespace {

using Strings = std::vector<std::string>;

// MP-57, MP-43
TEST(ChatCalls, ARefusedCallIsAbsentAndLaterIndicesAreOneLower) {
  Answer answer;
  ASSERT_TRUE(answer.send(role() + text({"x "}) + call(0, "refused_tool", {"{\"a\"", ":1}"}) +
                          call(1, "tool", {"{\"b\":", "2}"}) + finish("tool_calls") + done()));
  EXPECT_EQ(answer.message(), json::parse(R"({"role":"assistant","content":"x [refused]",
      "tool_calls":[{"id":"call_1","type":"function","function":{"name":"tool","arguments":"{\"b\":2}"}}]})"));
  EXPECT_EQ(answer.choice().at("finish_reason"), "tool_calls");
  ASSERT_EQ(answer.doors.asked.decided.size(), 2);
  EXPECT_EQ(answer.doors.asked.decided[0].input, json::parse(R"({"a":1})"));
  EXPECT_EQ(answer.doors.asked.decided[1].id, "call_1");
  EXPECT_EQ(answer.doors.asked.decided[1].type, "function");
}

// MP-57
TEST(ChatCalls, WithoutACallLeftTheChoiceStops) {
  Answer answer;
  // As the provider sends it: the role comes with the first call.
  const std::string first = chunk(
      0,
      R"({"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"refused_tool","arguments":"{}"}}],"refusal":null})");
  ASSERT_TRUE(answer.send(frame(first) + finish("tool_calls") + done()));
  EXPECT_EQ(answer.sent(), (Strings{chunk(0, R"({"role":"assistant","content":"[refused]"})"),
                                    chunk(0, "{}", "\"stop\""), "[DONE]"}));
  EXPECT_EQ(answer.adapter->observed().stop_reason, "tool_calls");
  EXPECT_EQ(answer.adapter->observed().sent_stop_reason, "stop");
}

// MP-58
TEST(ChatCalls, ARewrittenCallLeavesWholeInOneChunk) {
  Answer answer;
  ASSERT_TRUE(answer.send(role() + call(0, "rewritten_tool", {"{\"a\"", ":1}"}) +
                          finish("tool_calls") + done()));
  EXPECT_EQ(
      answer.sent(),
      (Strings{
          chunk(0, R"({"role":"assistant","content":""})"),
          chunk(
              0,
              R"({"tool_calls":[{"index":0,"id":"call_0","type":"function","function":{"name":"rewritten_tool","arguments":"{\"safe\":true}"}}]})"),
          chunk(0, "{}", "\"tool_calls\""), "[DONE]"}));
}

// MP-56
TEST(ChatCalls, NoByteOfACallLeavesBeforeItsDecisionAndTextsDoNotWait) {
  Answer answer;
  Strings before;
  answer.doors.while_deciding = [&] { before = answer.sent(); };
  ASSERT_TRUE(answer.send(role() + call(0, "tool", {"{\"a\"", ":1}"}) + text({"late S"}) +
                          finish("tool_calls") + done()));
  EXPECT_EQ(before, (Strings{chunk(0, R"({"role":"assistant","content":""})"),
                             chunk(0, R"({"content":"late "})"), chunk(0, R"({"content":"S"})")}));
  EXPECT_EQ(answer.message().at("tool_calls").at(0).at("function").at("arguments"), "{\"a\":1}");
}

// MP-55
TEST(ChatCalls, ACustomToolsTextIsItsInput) {
  Answer answer;
  ASSERT_TRUE(
      answer.send(role() + custom(0, "tool", {"select ", "1"}) + finish("tool_calls") + done()));
  EXPECT_EQ(answer.doors.asked.decided[0].input, json::parse(R"({"input":"select 1"})"));
  EXPECT_EQ(answer.doors.asked.decided[0].type, "custom");
  EXPECT_EQ(answer.message().at("tool_calls").at(0).at("custom").at("input"), "select 1");
}

// MP-57, MP-58
TEST(ChatCalls, TheOldFormOfACallIsDecidedToo) {
  const auto stream = [](std::string_view name) {
    return role() +
           frame(chunk(
               0, fmt::format(R"({{"function_call":{{"name":"{}","arguments":""}}}})", name))) +
           frame(chunk(0, R"({"function_call":{"arguments":"{\"a\":1}"}})")) +
           finish("function_call") + done();
  };
  Answer passed;
  ASSERT_TRUE(passed.send(stream("tool")));
  EXPECT_EQ(passed.message().at("function_call"),
            json::parse(R"({"name":"tool","arguments":"{\"a\":1}"})"));
  Answer refused;
  ASSERT_TRUE(refused.send(stream("refused_tool")));
  EXPECT_EQ(refused.message(), json::parse(R"({"role":"assistant","content":"[refused]"})"));
  EXPECT_EQ(refused.choice().at("finish_reason"), "stop");
  Answer rewritten;
  ASSERT_TRUE(rewritten.send(stream("rewritten_tool")));
  EXPECT_EQ(rewritten.message().at("function_call"),
            json::parse(R"({"name":"rewritten_tool","arguments":"{\"safe\":true}"})"));
}

// MP-55
TEST(ChatCalls, ObservedCallsPassAtOnceAndAreRecorded) {
  Answer answer({.enforces_output = false, .holds_calls = false});
  const std::string sse = role() + call(0, "refused_tool", {"{\"a\":1}"}) +
                          call(1, "tool", {"{\"cut"}) + finish("tool_calls") + done();
  ASSERT_TRUE(answer.send(sse));
  std::vector<SentEvent> came = events_of(sse);
  came.back().last = true;
  EXPECT_EQ(answer.out.events, came);
  ASSERT_EQ(answer.doors.asked.decided.size(), 2);
  EXPECT_EQ(answer.doors.asked.decided[1].input, "{\"cut");
}

// MP-59
TEST(ChatCalls, ACallWithoutJsonOrCutByALimitIsNeverHandedOut) {
  for (const Strings& pieces : {Strings{"{\"a\":", "1"}, {"nonsense"}, {"[1]"}, {}}) {
    Answer answer;
    ASSERT_TRUE(answer.send(role() + call(0, "tool", {"{}"}) + call(1, "tool", pieces) +
                            finish("length") + done()));
    EXPECT_EQ(answer.message().at("tool_calls").as_array().size(), 1);
    EXPECT_EQ(answer.message().at("content"), "[dropped]");
    EXPECT_EQ(answer.choice().at("finish_reason"), "length");
    EXPECT_EQ(answer.doors.asked.dropped.at(0).first, "call_1");
  }
  Answer cut;
  ASSERT_TRUE(cut.send(role() + custom(0, "tool", {"drop table"}) + finish("length") + done()));
  EXPECT_TRUE(cut.doors.asked.decided.empty());
  Answer stays;
  ASSERT_TRUE(stays.send(role() + call(0, "tool", {"{"}) + finish("tool_calls") + done()));
  EXPECT_EQ(stays.choice().at("finish_reason"), "tool_calls");
  EXPECT_EQ(stays.message(), json::parse(R"({"role":"assistant","content":"[dropped]"})"));
}

// MP-63
TEST(ChatCalls, ACallWhoseChoiceIsEndedIsNotRun) {
  Answer answer;
  ASSERT_TRUE(answer.send(role() + call(0, "tool", {"{}"}) + text({"FORBIDDEN"}) + done()));
  EXPECT_EQ(
      answer.doors.asked.dropped,
      (std::vector<std::pair<std::string, std::string>>{{"call_0", "its message was ended"}}));
  EXPECT_EQ(answer.message(), json::parse(R"({"role":"assistant","content":"[withheld]"})"));
}

// MP-40
TEST(ChatCalls, PartsOfCallsInOneChunkOrOutOfOrderFindTheirCall) {
  Answer answer;
  ASSERT_TRUE(answer.send(
      role() +
      frame(chunk(
          0,
          R"({"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"tool","arguments":"{\"b\""}},{"index":0,"id":"a","type":"function","function":{"name":"refused_tool","arguments":"{\"a\""}}]})")) +
      frame(chunk(0, R"({"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]})")) +
      frame(chunk(0,
                  R"({"content":"said","tool_calls":[{"index":1,"function":{"arguments":":2}"}}]})",
                  "\"tool_calls\"")) +
      done()));
  EXPECT_EQ(answer.message(), json::parse(R"({"role":"assistant","content":"said[refused]",
      "tool_calls":[{"id":"b","type":"function","function":{"name":"tool","arguments":"{\"b\":2}"}}]})"));
  EXPECT_EQ(answer.doors.asked.decided[0].id, "a");
}

// MP-78 (partly), MP-80 (partly)
TEST(ChatCalls, ArgumentsHaveALimitAndManySmallPartsAreJoined) {
  Answer large;
  const Result<void> sent =
      large.send(role() + call(0, "tool", Strings(17, Strings::value_type(1'000'000, ' '))));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, ErrorCode::Exhausted);
  Answer small;
  Strings pieces(20'000, "ab");
  pieces.front() = "{\"a\":\"";
  pieces.back() = "\"}";
  ASSERT_TRUE(small.send(role() + call(0, "tool", pieces) + finish("tool_calls") + done()));
  EXPECT_LT(small.out.events.size(), 10'000);
  EXPECT_EQ(
      small.message().at("tool_calls").at(0).at("function").at("arguments").as_string().size(),
      39'996 + 8);
}

std::string parts_of(const Strings& parts) {
  std::string sse = role();
  for (const std::string& part : parts) {
    sse += frame(chunk(0, fmt::format(R"({{"tool_calls":[{}]}})", part)));
  }
  return sse + finish("tool_calls") + done();
}

// A client once ran another call than the decided one.
// MP-55, MP-56
TEST(ChatCalls, ACallOfTwoMindsIsCorrupt) {
  const std::string plain =
      R"({"index":0,"id":"k","type":"function","function":{"name":"bash","arguments":"{}"}})";
  for (
      const Strings& parts :
      {Strings{
           R"({"index":0,"id":"k","type":"function","function":{"name":"bash","arguments":"{}"},"custom":{"name":"read","input":"x"}})"},
       {R"({"index":0,"type":"custom","function":{"name":"bash","arguments":"{}"}})"},
       {plain, R"({"index":0,"function":{"name":"read"}})"},
       {plain, R"({"index":0,"id":"other"})"},
       {plain, R"({"index":0,"custom":{"input":"x"}})"},
       {plain, R"({"index":"0","function":{"arguments":""}})"},
       {plain, "\"text\""}}) {
    Answer answer;
    const Result<void> sent = answer.send(parts_of(parts));
    ASSERT_FALSE(sent) << parts.back();
    EXPECT_EQ(sent.error().code, ErrorCode::Corrupt);
    EXPECT_TRUE(answer.doors.asked.decided.empty());
  }
  Answer repeated;
  EXPECT_TRUE(repeated.send(
      parts_of({plain, R"({"index":0,"id":"k","type":"function","function":{"name":"bash"}})"})));
  Answer body;
  EXPECT_FALSE(sallyport::test::run_now(body.adapter->on_body(
      R"({"choices":[{"index":0,"message":{"tool_calls":[{"id":"k","type":"custom"}]},"finish_reason":"tool_calls"}]})")));
}

}  // namespace
}  // namespace sallyport::llm::test::chat
