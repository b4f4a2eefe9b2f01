#include <gtest/gtest.h>

#include "chat_samples.h"

namespace sallyport::llm::test::chat {
namespace {

using Strings = std::vector<std::string>;

// MP-45
TEST(ChatAdapter, ABlockSendsItsNoticeAndEndsTheChoice) {
  Answer answer;
  ASSERT_TRUE(answer.send(role() + text({"so FORB", "IDDEN and more"}) + finish() + done()));
  EXPECT_EQ(answer.sent(),
            (Strings{chunk(0, R"({"role":"assistant","content":""})"),
                     chunk(0, R"({"content":"so "})"), chunk(0, R"({"content":"[withheld]"})"),
                     chunk(0, "{}", "\"content_filter\""), "[DONE]"}));
  EXPECT_TRUE(answer.out.events.back().last);
  EXPECT_TRUE(answer.adapter->complete());
  EXPECT_EQ(answer.adapter->observed().sent_stop_reason, "content_filter");
  EXPECT_EQ(answer.adapter->observed().stop_reason, "");
  EXPECT_TRUE(answer.adapter->observed().block);
}

// MP-9, MP-45: results of a filter come first in a chunk with empty members.
TEST(ChatAdapter, ChunksOfOurOwnAreMadeOfTheFirstOneWithAChoice) {
  Answer answer;
  ASSERT_TRUE(answer.send("data: {\"choices\":[],\"id\":\"\",\"model\":\"\",\"object\":\"\"}\n\n" +
                          role() + text({"so FORBIDDEN"}) + done()));
  EXPECT_EQ(answer.sent().at(3), chunk(0, R"({"content":"[withheld]"})"));
  EXPECT_FALSE(answer.adapter->observed().response_id.empty());
}

// MP-53, MP-45, MP-40
TEST(ChatAdapter, ABlockOfOneChoiceLeavesTheOthersUntouched) {
  Answer answer({}, {.choices = 3});
  ASSERT_TRUE(answer.send(role(0) + text({"a SEC"}) + role(1) + text({"RET FORB"}, "content", 1) +
                          text({"IDDEN"}, "content", 1) + role(2) + text({"RET"}) + finish() +
                          text({"never"}, "content", 1) + text({"two"}, "content", 2) +
                          finish("length", 2) + finish("stop", 1) + usage() + done()));
  EXPECT_EQ(answer.message(0).at("content"), "a [redacted]");
  EXPECT_EQ(answer.message(1).at("content"), "RET [withheld]");
  EXPECT_EQ(answer.choice(1).at("finish_reason"), "content_filter");
  EXPECT_EQ(answer.message(2).at("content"), "two");
  EXPECT_EQ(answer.choice(2).at("finish_reason"), "length");
  EXPECT_EQ(answer.adapter->observed().usage->output_tokens, 40);
  EXPECT_EQ(answer.doors.asked.opened, (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_EQ(answer.out.events.back().data, "[DONE]");
}

// MP-45
TEST(ChatAdapter, TheUpstreamIsCutWhenNoOtherChoiceIsOpen) {
  Answer answer({}, {.choices = 2});
  ASSERT_TRUE(answer.send(role(0) + role(1) + text({"x"}) + finish() +
                          text({"FORBIDDEN"}, "content", 1) + usage() + done()));
  EXPECT_TRUE(answer.adapter->complete());
  EXPECT_FALSE(answer.adapter->observed().usage);
  EXPECT_EQ(answer.out.events.back().data, "[DONE]");
  Answer first({}, {.choices = 2});
  EXPECT_FALSE(first.send(role(0) + text({"FORBIDDEN"})));
  EXPECT_FALSE(first.adapter->complete());
}

// MP-52
TEST(ChatAdapter, WithAJsonFormatTheNoticeStandsInTheRefusal) {
  Answer answer({}, {.json_format = true});
  ASSERT_TRUE(answer.send(role() + text({"{\"a\":\"FORBIDDEN\"}"}) + finish() + done()));
  EXPECT_EQ(answer.message(),
            json::parse(R"({"role":"assistant","content":"{\"a\":\"","refusal":"[withheld]"})"));
  Answer outside({}, {.json_format = true});
  ASSERT_TRUE(outside.send(role() + text({"{\"a\":\"SECRET\",SECRET}"}) + finish() + done()));
  EXPECT_EQ(outside.message().at("content"), "{\"a\":\"[redacted]\",");
  EXPECT_EQ(outside.message().at("refusal"), "[redacted]");
}

// MP-46
TEST(ChatAdapter, ABlockAsAnswerEndsWithTheFinishReasonOfANormalAnswer) {
  Answer answer({}, {.block_as_answer = true});
  ASSERT_TRUE(answer.send(role() + text({"FORBIDDEN"}) + finish() + done()));
  EXPECT_EQ(answer.choice().at("finish_reason"), "stop");
  EXPECT_EQ(answer.message().at("content"), "[withheld]");
  EXPECT_TRUE(answer.adapter->observed().block);
}

// MP-41
TEST(ChatAdapter, ARedactionStandsInTheDeltasAndNothingElseWaits) {
  Answer answer;
  const std::string strange =
      R"({"id":"c1","object":"chat.completion.chunk", "created":7,"model":"gpt-x","choices":[{"delta":{"content":"a SEC"},"index":0,"finish_reason":null}],"obfuscation":"SECRET"})";
  ASSERT_TRUE(answer.send(frame(strange) + text({"RE", "T b S"}) + finish() + done()));
  EXPECT_EQ(
      answer.sent(),
      (Strings{
          R"({"id":"c1","object":"chat.completion.chunk", "created":7,"model":"gpt-x","choices":[{"delta":{"content":"a "},"index":0,"finish_reason":null}],"obfuscation":"SECRET"})",
          chunk(0, R"({"content":"[redacted] b "})"),
          R"({"id":"c1","object":"chat.completion.chunk", "created":7,"model":"gpt-x","choices":[{"index":0,"delta":{"role":"assistant","content":"S"},"logprobs":null,"finish_reason":null}]})",
          chunk(0, "{}", "\"stop\""), "[DONE]"}));
}

// MP-41, MP-40, MP-54
TEST(ChatAdapter, ReasoningRefusalAndTranscriptHaveChannelsOfTheirOwn) {
  Answer answer;
  ASSERT_TRUE(answer.send(
      role() + text({"x SEC"}, "reasoning_content") + text({"RET"}, "reasoning") +
      text({"RET y"}, "reasoning_content") + text({"no SECRET"}, "refusal") +
      frame(chunk(0, R"({"audio":{"id":"au","data":"SECRET","transcript":"SECRET"}})")) + finish() +
      done()));
  EXPECT_EQ(answer.message().at("reasoning_content"), "x [redacted] y");
  EXPECT_EQ(answer.message().at("reasoning"), "RET");
  EXPECT_EQ(answer.message().at("refusal"), "no [redacted]");
  EXPECT_EQ(answer.message().at("audio"),
            json::parse(R"({"id":"au","data":"SECRET","transcript":"[redacted]"})"));
  EXPECT_EQ(answer.doors.asked.pushed[0].channel.kind, ChannelKind::Reasoning);
  EXPECT_EQ(answer.doors.asked.unread, (std::vector<std::pair<std::string, std::string>>{
                                           {"/choices/0/message/audio/data", "audio"}}));
}

// MP-51
TEST(ChatAdapter, LogprobsLeaveAsNullWhileACheckIsArmed) {
  const std::string sse =
      role() + frame(chunk(0, R"({"content":"x"})", "null", R"({"content":[],"refusal":null})")) +
      frame(chunk(0, R"({"content":"y"})", "null", R"({"content":[],"refusal":null})")) + finish() +
      done();
  Answer armed;
  ASSERT_TRUE(armed.send(sse));
  EXPECT_EQ(armed.sent()[1], chunk(0, R"({"content":"x"})"));
  EXPECT_EQ(armed.doors.asked.degraded, Strings{"logprobs"});
  Answer open({.enforces_output = false});
  ASSERT_TRUE(open.send(sse));
  EXPECT_EQ(open.sent()[1],
            chunk(0, R"({"content":"x"})", "null", R"({"content":[],"refusal":null})"));
}

// MP-47
TEST(ChatAdapter, OffsetsOfAnnotationsFollowTheText) {
  const auto cited = [](unsigned start, unsigned end, std::string_view title) {
    return fmt::format(
        R"({{"type":"url_citation","url_citation":{{"start_index":{},"end_index":{},"title":"{}","url":"u"}}}})",
        start, end, title);
  };
  Answer answer;
  ASSERT_TRUE(
      answer.send(role() + text({"\u00e9 SECRET b SEC"}) +
                  frame(chunk(0, fmt::format(R"({{"annotations":[{},{},{},{}]}})", cited(0, 1, "t"),
                                             cited(2, 8, "inside"), cited(9, 10, "SECRET"),
                                             cited(2, 16, "over")))) +
                  text({"RET"}) + finish() + done()));
  EXPECT_EQ(answer.message().at("content"), "\u00e9 [redacted] b [redacted]");
  EXPECT_EQ(answer.message().at("annotations"),
            json::parse("[" + cited(0, 1, "t") + "," + cited(13, 14, "[redacted]") + "," +
                        cited(2, 25, "over") + "]"));
}

// MP-47
TEST(ChatAdapter, AnnotationsOfUnchangedTextLeaveAsTheyCame) {
  Answer answer;
  const std::string sse =
      role() + text({"abc"}) +
      frame(chunk(
          0,
          R"({"annotations":[{"type":"url_citation","url_citation":{"start_index":0, "end_index":3,"title":"t","url":"u"}}]})")) +
      finish() + done();
  ASSERT_TRUE(answer.send(sse));
  std::vector<SentEvent> came = events_of(sse);
  came.back().last = true;
  EXPECT_EQ(answer.out.events, came);
}

// MP-44
TEST(ChatAdapter, UnknownMembersPassOrEndTheChoice) {
  const auto stream = [](std::string_view word, int place) {
    const std::string strange = fmt::format(R"("hologram":{{"frames":["{}",1.50]}})", word);
    std::string data = chunk(0, "{\"content\":\"x\"}");
    if (place == 0) data.insert(data.size() - 1, "," + strange);
    if (place == 1) data.insert(data.find("\"delta\""), strange + ",");
    if (place == 2) data.insert(data.find("\"content\""), strange + ",");
    return role() + frame(data) + finish() + done();
  };
  for (const int place : {0, 1, 2}) {
    Answer clean;
    ASSERT_TRUE(clean.send(stream("calm", place)));
    std::vector<SentEvent> came = events_of(stream("calm", place));
    came.back().last = true;
    EXPECT_EQ(clean.out.events, came);
    EXPECT_EQ(clean.doors.asked.unknown, Strings{"hologram"});
    for (const char* const word : {"SECRET", "FORBIDDEN"}) {
      Answer hit;
      ASSERT_TRUE(hit.send(stream(word, place)));
      EXPECT_EQ(hit.choice().at("finish_reason"), "content_filter");
      EXPECT_FALSE(hit.completion().as_object().contains("hologram"));
      EXPECT_EQ(hit.out.events.back().data, "[DONE]");
    }
  }
  Answer parts;
  ASSERT_TRUE(parts.send(role() +
                         frame(chunk(0, R"({"content":[{"type":"text","text":"SECRET"}]})")) +
                         finish() + done()));
  EXPECT_EQ(parts.choice().at("finish_reason"), "content_filter");
}

// MP-9, MP-44
TEST(ChatAdapter, UnknownMembersOfCallsPassOrEndTheChoice) {
  const auto stream = [](std::string_view word) {
    std::string first = call(0, "tool", {});
    first.insert(first.find("\"id\":\"call_0\""),
                 fmt::format("\"extra\":{{\"note\":\"{}\"}},", word));
    return role() + first + finish("tool_calls") + done();
  };
  Answer clean;
  ASSERT_TRUE(clean.send(stream("calm")));
  EXPECT_EQ(clean.message().at("tool_calls").at(0).at("extra").at("note"), "calm");
  EXPECT_EQ(clean.doors.asked.unknown, Strings{"extra"});
  Answer hit;
  ASSERT_TRUE(hit.send(stream("SECRET")));
  EXPECT_EQ(hit.choice().at("finish_reason"), "content_filter");
  EXPECT_TRUE(hit.doors.asked.decided.empty());
}

// MP-73 (partly)
TEST(ChatAdapter, UsageThatTheClientDidNotAskForStaysHere) {
  std::string data = chunk(0, R"({"content":"x"})");
  data.insert(data.size() - 1, ",\"usage\":null");
  const std::string sse = role() + frame(data) + finish() + usage() + done();
  Answer hidden({}, {.hides_usage = true});
  ASSERT_TRUE(hidden.send(sse));
  EXPECT_EQ(hidden.sent(),
            (Strings{chunk(0, R"({"role":"assistant","content":""})"),
                     chunk(0, R"({"content":"x"})"), chunk(0, "{}", "\"stop\""), "[DONE]"}));
  EXPECT_EQ(hidden.adapter->observed().usage->input_tokens, 25);
  EXPECT_EQ(hidden.adapter->observed().usage->cache_read_input_tokens, 5);
  Answer shown;
  ASSERT_TRUE(shown.send(sse));
  EXPECT_EQ(shown.out.events.size(), 5);
}

// MP-15
TEST(ChatAdapter, KeepAliveIsAChunkWithAnEmptyDeltaForEachOpenChoice) {
  Answer answer({}, {.choices = 3});
  answer.adapter->keep_alive(answer.out);
  EXPECT_TRUE(answer.out.events.empty());
  EXPECT_FALSE(answer.send(role(0) + role(1) + role(2) + finish("stop", 1)));
  answer.out.events.clear();
  answer.adapter->keep_alive(answer.out);
  EXPECT_EQ(answer.sent(), (Strings{chunk(0, "{}"), chunk(2, "{}")}));
}

// MP-15, MP-60 (partly)
TEST(ChatAdapter, KeepAliveWorksWhileACallIsDecided) {
  Answer answer;
  answer.doors.while_deciding = [&] { answer.adapter->keep_alive(answer.out); };
  ASSERT_TRUE(answer.send(role() + call(0, "tool", {"{}"}) + finish("tool_calls") + done()));
  EXPECT_EQ(answer.sent()[1], chunk(0, "{}"));
  EXPECT_EQ(answer.message().at("tool_calls").as_array().size(), 1);
}

// MP-81 (partly), MP-63
TEST(ChatAdapter, AFailureIsAnErrorWithoutDone) {
  Answer answer;
  EXPECT_FALSE(answer.send(role() + call(0, "tool", {"{"})));
  answer.adapter->fail(answer.out, {.status = 502, .message = "ended", .code = "upstream"});
  EXPECT_EQ(
      answer.out.events.back(),
      (SentEvent{
          "",
          R"({"error":{"message":"ended","type":"server_error","param":null,"code":"upstream"}})",
          true}));
  EXPECT_EQ(answer.doors.asked.dropped.size(), 1);
  answer.adapter->fail(answer.out, {});
  EXPECT_EQ(answer.out.events.size(), 2);
}

// MP-68 (partly)
TEST(ChatAdapter, AFailureCanTakeThePlaceOfTheLastFrame) {
  Answer answer;
  ASSERT_TRUE(
      answer.send(role() + text({"x"}) + call(0, "tool", {"{}"}) + finish("tool_calls") + done()));
  answer.adapter->fail(answer.out, {.message = "the ledger cannot be written"});
  EXPECT_NE(answer.out.events.back().data.find("the ledger"), std::string::npos);
  EXPECT_TRUE(answer.out.events.back().last);
  EXPECT_TRUE(answer.doors.asked.dropped.empty());
}

TEST(ChatAdapter, AnErrorOfTheProviderEndsTheAnswer) {
  Answer answer;
  ASSERT_TRUE(answer.send(role() + frame(R"({"error":{"message":"busy SECRET","code":1}})")));
  EXPECT_EQ(answer.out.events.back(),
            (SentEvent{"", R"({"error":{"message":"busy [redacted]","code":1}})", true}));
}

TEST(ChatAdapter, WhatIsNoCompletionIsCorrupt) {
  for (const std::string& sse :
       {std::string("data: nonsense\n\n"), std::string("data: [1]\n\n"), role(), std::string(),
        frame(R"({"choices":[{"delta":{}}]})"), role() + finish() + text({"late"}),
        role() + finish() + call(0, "tool", {}), frame(chunk(0, R"({"tool_calls":{"a":"b"}})")),
        frame(chunk(0, R"({"function_call":"x"})")),
        frame(chunk(0, R"({"tool_calls":[{"index":0,"function":{"arguments":{"a":1}}}]})"))}) {
    Answer answer;
    const Result<void> sent = answer.send(sse);
    ASSERT_FALSE(sent) << sse;
    EXPECT_EQ(sent.error().code, ErrorCode::Corrupt) << sse;
  }
}

TEST(ChatAdapter, AChoiceWithoutFinishReasonEndsWithTheStream) {
  Answer answer;
  ASSERT_TRUE(answer.send(role() + text({"a SEC"}) + call(0, "tool", {"{}"}) + done()));
  EXPECT_EQ(answer.message().at("content"), "a SEC[dropped]");
  EXPECT_FALSE(answer.message().as_object().contains("tool_calls"));
  Answer closed;
  ASSERT_TRUE(closed.send(role() + text({"x"}) + finish()));
  EXPECT_EQ(closed.out.events.back(), (SentEvent{"", "[DONE]", true}));
}

// MP-53
TEST(ChatAdapter, AChunkWithSeveralChoicesIsTakenApartOnlyWhereSomethingChanges) {
  const auto both = [](std::string_view a, std::string_view b) {
    return fmt::format(
        R"({{"id":"c1","choices":[{{"index":0,"delta":{{"content":"{}"}},"finish_reason":null}}, {{"index":1,"delta":{{"content":"{}"}},"finish_reason":null}}]}})",
        a, b);
  };
  Answer answer({}, {.choices = 2});
  ASSERT_TRUE(answer.send(frame(both("a", "b")) + frame(both("SECRET", "c")) + finish() +
                          finish("stop", 1) + done()));
  EXPECT_EQ(answer.sent()[0], both("a", "b"));
  EXPECT_EQ(answer.message(0).at("content"), "a[redacted]");
  EXPECT_EQ(answer.message(1).at("content"), "bc");
}

// MP-41, MP-44
TEST(ChatAdapter, TextsAtAnUnusualPlaceAreChecked) {
  const std::string message = chunk(0, "{}");
  std::string in_message = message;
  in_message.insert(in_message.find("\"delta\""), R"("message":{"content":"SECRET"},)");
  Answer hit;
  ASSERT_TRUE(hit.send(role() + frame(in_message) + finish() + done()));
  EXPECT_EQ(hit.choice().at("finish_reason"), "content_filter");
  EXPECT_EQ(json::serialize(hit.completion()).find("SECRET"), std::string::npos);
  for (const std::string& wrong :
       {chunk(0, "\"SECRET\""), chunk(0, R"(["SECRET"])"),
        std::string(R"({"id":"c1","choices":{"0":{"delta":{"content":"SECRET"}}}})")}) {
    Answer answer;
    const Result<void> sent = answer.send(role() + frame(wrong) + finish() + done());
    ASSERT_FALSE(sent) << wrong;
    EXPECT_EQ(sent.error().code, ErrorCode::Corrupt);
  }
  Answer body;
  const auto left = sallyport::test::run_now(body.adapter->on_body(
      R"({"choices":[{"index":0,"message":{"role":"assistant","content":"x"},"delta":{"content":"SECRET"},"finish_reason":"stop"}]})"));
  ASSERT_TRUE(left);
  EXPECT_EQ(left->find("SECRET"), std::string::npos);
}

// MP-41, MP-44
TEST(ChatAdapter, WhatFollowsTheEndOfAChoiceIsChecked) {
  std::string in_choice = chunk(0, "{}");
  in_choice.insert(in_choice.find("\"delta\""), R"("mood":"SECRET",)");
  for (const std::string& late :
       {in_choice, chunk(0, R"({"mood":"FORBIDDEN"})"),
        chunk(0, R"({"content":[{"type":"text","text":"SECRET"}]})"),
        chunk(0,
              R"({"annotations":[{"type":"url_citation","url_citation":{"title":"SECRET"}}]})")}) {
    Answer answer;
    ASSERT_TRUE(answer.send(role() + text({"x"}) + finish() + frame(late) + done())) << late;
    EXPECT_EQ(answer.choice().at("finish_reason"), "stop");
    for (const std::string& sent : answer.sent()) {
      EXPECT_EQ(sent.find("SECRET"), std::string::npos) << sent;
      EXPECT_EQ(sent.find("FORBIDDEN"), std::string::npos) << sent;
    }
    EXPECT_EQ(answer.out.events.back().data, "[DONE]");
  }
}

// MP-8, MP-9
TEST(ChatAdapter, EmptyCallsAfterTheEndOfAChoicePass) {
  for (const char* const late :
       {R"({"tool_calls":null})", R"({"tool_calls":[]})", R"({"function_call":null})"}) {
    Answer answer;
    const std::string sse = role() + text({"x"}) + finish() + frame(chunk(0, late)) + done();
    ASSERT_TRUE(answer.send(sse));
    std::vector<SentEvent> came = events_of(sse);
    came.back().last = true;
    EXPECT_EQ(answer.out.events, came);
  }
}

}  // namespace
}  // namespace sallyport::llm::test::chat
