#include <gtest/gtest.h>

#include "anthropic_samples.h"

namespace sallyport::llm::test::anthropic {
namespace {

// The events after `message_start`.
std::vector<std::string> behind_start(const Answer& run) {
  std::vector<std::string> all = run.sent();
  all.erase(all.begin());
  return all;
}

const char* const kRefusal =
    R"("delta":{"stop_reason":"refusal","stop_sequence":null,"stop_details":{"type":"refusal","category":null,"explanation":"[withheld]"}})";

// MP-45
TEST(AnthropicAdapter, ABlockWritesItsNoticeIntoTheTextAndEndsTheMessage) {
  Answer run;
  ASSERT_TRUE(run.send(begin() + text(0, {"so FORB", "IDDEN and more"}) + finish()));
  EXPECT_EQ(
      behind_start(run),
      (std::vector<std::string>{
          R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})",
          R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"so "}})",
          R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"[withheld]"}})",
          R"({"type":"content_block_stop","index":0})",
          std::string(R"({"type":"message_delta",)") + kRefusal +
              R"(,"usage":{"input_tokens":25,"cache_read_input_tokens":7,"output_tokens":6}})",
          R"({"type":"message_stop"})"}));
  EXPECT_TRUE(run.out.events.back().last);
  EXPECT_TRUE(run.adapter->complete());
  EXPECT_EQ(run.adapter->observed().sent_stop_reason, "refusal");
  EXPECT_EQ(run.adapter->observed().stop_reason, "");
  EXPECT_EQ(run.adapter->observed().block->check, "words");
}

// MP-45, MP-43
TEST(AnthropicAdapter, ABlockInReasoningIsSaidInATextBlockOfItsOwn) {
  Answer run;
  ASSERT_TRUE(run.send(begin() + thinking(0, {"hm FORBIDDEN"}, "") + text(1, {"x"}) + finish()));
  EXPECT_EQ(run.content(), json::parse(R"([{"type":"thinking","thinking":"hm ","signature":""},
                                           {"type":"text","text":"[withheld]"}])"));
  EXPECT_EQ(run.message().at("stop_reason"), "refusal");
}

// MP-45
TEST(AnthropicAdapter, UsageAfterABlockIsTheLastOneReported) {
  Answer run;
  const std::string details =
      R"({"type":"message_delta","delta":{"stop_reason":"refusal","stop_sequence":null,"stop_details":{"type":"refusal","category":"cyber","explanation":"FORBIDDEN"}},"usage":{"output_tokens":41}})";
  ASSERT_TRUE(run.send(begin() + text(0, {"x"}) + frame(details)));
  EXPECT_EQ(run.message().at("usage"),
            json::parse(R"({"input_tokens":25,"cache_read_input_tokens":7,"output_tokens":41})"));
  EXPECT_EQ(run.content(),
            json::parse(R"([{"type":"text","text":"x"},{"type":"text","text":"[withheld]"}])"));
  EXPECT_EQ(run.adapter->observed().usage->output_tokens, 41);
  EXPECT_EQ(run.adapter->observed().usage->cache_read_input_tokens, 7);
}

// MP-52
TEST(AnthropicAdapter, WithAJsonFormatTheNoticeStandsInTheExplanationAlone) {
  Answer run({}, {.json_format = true});
  ASSERT_TRUE(run.send(begin() + text(0, {"{\"a\":\"FORBIDDEN\"}"}) + finish()));
  EXPECT_EQ(run.content(), json::parse(R"([{"type":"text","text":"{\"a\":\""}])"));
  EXPECT_EQ(run.message().at("stop_details").at("explanation"), "[withheld]");
}

// MP-52
TEST(AnthropicAdapter, WithAJsonFormatARedactionOutsideOfAStringActsAsBlock) {
  Answer inside({}, {.json_format = true});
  ASSERT_TRUE(inside.send(begin() + text(0, {"{\"a\":\"\\\"SEC", "RET\"}"}) + finish()));
  EXPECT_EQ(inside.content(),
            json::parse(R"([{"type":"text","text":"{\"a\":\"\\\"[redacted]\"}"}])"));
  Answer outside({}, {.json_format = true});
  ASSERT_TRUE(outside.send(begin() + text(0, {"{\"a\":1,SECRET}"}) + finish()));
  EXPECT_EQ(outside.content(), json::parse(R"([{"type":"text","text":"{\"a\":1,"}])"));
  EXPECT_EQ(outside.message().at("stop_details").at("explanation"), "[redacted]");
}

