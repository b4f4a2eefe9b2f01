#include <gtest/gtest.h>

#include "anthropic_samples.h"

namespace sallyport::llm::test::anthropic {
namespace {

// MP-57, MP-43
TEST(AnthropicCalls, ARefusedCallIsATextAtItsPlaceAndTheOthersStay) {
  Answer answer;
  ASSERT_TRUE(answer.send(begin() + text(0, {"x"}) + call(1, "refused_tool", {"{\"a\"", ":1}"}) +
                          call(2, "tool", {"{\"b\":", "2}"}) + finish("tool_use")));
  EXPECT_EQ(answer.content(), json::parse(R"([
      {"type":"text","text":"x"},
      {"type":"text","text":"[refused]"},
      {"type":"tool_use","id":"call_2","name":"tool","input":{"b":2}}])"));
  EXPECT_EQ(answer.message().at("stop_reason"), "tool_use");
  ASSERT_EQ(answer.doors.asked.decided.size(), 2);
  EXPECT_EQ(answer.doors.asked.decided[0].input, json::parse(R"({"a":1})"));
  EXPECT_EQ(answer.doors.asked.decided[1].id, "call_2");
}

// MP-57
TEST(AnthropicCalls, WithoutACallLeftTheMessageEndsItsTurn) {
  Answer answer;
  ASSERT_TRUE(answer.send(begin() + call(0, "refused_tool", {"{}"}) + finish("tool_use")));
  EXPECT_EQ(answer.content(), json::parse(R"([{"type":"text","text":"[refused]"}])"));
  EXPECT_EQ(answer.message().at("stop_reason"), "end_turn");
  EXPECT_EQ(answer.adapter->observed().stop_reason, "tool_use");
  EXPECT_EQ(answer.adapter->observed().sent_stop_reason, "end_turn");
}

// MP-58
TEST(AnthropicCalls, ARewrittenCallLeavesWithItsNewInputInOneDelta) {
  Answer answer;
  ASSERT_TRUE(
      answer.send(begin() + call(0, "rewritten_tool", {"{\"a\"", ":1}"}) + finish("tool_use")));
  std::vector<std::string> sent = answer.sent();
  sent.resize(4);
  sent.erase(sent.begin());
  EXPECT_EQ(
      sent,
      (std::vector<std::string>{
          R"({"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"call_0","name":"rewritten_tool","input":{}}})",
          R"({"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"safe\":true}"}})",
          R"({"type":"content_block_stop","index":0})"}));
  EXPECT_EQ(answer.message().at("stop_reason"), "tool_use");
}

// MP-56
TEST(AnthropicCalls, NoByteOfACallLeavesBeforeItsDecision) {
  Answer answer;
  std::size_t sent_before = 0;
  answer.doors.while_deciding = [&] { sent_before = answer.out.events.size(); };
  ASSERT_TRUE(answer.send(begin() + call(0, "tool", {"{\"a\"", ":1}"}) + finish("tool_use")));
  EXPECT_EQ(sent_before, 1);
  EXPECT_EQ(answer.out.events.size(), 7);
}

// MP-55
TEST(AnthropicCalls, ObservedCallsPassAtOnceAndAreRecorded) {
  Answer answer({.enforces_output = false, .holds_calls = false});
  std::size_t sent_before = 0;
  answer.doors.while_deciding = [&] { sent_before = answer.out.events.size(); };
  const std::string sse = begin() + call(0, "refused_tool", {"{\"a\"", ":1}"}) +
                          call(1, "tool", {"{\"cut"}) + finish("tool_use");
  ASSERT_TRUE(answer.send(sse));
  std::vector<SentEvent> came = events_of(sse);
  came.back().last = true;
  EXPECT_EQ(answer.out.events, came);
  EXPECT_EQ(sent_before, 8);
  ASSERT_EQ(answer.doors.asked.decided.size(), 2);
  EXPECT_EQ(answer.doors.asked.decided[0].input, json::parse(R"({"a":1})"));
  EXPECT_EQ(answer.doors.asked.decided[1].input, "{\"cut");
}

// MP-38, MP-59
TEST(AnthropicCalls, ACallWithoutJsonOrCutByALimitIsNeverHandedOut) {
  for (const std::vector<std::string>& pieces :
       {std::vector<std::string>{"{\"a\":", "1"}, {"nonsense"}, {"[1]"}, {}, {""}, {"{\"a\":1}"}}) {
    Answer answer;
    ASSERT_TRUE(answer.send(begin() + call(0, "tool", pieces) + finish("max_tokens")));
    EXPECT_EQ(answer.content(), json::parse(R"([{"type":"text","text":"[dropped]"}])"));
    EXPECT_EQ(answer.message().at("stop_reason"), "max_tokens");
    EXPECT_TRUE(answer.doors.asked.decided.empty());
  }
  Answer stays;
  ASSERT_TRUE(stays.send(begin() + call(0, "tool", {"{"}) + finish("tool_use")));
  EXPECT_EQ(stays.message().at("stop_reason"), "tool_use");
}

