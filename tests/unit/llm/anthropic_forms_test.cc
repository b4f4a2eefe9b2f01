// One answer in all its forms: cut in any way, streamed and not.
#include <gtest/gtest.h>

#include "anthropic_samples.h"

namespace sallyport::llm::test::anthropic {
namespace {

std::vector<std::string> samples() {
  const std::string search =
      R"({"type":"web_search_tool_result","tool_use_id":"call_0","content":[{"type":"web_search_result","title":"a SECRET","url":"u","encrypted_content":"b3Bh"}]})";
  const std::string cited =
      start(1, R"({"type":"text","text":"","citations":[]})") +
      delta(
          1,
          R"({"type":"citations_delta","citation":{"type":"char_location","cited_text":"WORD","title":"t"}})") +
      delta(1, R"({"type":"text_delta","text":"cited"})") + stop(1);
  const auto with = [](std::string sse, std::string_view word) {
    for (std::size_t at; (at = sse.find("WORD")) != std::string::npos;) sse.replace(at, 4, word);
    return sse;
  };
  return {
      begin() + text(0, {"plain \u00e9\U0001F600 S", "ECRE", "T end"}) + finish(),
      begin() + text(0, {"a FOR", "BIDDEN b"}) + text(1, {"never"}) + finish(),
      begin() + thinking(0, {"fine S", "ECRE"}) + text(1, {"x"}) + finish(),
      begin() + thinking(0, {"SECRET"}) + text(1, {"x"}) + thinking(2, {"y"}) + finish(),
      begin() + thinking(0, {"FORBIDDEN"}) + call(1, "tool", {"{}"}) + finish("tool_use"),
      begin() + thinking(0, {"a SECRET"}, "") + text(1, {"x"}) + finish(),
      begin() + thinking(0, {"a FORBIDDEN"}, "") + text(1, {"x"}) + finish(),
      begin() + text(0, {"x"}) + call(1, "refused_tool", {"{\"a\":", "1}"}) +
          call(2, "rewritten_tool", {"{\"b\":2}"}) + call(3, "tool", {"{\"c\":[1.50,\"x\"]}"}) +
          finish("tool_use"),
      begin() + call(0, "refused_tool", {"{}"}) + finish("tool_use"),
      begin() + call(0, "tool", {"{\"a\":1}"}) + call(1, "tool", {}) + finish("max_tokens"),
      begin() + call(0, "web_search", {"{\"query\":\"SECRET\"}"}, "server_tool_use") +
          start(1, search) + stop(1) + text(2, {"x"}) + finish(),
      begin() + call(0, "web_search", {"{\"query\":\"FORBIDDEN\"}"}, "server_tool_use") + finish(),
      with(begin() + text(0, {"x"}) + cited + finish(), "SECRET"),
      with(begin() + text(0, {"x"}) + cited + finish(), "FORBIDDEN"),
      begin() + start(0, R"({"type":"redacted_thinking","data":"SECRET"})") + stop(0) +
          start(1, R"({"type":"hologram","frames":["calm"]})") + stop(1) + finish(),
      begin() + start(0, R"({"type":"hologram","frames":["SECRET"]})") + stop(0) + finish(),
      begin() + start(0, R"({"type":"compaction","content":null,"encrypted_content":null})") +
          delta(0,
                R"({"type":"compaction_delta","content":"sum SECRET","encrypted_content":null})") +
          stop(0) + text(1, {"x"}) + finish(),
      begin() +
          start(
              0,
              R"({"type":"compaction","content":"sum SECRET","encrypted_content":"eA","signature":"c2ln"})") +
          stop(0) + text(1, {"x"}) + finish(),
      begin() + text(0, {"x"}) +
          frame(
              R"({"type":"message_delta","delta":{"stop_reason":"refusal","stop_sequence":null,"stop_details":{"type":"refusal","category":null,"explanation":"SECRET"}},"usage":{"output_tokens":4}})") +
          frame(R"({"type":"message_stop"})"),
  };
}

std::vector<AnswerSettings> settings() {
  return {{}, {.end_on_signed_hit = true}, {.block_as_answer = true}, {.json_format = true}};
}

// MP-39
TEST(AnthropicForms, AnyCutOfTheStreamGivesEqualEvents) {
  for (const std::string& sse : samples()) {
    Answer whole;
    ASSERT_TRUE(whole.send(sse)) << sse;
    for (std::size_t first = 1; first < sse.size(); first += 5) {
      Answer cut;
      ASSERT_TRUE(cut.send(sse, std::string_view::npos, first));
      ASSERT_EQ(cut.out.events, whole.out.events) << first << "\n" << sse;
    }
    Answer bytes;
    ASSERT_TRUE(bytes.send(sse, 1));
    EXPECT_EQ(bytes.out.events, whole.out.events) << sse;
  }
}

// MP-38, MP-43
TEST(AnthropicForms, ABodyEqualsWhatAClientAccumulatesFromTheStream) {
  for (const std::string& sse : samples()) {
    for (const AnswerSettings& setting : settings()) {
      const json::value body = accumulate(events_of(sse));
      Answer streamed({}, setting);
      ASSERT_TRUE(streamed.send(sse));
      Answer answer({}, setting);
      const auto left = sallyport::test::run_now(answer.adapter->on_body(json::serialize(body)));
      ASSERT_TRUE(left) << left.error().message << sse;
      json::value expected = streamed.message();
      json::value got = json::parse(*left);
      if (streamed.adapter->observed().block) {  // a stream that is cut has an older usage
        got.as_object()["usage"] = expected.at("usage");
      }
      EXPECT_EQ(got, expected) << sse;
      EXPECT_EQ(answer.adapter->observed().sent_stop_reason,
                streamed.adapter->observed().sent_stop_reason);
      EXPECT_EQ(answer.adapter->observed().block.has_value(),
                streamed.adapter->observed().block.has_value());
      EXPECT_EQ(answer.doors.asked.decided.size(), streamed.doors.asked.decided.size());
      EXPECT_EQ(answer.doors.asked.dropped.size(), streamed.doors.asked.dropped.size());
      EXPECT_TRUE(answer.adapter->complete());
    }
  }
}

// MP-8
TEST(AnthropicForms, WithoutChecksEveryEventLeavesWithTheProvidersBytes) {
  for (std::string sse : samples()) {
    sse.insert(begin().size(), frame(R"({"type": "ping"})"));
    Answer answer({.enforces_output = false, .holds_calls = false});
    ASSERT_TRUE(answer.send(sse));
    std::vector<SentEvent> came = events_of(sse);
    came.back().last = true;
    EXPECT_EQ(answer.out.events, came) << sse;
  }
}

// MP-8
TEST(AnthropicForms, WithoutAChangeABodyLeavesByteForByte) {
  const std::string body =
      "{ \"type\":\"message\",\"id\":\"m\", \"model\":\"c\",\n \"content\": [ "
      "{\"type\":\"text\",\"text\":"
      "\"a \\u0041\"} , "
      "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"tool\",\"input\":{\"n\":1.50}} ],"
      "\"stop_reason\":\"tool_use\", \"usage\":{\"input_tokens\":1,\"output_tokens\":2.0}, "
      "\"x\":null }\n";
  for (const bool checks : {false, true}) {
    Answer answer({.enforces_output = checks, .holds_calls = checks});
    const auto left = sallyport::test::run_now(answer.adapter->on_body(body));
    ASSERT_TRUE(left);
    EXPECT_EQ(*left, body);
    EXPECT_EQ(answer.adapter->observed().response_id, "m");
    EXPECT_EQ(answer.adapter->observed().sent_stop_reason, "tool_use");
  }
}

// MP-45
TEST(AnthropicForms, ABlockedBodyHasTheMembersOfARefusal) {
  Answer answer;
  const auto left = sallyport::test::run_now(answer.adapter->on_body(
      R"({"type":"message","content":[{"type":"text","text":"a FORBIDDEN"},{"type":"text","text":"b"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"output_tokens":9}})"));
  EXPECT_EQ(
      *left,
      R"({"type":"message","content":[{"type":"text","text":"a [withheld]"}],"stop_reason":"refusal","stop_sequence":null,"usage":{"output_tokens":9},"stop_details":{"type":"refusal","category":null,"explanation":"[withheld]"}})");
}

TEST(AnthropicForms, ABodyThatIsNoMessageIsCorrupt) {
  for (const char* const body :
       {"", "[]", "{}", R"({"type":"message"})", R"({"type":"x","content":[]})",
        R"({"type":"message","content":["text"]})"}) {
    Answer answer;
    const auto left = sallyport::test::run_now(answer.adapter->on_body(body));
    ASSERT_FALSE(left) << body;
    EXPECT_EQ(left.error().code, ErrorCode::Corrupt);
  }
}

}  // namespace
}  // namespace sallyport::llm::test::anthropic