// MP-46
TEST(AnthropicAdapter, ABlockAsAnswerEndsWithTheStopReasonOfANormalAnswer) {
  Answer run({}, {.block_as_answer = true});
  ASSERT_TRUE(run.send(begin() + text(0, {"a FORBIDDEN"}) + finish()));
  EXPECT_EQ(run.message().at("stop_reason"), "end_turn");
  EXPECT_TRUE(run.message().at("stop_details").is_null());
  EXPECT_EQ(run.content(), json::parse(R"([{"type":"text","text":"a [withheld]"}])"));
  EXPECT_TRUE(run.adapter->observed().block);
}

// MP-41
TEST(AnthropicAdapter, ARedactionStandsInTheDeltasAndNothingElseWaits) {
  Answer run;
  const std::string strange =
      R"({"type":"content_block_delta","index":0, "x":1.50,"delta":{"text":"a SEC","type":"text_delta"}})";
  ASSERT_TRUE(run.send(begin() + start(0, R"({"type":"text","text":"SE"})") + frame(strange) +
                       delta(0, R"({"type":"text_delta","text":"RET b S"})") + stop(0) + finish()));
  EXPECT_EQ(
      behind_start(run),
      (std::vector<std::string>{
          R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})",
          R"({"type":"content_block_delta","index":0, "x":1.50,"delta":{"text":"SEa ","type":"text_delta"}})",
          R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"[redacted] b "}})",
          R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"S"}})",
          R"({"type":"content_block_stop","index":0})",
          R"({"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":40}})",
          R"({"type":"message_stop"})"}));
}

// MP-48, MP-49, MP-43
TEST(AnthropicAdapter, ASignedBlockWithAHitIsAbsentAndLaterIndicesAreOneLower) {
  for (const char* const hit : {"a SECRET", "a FORBIDDEN"}) {
    Answer run;
    ASSERT_TRUE(run.send(begin() + thinking(0, {"fine"}) + thinking(1, {hit}) + text(2, {"done"}) +
                         finish()));
    EXPECT_EQ(run.content(),
              json::parse(R"([{"type":"thinking","thinking":"fine","signature":"c2ln"},
                              {"type":"text","text":"done"}])"));
    EXPECT_EQ(run.message().at("stop_reason"), "end_turn");
    EXPECT_EQ(run.doors.asked.changes, 1);
  }
}

// MP-48
TEST(AnthropicAdapter, ASignedBlockLeavesByteForByteAtItsEnd) {
  Answer run;
  const std::string block = thinking(0, {"a S", "b", ""});
  const std::string sse = begin() + block + text(1, {"x"}) + finish();
  ASSERT_TRUE(run.send(sse));
  std::vector<SentEvent> came = events_of(sse);
  came.back().last = true;
  EXPECT_EQ(run.out.events, came);
  Answer part;
  EXPECT_FALSE(part.send(begin() + block.substr(0, block.size() - 10)));
  EXPECT_EQ(part.out.events.size(), 1);
}

// MP-49
TEST(AnthropicAdapter, ACallBehindALeftOutBlockEndsTheMessage) {
  Answer run;
  ASSERT_TRUE(
      run.send(begin() + thinking(0, {"SECRET"}) + call(1, "tool", {"{}"}) + finish("tool_use")));
  EXPECT_EQ(run.content(), json::parse(R"([{"type":"text","text":"[redacted]"}])"));
  EXPECT_EQ(run.message().at("stop_reason"), "refusal");
  EXPECT_TRUE(run.doors.asked.decided.empty());
  ASSERT_EQ(run.doors.asked.dropped.size(), 1);
  EXPECT_EQ(run.doors.asked.dropped[0].first, "call_1");
}

// MP-49
TEST(AnthropicAdapter, WithEndAHitInASignedBlockEndsTheMessage) {
  Answer run({}, {.end_on_signed_hit = true});
  ASSERT_TRUE(run.send(begin() + thinking(0, {"SECRET"}) + text(1, {"x"}) + finish()));
  EXPECT_EQ(run.content(), json::parse(R"([{"type":"text","text":"[redacted]"}])"));
  EXPECT_EQ(run.message().at("stop_reason"), "refusal");
}