// MP-59
TEST(AnthropicCalls, ACallWithoutArgumentsIsHandedOutWhenNoLimitCutIt) {
  Answer answer;
  ASSERT_TRUE(
      answer.send(begin() + call(0, "tool", {""}) + call(1, "tool", {}) + finish("tool_use")));
  EXPECT_EQ(answer.content(), json::parse(R"([
      {"type":"tool_use","id":"call_0","name":"tool","input":{}},
      {"type":"tool_use","id":"call_1","name":"tool","input":{}}])"));
  EXPECT_EQ(answer.doors.asked.decided.size(), 2);
}

// MP-63
TEST(AnthropicCalls, ACallWhoseMessageEndsFirstIsNotRun) {
  Answer answer;
  ASSERT_TRUE(answer.send(begin() + start(0, R"({"type":"text","text":""})") +
                          start(1, R"({"type":"tool_use","id":"c","name":"tool","input":{}})") +
                          delta(0, R"({"type":"text_delta","text":"FORBIDDEN"})") + finish()));
  EXPECT_EQ(answer.doors.asked.dropped,
            (std::vector<std::pair<std::string, std::string>>{{"c", "its message was ended"}}));
  EXPECT_EQ(answer.content(), json::parse(R"([{"type":"text","text":"[withheld]"}])"));
}

// MP-55
TEST(AnthropicCalls, NumbersThatADoubleCannotHoldKeepTheirSpelling) {
  Answer answer;
  ASSERT_TRUE(answer.send(begin() + call(0, "tool", {"{\"n\":12345678901234567890123}"}) +
                          finish("tool_use")));
  EXPECT_EQ(answer.doors.asked.decided[0].raw_input, "{\"n\":12345678901234567890123}");
  EXPECT_NE(answer.out.events[2].data.find("12345678901234567890123"), std::string::npos);
}

// MP-78 (partly)
TEST(AnthropicCalls, ArgumentsAndCallsHaveALimit) {
  Answer large;
  const std::string piece(1'000'000, ' ');
  const Result<void> sent =
      large.send(begin() + call(0, "tool", std::vector<std::string>(17, piece)));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, ErrorCode::Exhausted);
  Answer many;
  std::string sse = begin();
  for (unsigned i = 0; i < 1025; ++i) sse += call(i, "tool", {"{}"});
  const Result<void> counted = many.send(sse);
  ASSERT_FALSE(counted);
  EXPECT_EQ(counted.error().code, ErrorCode::Exhausted);
  EXPECT_EQ(many.doors.asked.decided.size(), 1024);
}

// MP-59
TEST(AnthropicCalls, ACallIsHeldUntilItIsClearThatNoLimitCutIt) {
  const std::string quiet = frame(
      R"({"type":"message_delta","delta":{"stop_reason":null,"stop_sequence":null},"usage":{"output_tokens":9}})");
  const std::string strange = frame(R"({"type":"weather","note":"rain"})");
  for (const std::string& between : {quiet, strange, strange + quiet}) {
    Answer cut;
    ASSERT_TRUE(cut.send(begin() + call(0, "tool", {"{}"}) + between + finish("max_tokens")));
    EXPECT_TRUE(cut.doors.asked.decided.empty());
    EXPECT_EQ(cut.content(), json::parse(R"([{"type":"text","text":"[dropped]"}])"));
    Answer whole;
    const std::string sse = begin() + call(0, "tool", {"{}"}) + between + finish("tool_use");
    ASSERT_TRUE(whole.send(sse));
    std::vector<SentEvent> came = events_of(sse);
    came.back().last = true;
    EXPECT_EQ(whole.out.events, came);
  }
}

// MP-59, MP-66
TEST(AnthropicCalls, ABlockThatIsHeldAtTheEndOfItsMessageFailsTheAnswer) {
  std::string open = call(0, "tool", {"{}"});
  open.resize(open.size() - stop(0).size());
  Answer answer;
  const Result<void> sent = answer.send(begin() + open + finish("tool_use"));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, ErrorCode::Corrupt);
  answer.adapter->fail(answer.out, {});
  EXPECT_EQ(answer.doors.asked.dropped.size(), 1);
  std::string said = text(0, {"x S"});
  said.resize(said.size() - stop(0).size());
  Answer late;
  ASSERT_TRUE(late.send(begin() + said + finish()));
  EXPECT_EQ(late.content().at(0).at("text"), "x S");
}

// MP-56
TEST(AnthropicCalls, OnlyTheDecidedInputLeaves) {
  const auto both = [](std::string_view type) {
    return begin() +
           start(0, fmt::format(
                        R"({{"type":"{}","id":"c","name":"tool","input":{{"command":"push"}}}})",
                        type)) +
           delta(0, R"({"type":"input_json_delta","partial_json":"{\"command\":\"ls\"}"})") +
           stop(0) + finish("tool_use");
  };
  for (const char* const type : {"tool_use", "server_tool_use"}) {
    Answer answer;
    ASSERT_TRUE(answer.send(both(type)));
    EXPECT_EQ(answer.content().at(0).at("input"), json::parse(R"({"command":"ls"})"));
    for (const std::string& sent : answer.sent()) {
      EXPECT_EQ(sent.find("push"), std::string::npos) << sent;
    }
  }
}

}  // namespace
}  // namespace sallyport::llm::test::anthropic
