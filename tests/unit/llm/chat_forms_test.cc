// One chat completion in all its forms: cut in any way, streamed and not.
#include <gtest/gtest.h>

#include "chat_samples.h"

namespace sallyport::llm::test::chat {
namespace {

std::vector<std::string> chat_streams() {
  const std::string cited =
      R"({"annotations":[{"type":"url_citation","url_citation":{"start_index":0,"end_index":9,"title":"WORD","url":"u"}}]})";
  const auto with = [](std::string sse, std::string_view word) {
    for (std::size_t at; (at = sse.find("WORD")) != std::string::npos;) sse.replace(at, 4, word);
    return sse;
  };
  std::string strange = chunk(0, "{}", "\"stop\"");
  strange.insert(strange.find("\"delta\""), "\"hologram\":{\"frames\":[\"WORD\",1.50]},");
  return {
      role() + text({"plain \u00e9\U0001F600 S", "ECRE", "T end S"}) + finish() + usage() + done(),
      role() + text({"a FOR", "BIDDEN b"}) + finish() + done(),
      role() + text({"hm SEC", "RET"}, "reasoning_content") + text({"x"}) + finish() + done(),
      role() + text({"hm FORBIDDEN"}, "reasoning_content") + text({"x"}) + finish() + done(),
      role() + text({"no SECRET"}, "refusal") + finish() + done(),
      role() + text({"x"}) + text({"no FORBIDDEN"}, "refusal") + finish() + done(),
      role() + text({"x"}) + call(0, "refused_tool", {"{\"a\":", "1}"}) +
          call(1, "rewritten_tool", {"{\"b\":2}"}) + call(2, "tool", {"{\"c\":1.50}"}) +
          custom(3, "tool", {"se", "lect"}) + finish("tool_calls") + done(),
      role() + call(0, "refused_tool", {"{}"}) + finish("tool_calls") + done(),
      role() + call(0, "tool", {"{}"}) + call(1, "tool", {"{\"cut"}) + finish("length") + done(),
      role() + call(0, "tool", {"{}"}) + text({"FORBIDDEN"}) + finish("tool_calls") + done(),
      role() + frame(chunk(0, R"({"function_call":{"name":"rewritten_tool","arguments":"{}"}})")) +
          finish("function_call") + done(),
      role(0) + text({"a SECRET"}) + role(1) + text({"b FORBIDDEN"}, "content", 1) + role(2) +
          text({"c"}, "content", 2) + finish() + finish("stop", 1) + finish("length", 2) + done(),
      with(role() + text({"the SECRET x"}) + frame(chunk(0, cited)) + finish() + done(), "SECRET"),
      with(role() + text({"the SECRET x"}) + frame(chunk(0, cited)) + finish() + done(),
           "FORBIDDEN"),
      with(role() + text({"x"}) + frame(strange) + done(), "calm"),
      with(role() + text({"x"}) + frame(strange) + done(), "FORBIDDEN"),
      role() + frame(chunk(0, R"({"content":"x"})", "null", R"({"content":[],"refusal":null})")) +
          finish() + done(),
  };
}

std::vector<AnswerSettings> chat_settings() {
  return {
      {.choices = 3}, {.block_as_answer = true, .choices = 3}, {.json_format = true, .choices = 3}};
}

// MP-39
TEST(ChatForms, AnyCutOfTheStreamGivesEqualEvents) {
  for (const std::string& sse : chat_streams()) {
    Answer whole({}, {.choices = 3});
    ASSERT_TRUE(whole.send(sse)) << sse;
    for (std::size_t first = 1; first < sse.size(); first += 5) {
      Answer cut({}, {.choices = 3});
      ASSERT_TRUE(cut.send(sse, std::string_view::npos, first));
      ASSERT_EQ(cut.out.events, whole.out.events) << first << "\n" << sse;
    }
    Answer bytes({}, {.choices = 3});
    ASSERT_TRUE(bytes.send(sse, 1));
    EXPECT_EQ(bytes.out.events, whole.out.events) << sse;
  }
}

// MP-38, MP-53
TEST(ChatForms, ABodyEqualsWhatAClientAccumulatesFromTheStream) {
  for (const std::string& sse : chat_streams()) {
    for (const AnswerSettings& setting : chat_settings()) {
      const json::value body = accumulate(events_of(sse));
      Answer streamed({}, setting);
      ASSERT_TRUE(streamed.send(sse));
      Answer answer({}, setting);
      const auto left = sallyport::test::run_now(answer.adapter->on_body(json::serialize(body)));
      ASSERT_TRUE(left) << left.error().message << sse;
      EXPECT_EQ(without_nulls(json::parse(*left)), streamed.completion()) << sse;
      EXPECT_EQ(answer.adapter->observed().sent_stop_reason,
                streamed.adapter->observed().sent_stop_reason);
      EXPECT_EQ(answer.adapter->observed().block.has_value(),
                streamed.adapter->observed().block.has_value());
      EXPECT_EQ(answer.doors.asked.decided.size(), streamed.doors.asked.decided.size());
      EXPECT_EQ(answer.doors.asked.dropped.size(), streamed.doors.asked.dropped.size());
      EXPECT_EQ(answer.doors.asked.degraded, streamed.doors.asked.degraded);
      EXPECT_TRUE(answer.adapter->complete());
    }
  }
}

// MP-8
TEST(ChatForms, WithoutChecksEveryEventLeavesWithTheProvidersBytes) {
  for (const std::string& sse : chat_streams()) {
    Answer answer({.enforces_output = false, .holds_calls = false}, {.choices = 3});
    ASSERT_TRUE(answer.send(sse));
    std::vector<SentEvent> came = events_of(sse);
    came.back().last = true;
    EXPECT_EQ(answer.out.events, came) << sse;
  }
}

// MP-8
TEST(ChatForms, CallsThatPassLeaveWithTheProvidersBytes) {
  const std::string first = chunk(
      0,
      R"({"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_0","type":"function","function":{"name":"tool","arguments":""}}],"refusal":null})");
  const std::string whole = chunk(
      0,
      R"({"role":"assistant","tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"tool","arguments":"{}"}}]})",
      "\"tool_calls\"");
  for (const std::string& sse :
       {role() + text({"x"}) + call(0, "tool", {"{\"a\":", "1}"}) + call(1, "tool", {"{}"}) +
            finish("tool_calls") + usage() + done(),
        frame(first) + call(0, "tool", {"{}"}) + finish("tool_calls") + done(),
        frame(whole) + done()}) {
    Answer answer;
    ASSERT_TRUE(answer.send(sse));
    std::vector<SentEvent> came = events_of(sse);
    came.back().last = true;
    EXPECT_EQ(answer.out.events, came) << sse;
  }
}