// MP-50
TEST(AnthropicAdapter, AfterAChangeLaterSignedBlocksAreLeftOut) {
  Answer run;
  ASSERT_TRUE(
      run.send(begin() + text(0, {"SECRET"}) + thinking(1, {"fine"}) + text(2, {"x"}) + finish()));
  EXPECT_EQ(run.content(),
            json::parse(R"([{"type":"text","text":"[redacted]"},{"type":"text","text":"x"}])"));
  Answer refused({.enforces_output = false});
  ASSERT_TRUE(refused.send(begin() + call(0, "refused_tool", {"{}"}) + thinking(1, {"fine"}) +
                           finish("tool_use")));
  EXPECT_EQ(refused.content(), json::parse(R"([{"type":"text","text":"[refused]"}])"));
}

// MP-48
TEST(AnthropicAdapter, AHeldBlockOverItsLimitFails) {
  Answer run;
  const std::string piece(100'000, 'x');
  const Result<void> sent = run.send(begin() + thinking(0, std::vector<std::string>(11, piece)));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, ErrorCode::Exhausted);
}

// MP-48, MP-80 (partly)
TEST(AnthropicAdapter, ManySmallHeldDeltasAreJoined) {
  Answer run;
  const std::vector<std::string> pieces(30'000, "ab");
  ASSERT_TRUE(run.send(begin() + thinking(0, pieces) + finish()));
  EXPECT_LT(run.out.events.size(), 20'000);
  EXPECT_EQ(run.content().at(0).at("thinking").as_string().size(), 60'000);
  EXPECT_EQ(run.content().at(0).at("signature"), "c2ln");
}

// MP-40
TEST(AnthropicAdapter, BlocksThatInterleaveKeepTheirOwnText) {
  Answer run;
  ASSERT_TRUE(run.send(begin() + start(0, R"({"type":"text","text":""})") +
                       start(1, R"({"type":"text","text":""})") +
                       delta(0, R"({"type":"text_delta","text":"a SEC"})") +
                       delta(1, R"({"type":"text_delta","text":"RET b"})") +
                       delta(0, R"({"type":"text_delta","text":"RET"})") + stop(1) + stop(0) +
                       finish()));
  EXPECT_EQ(run.content(), json::parse(R"([{"type":"text","text":"a [redacted]"},
                                           {"type":"text","text":"RET b"}])"));
}

// MP-37
TEST(AnthropicAdapter, CallsAndResultsOfTheProviderAreRedactedInPlace) {
  Answer run;
  const std::string result =
      R"({"type":"web_search_tool_result","tool_use_id":"call_0","content":[{"type":"web_search_result","title":"a SECRET","url":"u","encrypted_content":"SECRET"}]})";
  ASSERT_TRUE(
      run.send(begin() +
               call(0, "web_search", {"{\"query\": \"SEC", "RET\",\"n\":1.0}"}, "server_tool_use") +
               start(1, result) + stop(1) + finish()));
  EXPECT_EQ(run.content(), json::parse(R"([
      {"type":"server_tool_use","id":"call_0","name":"web_search","input":{"query":"[redacted]","n":1.0}},
      {"type":"web_search_tool_result","tool_use_id":"call_0","content":[
        {"type":"web_search_result","title":"a [redacted]","url":"u","encrypted_content":"SECRET"}]}])"));
  EXPECT_EQ(run.doors.asked.whole.back().channel.tool, "web_search");
  EXPECT_EQ(run.doors.asked.whole.back().channel.kind, ChannelKind::ProviderResult);
}

// MP-37
TEST(AnthropicAdapter, ABlockInACallOrResultOfTheProviderEndsTheMessage) {
  Answer asked;
  ASSERT_TRUE(asked.send(
      begin() +
      start(
          0,
          R"({"type":"mcp_tool_use","id":"m","name":"n","server_name":"s","input":{"id":"FORBIDDEN"}})") +
      stop(0) + finish()));
  EXPECT_EQ(asked.content(), json::parse(R"([{"type":"text","text":"[withheld]"}])"));
  Answer returned;
  ASSERT_TRUE(returned.send(
      begin() + text(0, {"x"}) +
      start(
          1,
          R"({"type":"mcp_tool_result","tool_use_id":"m","is_error":false,"content":[{"type":"text","text":"FORBIDDEN"}]})") +
      stop(1) + finish()));
  EXPECT_EQ(returned.content(),
            json::parse(R"([{"type":"text","text":"x"},{"type":"text","text":"[withheld]"}])"));
}

// MP-41, MP-47
TEST(AnthropicAdapter, TextsOfCitationsAreCheckedWhole) {
  Answer run;
  const std::string citation =
      R"({"type":"citations_delta","citation":{"type":"char_location","cited_text":"SECRET","document_title":"t","start_char_index":3,"end_char_index":9,"encrypted_index":"SECRET"}})";
  ASSERT_TRUE(run.send(begin() + start(0, R"({"type":"text","text":"","citations":[]})") +
                       delta(0, citation) + delta(0, R"({"type":"text_delta","text":"x"})") +
                       stop(0) + finish()));
  EXPECT_EQ(run.content().at(0).at("citations"),
            json::parse(R"([{"type":"char_location","cited_text":"[redacted]","document_title":"t",
                "start_char_index":3,"end_char_index":9,"encrypted_index":"SECRET"}])"));
}

// MP-41
TEST(AnthropicAdapter, TheExplanationOfARefusalIsChecked) {
  Answer run;
  ASSERT_TRUE(run.send(
      begin() +
      frame(
          R"({"type":"message_delta","delta":{"stop_reason":"refusal","stop_sequence":null,"stop_details":{"type":"refusal","category":"cyber","explanation":"a SECRET"}},"usage":{"output_tokens":4}})") +
      frame(R"({"type":"message_stop"})")));
  EXPECT_EQ(run.message().at("stop_details"),
            json::parse(R"({"type":"refusal","category":"cyber","explanation":"a [redacted]"})"));
}

// MP-44, MP-9
TEST(AnthropicAdapter, UnknownBlocksDeltasAndEventsPassOrEndTheMessage) {
  const std::string block = start(0, R"({"type":"hologram","frames":["WORD",{"deep":1.50}]})");
  const std::string piece = delta(0, R"({"type":"glow_delta","note":"WORD"})");
  const std::string event = frame(R"({"type":"weather","note":"WORD"})");
  const auto with = [&](std::string_view word) {
    std::string sse = begin() + block + piece + stop(0) + event + finish("pause_turn");
    for (std::size_t at; (at = sse.find("WORD")) != std::string::npos;) sse.replace(at, 4, word);
    return sse;
  };
  Answer clean;
  ASSERT_TRUE(clean.send(with("calm")));
  std::vector<SentEvent> came = events_of(with("calm"));
  came.back().last = true;
  EXPECT_EQ(clean.out.events, came);
  EXPECT_EQ(clean.doors.asked.unknown, (std::vector<std::string>{"hologram", "weather"}));
  for (const char* const word : {"SECRET", "FORBIDDEN"}) {
    Answer hit;
    ASSERT_TRUE(hit.send(with(word)));
    EXPECT_EQ(hit.message().at("stop_reason"), "refusal");
    EXPECT_EQ(hit.content().as_array().size(), 1);
  }
  Answer late;
  ASSERT_TRUE(late.send(begin() + text(0, {"x"}) + frame(R"({"type":"weather","note":"SECRET"})") +
                        finish()));
  EXPECT_EQ(late.content(),
            json::parse(R"([{"type":"text","text":"x"},{"type":"text","text":"[redacted]"}])"));
}

// MP-9, MP-44
TEST(AnthropicAdapter, UnknownMembersOfKnownEventsPassOrEndTheMessage) {
  const auto stream = [](std::string_view near, std::string_view word) {
    std::string sse = begin() + text(0, {"x"}) + thinking(1, {"y"}) +
                      call(2, "web_search", {"{}"}, "server_tool_use") + call(3, "tool", {"{}"}) +
                      finish("tool_use");
    sse.insert(sse.find(near) + near.size(), fmt::format("\"glow\":{{\"deep\":[\"{}\"]}},", word));
    return sse;
  };
  for (const char* const near :
       {R"("message":{)", R"("content_block":{)", R"("delta":{)", R"("index":1,)",
        R"({"type":"thinking",)", R"({"type":"signature_delta",)", R"({"type":"input_json_delta",)",
        R"({"type":"tool_use",)", R"({"stop_reason":"tool_use",)", R"({"type":"message_delta",)"}) {
    Answer clean;
    ASSERT_TRUE(clean.send(stream(near, "calm"))) << near;
    std::vector<SentEvent> came = events_of(stream(near, "calm"));
    came.back().last = true;
    EXPECT_EQ(clean.out.events, came) << near;
    EXPECT_EQ(clean.doors.asked.unknown, std::vector<std::string>{"glow"}) << near;
    Answer hit;
    ASSERT_TRUE(hit.send(stream(near, "SECRET"))) << near;
    EXPECT_EQ(hit.message().at("stop_reason"), "refusal") << near;
    for (const SentEvent& event : hit.out.events) {
      EXPECT_EQ(event.data.find("SECRET"), std::string::npos) << event.data;
    }
  }
}

// MP-15
TEST(AnthropicAdapter, KeepAliveIsAPingOnceTheMessageHasBegun) {
  Answer run;
  run.adapter->keep_alive(run.out);
  EXPECT_TRUE(run.out.events.empty());
  run.doors.while_deciding = [&] { run.adapter->keep_alive(run.out); };
  ASSERT_TRUE(run.send(begin() + call(0, "tool", {"{\"a\":1}"}) + finish("tool_use")));
  EXPECT_EQ(run.out.events[1], (SentEvent{"ping", R"({"type": "ping"})"}));
  EXPECT_EQ(run.out.events[2].name, "content_block_start");
}

// MP-15
TEST(AnthropicAdapter, PingsOfTheProviderPassAtOnce) {
  Answer run;
  const std::string held = thinking(0, {"x"});
  EXPECT_FALSE(run.send(begin() + start(0, R"({"type":"thinking","thinking":""})") +
                        frame(R"({"type": "ping"})")));
  EXPECT_EQ(run.out.events.back(), (SentEvent{"ping", R"({"type": "ping"})"}));
}

// MP-81 (partly), MP-63
TEST(AnthropicAdapter, AFailureIsAnErrorEventAndNothingFollows) {
  Answer run;
  EXPECT_FALSE(
      run.send(begin() + start(0, R"({"type":"tool_use","id":"c","name":"n","input":{}})")));
  run.adapter->fail(run.out, {.status = 502, .message = "the provider's stream ended"});
  EXPECT_EQ(
      run.out.events.back(),
      (SentEvent{
          "error",
          R"({"type":"error","error":{"type":"api_error","message":"the provider's stream ended"}})",
          true}));
  EXPECT_TRUE(run.adapter->complete());
  EXPECT_EQ(run.doors.asked.dropped.size(), 1);
  run.adapter->fail(run.out, {});
  run.adapter->keep_alive(run.out);
  EXPECT_EQ(run.out.events.size(), 2);
}

// MP-68 (partly)
TEST(AnthropicAdapter, AFailureCanTakeThePlaceOfTheLastFrame) {
  Answer answer;
  ASSERT_TRUE(answer.send(begin() + text(0, {"x"}) + finish()));
  answer.adapter->fail(answer.out, {.message = "the ledger cannot be written"});
  EXPECT_EQ(answer.out.events.back().name, "error");
  EXPECT_TRUE(answer.out.events.back().last);
}

TEST(AnthropicAdapter, AnErrorEventOfTheProviderEndsTheAnswer) {
  Answer run;
  const std::string error =
      R"({"type":"error","error":{"type":"overloaded_error","message":"busy SECRET"}})";
  ASSERT_TRUE(run.send(begin() + frame(error)));
  EXPECT_EQ(
      run.out.events.back(),
      (SentEvent{
          "error",
          R"({"type":"error","error":{"type":"overloaded_error","message":"busy [redacted]"}})",
          true}));
}

TEST(AnthropicAdapter, WhatIsNoMessageIsCorrupt) {
  for (const std::string& sse :
       {std::string("data: nonsense\n\n"), std::string("data: {\"a\":1}\n\n"), text(0, {"x"}),
        begin() + begin(), begin() + stop(3), begin() + text(0, {"x"}) + text(0, {"SECRET"}),
        begin() + delta(0, "{}"),
        begin() + start(0, R"({"type":"text","text":""})") +
            delta(0, R"({"type":"text_delta","text":["calm"]})"),
        begin() + text(0, {"x"})}) {
    Answer run;
    const Result<void> sent = run.send(sse);
    ASSERT_FALSE(sent) << sse;
    EXPECT_EQ(sent.error().code, ErrorCode::Corrupt) << sse;
  }
}

// MP-13 (partly)
TEST(AnthropicAdapter, ALoneSurrogateCountsAsAReplacementCharacterAndPasses) {
  Answer run;
  const std::string piece = R"({"type":"text_delta","text":"\ud83d x"})";
  ASSERT_TRUE(run.send(begin() + start(0, R"({"type":"text","text":""})") + delta(0, piece) +
                       stop(0) + finish()));
  EXPECT_NE(run.out.events[2].data.find(R"(\ud83d x)"), std::string::npos);
  EXPECT_EQ(run.doors.asked.pushed.back().text, "\xef\xbf\xbd x");
}

// MP-9, MP-44
TEST(AnthropicAdapter, AMemberThatItsEventDoesNotHaveIsChecked) {
  const auto with = [](std::string_view event, std::string_view members) {
    const std::string data = fmt::format(R"({{"type":"{}",{}}})", event, members);
    const std::string stop_0 = stop(0);
    std::string sse = begin();
    if (event == "content_block_stop") {
      std::string block = text(0, {"x"});
      block.resize(block.size() - stop_0.size());
      return sse + block + frame(data) + finish();
    }
    return sse + text(0, {"x"}) + frame(data) + finish();
  };
  for (const std::string& sse :
       {with("ping", R"("note":"SECRET")"),
        with("content_block_stop", R"("index":0,"delta":{"text":"SECRET"})"),
        with("content_block_stop", R"("index":0,"message":{"content":"SECRET"})"),
        with("message_delta",
             R"("delta":{"stop_reason":"end_turn","stop_details":{"x":"SECRET"}})"),
        with("message_delta", R"("delta":{"stop_reason":null,"container":{"x":"SECRET"}})"),
        with("message_delta", R"("delta":{"stop_reason":null},"usage":{"x":"SECRET"})")}) {
    Answer answer;
    ASSERT_TRUE(answer.send(sse)) << sse;
    EXPECT_EQ(answer.message().at("stop_reason"), "refusal") << sse;
    for (const std::string& sent : answer.sent()) {
      EXPECT_EQ(sent.find("SECRET"), std::string::npos) << sent;
    }
  }
  Answer known;
  const std::string sse =
      begin() + text(0, {"x"}) +
      frame(
          R"({"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null,"container":{"id":"c","expires_at":"2026","skills":[{"skill_id":"s","type":"custom","version":"1"}]}},"usage":{"output_tokens":4,"service_tier":"standard","iterations":[{"type":"message"}]}})") +
      frame(R"({"type":"message_stop"})");
  ASSERT_TRUE(known.send(sse));
  EXPECT_TRUE(known.doors.asked.unknown.empty());
}