// MP-8
TEST(ChatForms, WithoutChecksOfTheOutputChunksBehindACallKeepTheirOrder) {
  const std::string sse = role(0) + role(1) + call(0, "tool", {"{}"}, 1) + text({"a"}) +
                          call(0, "tool", {"{\"x\":", "1}"}) + call(1, "tool", {"{}"}, 1) +
                          text({"b"}) + finish("tool_calls", 1) + text({"c"}) +
                          finish("tool_calls") + usage() + done();
  Answer answer({.enforces_output = false}, {.choices = 2});
  ASSERT_TRUE(answer.send(sse));
  std::vector<SentEvent> came = events_of(sse);
  came.back().last = true;
  EXPECT_EQ(answer.out.events, came);
  std::string refused = sse;
  refused.replace(refused.find("\"tool\""), 6, "\"refused_tool\"");
  Answer changed({.enforces_output = false}, {.choices = 2});
  ASSERT_TRUE(changed.send(refused));
  EXPECT_EQ(changed.message(1).at("content"), "[refused]");
  EXPECT_EQ(changed.message(1).at("tool_calls").as_array().size(), 1);
  EXPECT_EQ(changed.message(0).at("content"), "abc");
  EXPECT_EQ(changed.message(0).at("tool_calls").as_array().size(), 1);
}

// MP-8
TEST(ChatForms, WithoutAChangeABodyLeavesByteForByte) {
  const std::string body =
      "{ \"id\":\"c\", \"object\":\"chat.completion\",\n \"model\":\"g\",\"choices\": [ "
      "{\"index\":0,"
      "\"message\":{\"role\":\"assistant\",\"content\":\"a "
      "\\u0041\",\"refusal\":null,\"tool_calls\":[{\"id\":"
      "\"t\",\"type\":\"function\",\"function\":{\"name\":\"tool\",\"arguments\":\"{ \\\"a\\\": "
      "1.0 }\"}}],"
      "\"annotations\":[]},\"logprobs\":null,\"finish_reason\":\"tool_calls\"} "
      "],\"x\":{\"y\":1.50}}\n";
  for (const bool checks : {false, true}) {
    Answer answer({.enforces_output = checks, .holds_calls = checks});
    const auto left = sallyport::test::run_now(answer.adapter->on_body(body));
    ASSERT_TRUE(left);
    EXPECT_EQ(*left, body);
    EXPECT_EQ(answer.adapter->observed().response_id, "c");
  }
}

// MP-45
TEST(ChatForms, ABlockedBodyHasNothingBehindTheHit) {
  Answer answer;
  const auto left = sallyport::test::run_now(answer.adapter->on_body(
      R"({"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"a FORBIDDEN","refusal":null,"tool_calls":[{"id":"t","type":"function","function":{"name":"tool","arguments":"{}"}}]},"finish_reason":"tool_calls"}]})"));
  EXPECT_EQ(
      *left,
      R"({"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"a [withheld]","refusal":null},"finish_reason":"content_filter"}]})");
  EXPECT_EQ(answer.doors.asked.dropped.size(), 1);
  Answer top;
  const auto ended = sallyport::test::run_now(top.adapter->on_body(
      R"({"id":"c","hologram":"SECRET","choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}]})"));
  EXPECT_EQ(
      *ended,
      R"({"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"[redacted]"},"finish_reason":"content_filter"}]})");
}

TEST(ChatForms, ABodyThatIsNoCompletionIsCorrupt) {
  for (const char* const body :
       {"", "[]", "{}", R"({"choices":[{"index":0}]})", R"({"choices":[{"message":{}}]})",
        R"({"choices":[{"index":0,"message":{}},{"index":0,"message":{}}]})"}) {
    Answer answer;
    const auto left = sallyport::test::run_now(answer.adapter->on_body(body));
    ASSERT_FALSE(left) << body;
    EXPECT_EQ(left.error().code, ErrorCode::Corrupt);
  }
}

}  // namespace
}  // namespace sallyport::llm::test::chat