// MP-44
TEST(AnthropicAdapter, AMessageWhoseUsageHasAHitKeepsItsCounters) {
  std::string first = begin();
  first.insert(first.find("\"input_tokens\""), R"("note":"SECRET",)");
  Answer answer;
  ASSERT_TRUE(answer.send(first + text(0, {"x"}) + finish()));
  EXPECT_EQ(answer.message().at("stop_reason"), "refusal");
  EXPECT_EQ(answer.message().at("usage").at("input_tokens"), 25);
  EXPECT_EQ(answer.sent().front().find("SECRET"), std::string::npos);
}

// MP-9
TEST(AnthropicAdapter, AnUnknownEventBeforeTheMessagePasses) {
  const std::string strange = frame(R"({"type":"weather","note":"rain"})");
  const std::string sse = strange + begin() + text(0, {"x"}) + finish();
  Answer answer;
  ASSERT_TRUE(answer.send(sse));
  std::vector<SentEvent> came = events_of(sse);
  came.back().last = true;
  EXPECT_EQ(answer.out.events, came);
  EXPECT_EQ(answer.doors.asked.unknown, std::vector<std::string>{"weather"});
  Answer hit;
  EXPECT_FALSE(hit.send(frame(R"({"type":"weather","note":"SECRET"})") + begin()));
  EXPECT_TRUE(hit.out.events.empty());
}

// MP-25
TEST(AnthropicAdapter, FilesOfTheProvidersToolsAreObserved) {
  Answer answer;
  ASSERT_TRUE(answer.send(
      begin() +
      start(
          0,
          R"({"type":"bash_code_execution_tool_result","tool_use_id":"s","content":{"type":"bash_code_execution_result","content":[{"type":"bash_code_execution_output","file_id":"file_2"}]}})") +
      stop(0) + finish()));
  EXPECT_EQ(answer.adapter->observed().file_ids, std::vector<std::string>{"file_2"});
}

}  // namespace
}  // namespace sallyport::llm::test::anthropic
