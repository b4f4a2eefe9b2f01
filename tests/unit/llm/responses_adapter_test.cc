#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "responses_script.h"

namespace sallyport::llm::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const AnswerSettings kJson{.json_format = true};
const AnswerSettings kAnswer{.block_as_answer = true};

json::object search_item(std::string_view query, std::string_view url) {
  return {{"id", "ws_1"},
          {"type", "web_search_call"},
          {"status", "completed"},
          {"action",
           {{"type", "search"},
            {"query", query},
            {"sources", json::array{json::object{{"type", "url"}, {"url", url}}}}}}};
}

// Every kind of answer, with and without hits.
std::map<std::string, Script> repertoire() {
  std::map<std::string, Script> all;
  all["text"].say("The fox — déjà vu, 世界 🦊.\nSecond line. ").say("And more");
  all["redacted"].say("a SECRET b SECRET").think("my SECRET plan").refuse("SECRET no");
  all["citations"].say("see SECRET and this page",
                       {{0, 3, "First"}, {4, 10, "inside"}, {15, 19, "SECRET"}});
  all["logprobs"].say("Sure thing", {}, true);
  all["reasoning"].think("First I look, then", false).say("It is 42.");
  all["calls"]
      .say("both")
      .call("read", R"({"a":1})")
      .call("refused_tool", R"({"b":2})")
      .call("write", "{}");
  all["refused"].call("refused_tool", R"({"b":2})");
  all["rewritten"].call("rewritten_tool", R"({"b":2})").call("rewritten_tool", "text", true);
  all["no json"].call("read", R"({"a":)").say("after");
  all["provider"].remote("lookup", R"({"word":"SECRET"})", "a SECRET is out").say("found");
  all["search"]
      .item(search_item("SECRET fox", "https://SECRET.example/"),
            {{"id", "ws_1"}, {"type", "web_search_call"}, {"status", "in_progress"}})
      .say("found");
  all["strange"].say("Before").item({{"id", "h_1"},
                                     {"type", "hologram_call"},
                                     {"frames", json::array{"what", json::object{{"deep", 1.5}}}}});
  all["strange"].tail.emplace_back("weather.changed", json::object{{"note", "it rains"}});
  all["blocked text"].say("it is FORBIDDEN to say").call("read", "{}");
  all["blocked at once"].say("FORBIDDEN");
  all["blocked reasoning"].think("I think FORBIDDEN things").say("never");
  all["blocked refusal"].refuse("no FORBIDDEN way");
  all["blocked second"].say("first SECRET").say("then FORBIDDEN").say("third");
  all["blocked arguments"].remote("lookup", R"({"word":"FORBIDDEN"})", "out").say("found");
  all["blocked result"].remote("lookup", "{}", "a FORBIDDEN result").say("found");
  all["blocked strange"]
      .say("Before")
      .item({{"id", "h_1"}, {"type", "hologram_call"}, {"frames", json::array{"a SECRET here"}}})
      .say("After");
  all["cut"].say("This answer is cut off in").status = "incomplete";
  all["cut"].details = json::object{{"reason", "max_output_tokens"}};
  all["empty"].say("");
  return all;
}

// MP-8
TEST(ResponsesAdapter, WithoutChecksEveryEventLeavesWithTheProvidersBytes) {
  for (const auto& [name, script] : repertoire()) {
    const auto events = script.events();
    const Left left = streamed(events, {.enforces_output = false, .holds_calls = false});
    EXPECT_TRUE(left.ended);
    EXPECT_EQ(left.events, events) << name;
    FakeDoors doors({.enforces_output = false, .holds_calls = false});
    const auto body =
        sallyport::test::run_now(responses_adapter(doors, {})->on_body(script.body()));
    EXPECT_EQ(body.value(), script.body()) << name;
  }
}

// MP-8
TEST(ResponsesAdapter, WithoutChecksNumbersAndSpellingAreTheProvidersOwn) {
  std::vector<SentEvent> events{
      {"response.created",
       R"({ "type":"response.created" , "sequence_number":7,"response":{"id":"r","x":1.50}})"},
      {"",
       R"({"type":"response.output_text.delta","sequence_number":90,"output_index":3,"content_index":2,"delta":"\u0041\ud800"})"},
      {"response.completed",
       R"({"type":"response.completed","sequence_number":3,"response":{"id":"r","status":"completed","output":[]}})",
       true}};
  const Left left = streamed(events, {.enforces_output = false, .holds_calls = false});
  EXPECT_TRUE(left.ended);
  EXPECT_EQ(left.events, events);
}

// MP-5, MP-41: unchanged output is sent byte for byte, and at once if nothing is held.
TEST(ResponsesAdapter, ArmedChecksLeaveOtherAnswersAsTheyAre) {
  for (const char* const name : {"text", "reasoning", "strange", "cut", "empty"}) {
    Script script = repertoire()[name];
    const Left left = streamed(script.events());
    EXPECT_TRUE(left.ended);
    EXPECT_EQ(left.events, script.events()) << name;
  }
  Script calls;
  calls.call("read", R"({"a": 1.50, "b":"x"})").call("patch", "*** Begin", true).say("done");
  EXPECT_EQ(streamed(calls.events()).events, calls.events());
}

// MP-38, MP-42, MP-43
TEST(ResponsesAdapter, TheObjectIsWhatAClientAddsUpFromTheEvents) {
  for (const AnswerSettings& settings : {AnswerSettings{}, kJson, kAnswer}) {
    for (const auto& [name, script] : repertoire()) {
      SCOPED_TRACE(name);
      const Left left = streamed(script.events(), {}, settings);
      EXPECT_TRUE(left.ended);
      json::value from_events = accumulated(left.events);
      json::value whole = body_of(script, {}, settings);
      if (left.observed.block) {  // no usage arrived before the block
        EXPECT_TRUE(from_events.at("usage").is_null());
        whole.as_object()["usage"] = nullptr;
      }
      EXPECT_EQ(from_events, whole);
      EXPECT_FALSE(left.holds("a SECRET") || left.holds("is FORBIDDEN"));
    }
  }
}

// MP-39
TEST(ResponsesAdapter, EveryCutOfTheStreamGivesTheSameEvents) {
  for (const auto& [name, script] : repertoire()) {
    const auto events = script.events();
    const std::vector<SentEvent> expected = streamed(events).events;
    EXPECT_EQ(streamed(events, {}, {}, 1).events, expected) << name;
    const std::size_t size = sse_of(events).size();
    for (std::size_t cut = 1; cut < size; cut += 1 + size / 40) {
      ASSERT_EQ(streamed(events, {}, {}, size, cut).events, expected) << name << " " << cut;
    }
  }
}

// MP-39: the provider's division of a text into deltas affects the deltas and nothing else.
TEST(ResponsesAdapter, AMatchIsFoundHoweverItIsSplitIntoDeltas) {
  for (std::size_t grain = 1; grain < 20; ++grain) {
    Script script;
    script.grain = grain;
    script.say("one SECRET two SECRE T SECRET").think("SECRET").refuse("a SECRET");
    const Left left = streamed(script.events());
    const json::value response = accumulated(left.events);
    EXPECT_EQ(response.at("output").at(0).at("content").at(0).at("text"),
              "one [redacted] two SECRE T [redacted]");
    EXPECT_EQ(response.at("output").at(1).at("summary").at(0).at("text"), "[redacted]");
    EXPECT_EQ(response.at("output").at(2).at("content").at(0).at("refusal"), "a [redacted]");
    EXPECT_EQ(response.at("output").at(1).at("encrypted_content"), "gAAAend");
    EXPECT_FALSE(left.holds(" SECRET") || left.holds("\"SECRET"));
    EXPECT_EQ(response, body_of(script));
  }
}

// MP-45 and the row "block, streamed" of section 5.
TEST(ResponsesAdapter, ABlockEndsTheMessageBehindItsNotice) {
  Script script;
  script.say("ok FORBIDDEN rest").say("second");
  const Left left = streamed(script.events());
  EXPECT_THAT(left.names(),
              ElementsAre("created", "in_progress", "output_item.added", "content_part.added",
                          "output_text.delta", "output_text.delta", "output_text.done",
                          "content_part.done", "output_item.done", "incomplete"));
  EXPECT_EQ(left.at(4).at("delta"), "ok ");
  EXPECT_EQ(left.at(5).at("delta"), "[withheld]");
  EXPECT_EQ(left.at(8).at("item").at("status"), "incomplete");
  const json::value response = accumulated(left.events);
  EXPECT_EQ(response.at("status"), "incomplete");
  EXPECT_EQ(response.at("incomplete_details"), (json::value{{"reason", "content_filter"}}));
  EXPECT_EQ(response.at("output").at(0).at("content").at(0).at("text"), "ok [withheld]");
  EXPECT_TRUE(response.at("usage").is_null());
  EXPECT_EQ(response.at("instructions"), "never say FORBIDDEN");
  EXPECT_EQ(left.observed.block->reason_code, "guardrail.blocklist");
  EXPECT_EQ(left.observed.stop_reason, "");
  EXPECT_EQ(left.observed.sent_stop_reason, "content_filter");
}

// The row "block, streamed": a new message item after reasoning.
TEST(ResponsesAdapter, ABlockOfReasoningPutsItsNoticeIntoANewMessage) {
  Script script;
  script.think("so FORBIDDEN").say("never");
  const Left left = streamed(script.events());
  EXPECT_THAT(
      left.names(),
      ElementsAre("created", "in_progress", "output_item.added", "reasoning_summary_part.added",
                  "reasoning_summary_text.delta", "reasoning_summary_text.done",
                  "reasoning_summary_part.done", "output_item.done", "output_item.added",
                  "content_part.added", "output_text.delta", "output_text.done",
                  "content_part.done", "output_item.done", "incomplete"));
  const json::value output = accumulated(left.events).at("output");
  EXPECT_EQ(output.at(0).at("summary").at(0).at("text"), "so ");
  EXPECT_FALSE(output.at(0).as_object().contains("encrypted_content"));
  EXPECT_EQ(output.at(1).at("content").at(0).at("text"), "[withheld]");
  EXPECT_EQ(output.at(1).at("status"), "incomplete");
}

// The row "block, not streamed" of section 5.
TEST(ResponsesAdapter, ABlockedBodyHasItsTextAsReleasedAndThenTheNotice) {
  Script script;
  script.say("ok FORBIDDEN rest").call("read", "{}");
  Asked asked;
  const json::value response = body_of(script, {}, {}, &asked);
  EXPECT_EQ(response.at("status"), "incomplete");
  EXPECT_EQ(response.at("incomplete_details").at("reason"), "content_filter");
  EXPECT_EQ(response.at("output").as_array().size(), 1u);
  EXPECT_EQ(response.at("output").at(0).at("content").at(0).at("text"), "ok [withheld]");
  EXPECT_EQ(response.at("usage").at("input_tokens"), 20);
  EXPECT_THAT(asked.decided, IsEmpty());
  EXPECT_EQ(asked.dropped.at(0).first, "call_1");  // MP-63
}

// The row "block, JSON format" of section 5.
TEST(ResponsesAdapter, WithAJsonFormatTheNoticeIsARefusal) {
  Script script;
  script.say(R"({"a":"FORBIDDEN"})");
  const Left left = streamed(script.events(), {}, kJson);
  const json::value content = accumulated(left.events).at("output").at(0).at("content");
  EXPECT_EQ(content.at(0).at("text"), R"({"a":")");
  EXPECT_EQ(content.at(1), (json::value{{"type", "refusal"}, {"refusal", "[withheld]"}}));
  EXPECT_EQ(left.at(left.events.size() - 1).at("type"), "response.incomplete");
}

// MP-52
TEST(ResponsesAdapter, ARedactionKeepsJsonWholeOrEndsTheMessage) {
  Script inside;
  inside.say(R"({"a":"x SECRET y","b":2})");
  const Left left = streamed(inside.events(), {}, kJson);
  EXPECT_EQ(accumulated(left.events).at("output").at(0).at("content").at(0).at("text"),
            R"({"a":"x [redacted] y","b":2})");
  EXPECT_EQ(accumulated(left.events), body_of(inside, {}, kJson));
  Script outside;
  outside.say(R"({"a":1} SECRET)");
  const Left ended = streamed(outside.events(), {}, kJson);
  EXPECT_EQ(ended.names().back(), "incomplete");
  const json::value content = accumulated(ended.events).at("output").at(0).at("content");
  EXPECT_EQ(content.at(0).at("text"), R"({"a":1} )");
  EXPECT_EQ(content.at(1).at("refusal"), "[redacted]");
  EXPECT_EQ(content, body_of(outside, {}, kJson).at("output").at(0).at("content"));
}

// MP-46
TEST(ResponsesAdapter, ABlockAsAnswerEndsLikeAnyOther) {
  Script script;
  script.say("ok FORBIDDEN");
  const Left left = streamed(script.events(), {}, kAnswer);
  const json::value response = accumulated(left.events);
  EXPECT_EQ(left.names().back(), "completed");
  EXPECT_EQ(response.at("status"), "completed");
  EXPECT_TRUE(response.at("incomplete_details").is_null());
  EXPECT_EQ(response.at("output").at(0).at("status"), "completed");
  EXPECT_EQ(left.observed.block->check, "words");
  EXPECT_EQ(left.observed.sent_stop_reason, "completed");
}

// MP-37
TEST(ResponsesAdapter, CallsOfTheProviderAndTheirResultsAreChecked) {
  Script script = repertoire()["provider"];
  const Left left = streamed(script.events());
  const json::value item = accumulated(left.events).at("output").at(0);
  EXPECT_EQ(item.at("arguments"), R"({"word":"[redacted]"})");
  EXPECT_EQ(item.at("output"), "a [redacted] is out");
  EXPECT_EQ(left.asked.whole.at(0).channel.kind, ChannelKind::ProviderResult);
  EXPECT_EQ(left.asked.whole.at(0).channel.tool, "lookup");
  const Left blocked = streamed(repertoire()["blocked result"].events());
  const json::value output = accumulated(blocked.events).at("output");
  EXPECT_TRUE(output.at(0).at("output").is_null());
  EXPECT_EQ(output.at(0).at("status"), "incomplete");
  EXPECT_EQ(output.at(1).at("content").at(0).at("text"), "[withheld]");
  EXPECT_FALSE(blocked.holds("a FORBIDDEN"));
}

// MP-37: items of the provider without deltas of their own.
TEST(ResponsesAdapter, EveryTextOfAnItemOfTheProviderIsChecked) {
  for (
      const char* const item :
      {R"({"id":"1","type":"code_interpreter_call","code":"SECRET","outputs":[{"type":"logs","logs":"SECRET"}]})",
       R"({"id":"1","type":"file_search_call","queries":["SECRET"],"results":[{"text":"SECRET","filename":"SECRET"}]})",
       R"({"id":"1","type":"web_search_call","action":{"type":"find_in_page","pattern":"SECRET","url":"SECRET"}})",
       R"({"id":"1","type":"shell_call","environment":{"type":"container_reference"},"action":{"commands":["ls","SECRET"]}})",
       R"({"id":"1","type":"shell_call_output","call_id":"c","output":[{"stdout":"SECRET","stderr":"SECRET","outcome":{"type":"exit"}}]})",
       R"({"id":"1","type":"program","call_id":"c","code":"SECRET","fingerprint":"SECRETbytes"})",
       R"({"id":"1","type":"program_output","call_id":"c","result":"SECRET"})",
       R"({"id":"1","type":"mcp_list_tools","tools":[{"name":"SECRET","description":"SECRET"}]})",
       R"({"id":"1","type":"mcp_call","name":"n","arguments":"{}","error":{"type":"e","message":"SECRET"}})",
       R"({"id":"1","type":"image_generation_call","result":"SECRETbytes","revised_prompt":"SECRET"})",
       R"({"id":"1","type":"tool_search_call","execution":"server","arguments":{"q":"SECRET"}})",
       R"({"id":"1","type":"function_call_output","call_id":"c","output":"SECRET"})"}) {
    Script script;
    script.item(json::parse(item).as_object());
    const Left left = streamed(script.events());
    const std::string output = json::serialize(accumulated(left.events).at("output"));
    EXPECT_EQ(output.find("\"SECRET\""), std::string::npos) << output;
    EXPECT_FALSE(left.observed.block) << item;
    EXPECT_FALSE(left.holds("\"SECRET\"")) << item;
    EXPECT_EQ(json::parse(output), body_of(script).at("output"));
  }
}

// MP-44
TEST(ResponsesAdapter, AHitInAnUnknownItemOrEventEndsTheMessage) {
  Script strange = repertoire()["strange"];
  const Left left = streamed(strange.events());
  EXPECT_THAT(left.asked.unknown, testing::Contains("hologram_call"));
  EXPECT_THAT(left.asked.unknown, testing::Contains("response.weather.changed"));
  strange.tail[0].second["note"] = "SECRET rain";
  const Left ended = streamed(strange.events());
  EXPECT_EQ(ended.names().back(), "incomplete");
  EXPECT_EQ(accumulated(ended.events).at("output").at(2).at("content").at(0).at("text"),
            "[redacted]");
  EXPECT_FALSE(ended.holds("SECRET rain"));
  Script plain;
  plain.say("fine", {{0, 1, "title"}});
  const std::size_t count = plain.events().size();
  for (std::size_t i = 0; i < count; ++i) {  // a member that no event has
    auto events = plain.events();
    events[i].data.insert(events[i].data.size() - 1, R"(,"mood":"FORBIDDEN")");
    const Left left = streamed(events);
    EXPECT_EQ(left.names().back(), "incomplete") << events[i].data;
    EXPECT_FALSE(left.holds("mood"));
    accumulated(left.events);
  }
}

// An unknown item with a hit only at its end was once sent as no item at all.
TEST(ResponsesAdapter, AnUnknownItemWithALateHitEndsAsItBegan) {
  Script script;
  const json::object begun{{"id", "h_1"}, {"type", "hologram_call"}, {"status", "in_progress"}};
  script.item(with(begun, {{"frames", json::array{"a SECRET"}}}), begun);
  const Left left = streamed(script.events());
  const json::value response = accumulated(left.events);
  EXPECT_EQ(response.at("output").at(0), json::value(with(begun, {{"status", "incomplete"}})));
  EXPECT_EQ(response.at("output").at(1).at("content").at(0).at("text"), "[redacted]");
  EXPECT_FALSE(left.holds("a SECRET"));
}

// MP-47
TEST(ResponsesAdapter, OffsetsOfAnnotationsFollowARedaction) {
  Script script;
  //          0123456789012345678901234
  script.say("déjà SECRET and this page",
             {{0, 4, "before"}, {5, 11, "inside"}, {3, 15, "around"}, {16, 20, "SECRET title"}});
  const Left left = streamed(script.events());
  const json::value response = accumulated(left.events);
  const json::array& list =
      response.at("output").at(0).at("content").at(0).at("annotations").as_array();
  std::vector<std::string> seen;
  for (const json::value& one : list) {
    seen.push_back(json::serialize(one.at("title")) + " " + json::serialize(one.at("start_index")) +
                   "-" + json::serialize(one.at("end_index")));
  }
  EXPECT_THAT(seen, ElementsAre("\"before\" 0-4", "\"around\" 3-19", "\"[redacted] title\" 20-24"));
  std::vector<json::value> events;
  for (std::size_t i = 0; i < left.events.size(); ++i) {
    if (left.events[i].name == "response.output_text.annotation.added")
      events.push_back(left.at(i));
  }
  ASSERT_EQ(events.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(events[i].at("annotation_index"), i);
    EXPECT_EQ(events[i].at("annotation"), list[i]);
  }
  EXPECT_EQ(response, body_of(script));
}

// MP-47: an annotation that arrives while its text is held waits for the text.
TEST(ResponsesAdapter, AnAnnotationDoesNotOvertakeItsText) {
  Script script;
  script.say("at SECRET", {{3, 9, "held"}, {0, 2, "free"}});
  auto& events = script.items[0].events;
  // Deltas `at S` and `ECRE` are sent, `T` is not.
  std::rotate(events.begin() + 3, events.begin() + 4, events.begin() + 6);
  const Left left = streamed(script.events());
  const json::value response = accumulated(left.events);
  EXPECT_EQ(response.at("output").at(0).at("content").at(0).at("text"), "at [redacted]");
  EXPECT_EQ(response.at("output").at(0).at("content").at(0).at("annotations").as_array().size(),
            1u);
  EXPECT_FALSE(left.holds("\"held\""));
}

// MP-51
TEST(ResponsesAdapter, LogProbabilitiesAreEmptyWhileOutputIsChecked) {
  Script script = repertoire()["logprobs"];
  const Left left = streamed(script.events());
  EXPECT_FALSE(left.holds("\"token\""));
  EXPECT_TRUE(left.holds(R"("logprobs":[])"));
  EXPECT_THAT(left.asked.degraded, ElementsAre("logprobs"));
  const Left free = streamed(script.events(), {.enforces_output = false});
  EXPECT_TRUE(free.holds("\"token\""));
}

// MP-40, MP-43: parts and items that arrive interleaved.
TEST(ResponsesAdapter, StateIsKeptByIndexAndNotByOrderOfArrival) {
  Script script;
  script.say("one SEC").say("two SEC");
  auto events = script.events();
  // created, in_progress, then the events of both items in turn.
  const std::size_t half = (events.size() - 3) / 2;
  std::vector<SentEvent> mixed(events.begin(), events.begin() + 2);
  for (std::size_t i = 0; i < half; ++i) {
    mixed.push_back(events[2 + i]);
    mixed.push_back(events[2 + half + i]);
  }
  mixed.push_back(events.back());
  const Left left = streamed(mixed);
  EXPECT_TRUE(left.ended);
  const json::value response = accumulated(left.events);
  EXPECT_EQ(response.at("output").at(0).at("content").at(0).at("text"), "one SEC");
  EXPECT_EQ(response.at("output").at(1).at("content").at(0).at("text"), "two SEC");
}

// MP-15, MP-43, MP-65
TEST(ResponsesAdapter, AKeepAliveIsTheRunningResponseAgain) {
  Script script;
  script.say("hi").call("read", R"({"a":1})");
  const auto events = script.events();
  FakeDoors doors;
  CollectingSink sink;
  const auto adapter = responses_adapter(doors, {});
  adapter->keep_alive(sink);  // the answer has not begun
  EXPECT_THAT(sink.events, IsEmpty());
  doors.while_deciding = [&] { adapter->keep_alive(sink); };
  ASSERT_TRUE(feed(*adapter, sink, sse_of(events)));
  adapter->keep_alive(sink);  // and now it is over
  Left left{.events = sink.events};
  EXPECT_EQ(sink.events.size(), events.size() + 1);
  const auto names = left.names();
  const auto alive = std::find(names.begin() + 2, names.end(), "in_progress");
  ASSERT_NE(alive, names.end());
  EXPECT_EQ(*(alive + 1), "output_item.added");  // no byte of the call was sent before its decision
  EXPECT_EQ(left.at(alive - names.begin()).at("response").at("status"), "in_progress");
  // It takes no number: a client that resumes after it gets the next event of the provider.
  const auto number = [&](auto event) {
    return left.at(event - names.begin()).at("sequence_number").as_int64();
  };
  EXPECT_EQ(number(alive), number(alive - 1));
  EXPECT_EQ(number(alive + 1), number(alive) + 1);
  sink.events.erase(sink.events.begin() + (alive - names.begin()));
  const json::value response = accumulated(sink.events);
  EXPECT_EQ(response.at("output").as_array().size(), 2u);
}

// The row "failure inside a stream" of section 5.
TEST(ResponsesAdapter, AFailureIsTheErrorEventOfTheApi) {
  Script script;
  script.say("hello").call("read", "{}");
  auto events = script.events();
  events.resize(events.size() - 2);  // the call is not complete
  FakeDoors doors;
  CollectingSink sink;
  const auto adapter = responses_adapter(doors, {});
  const auto ended = feed(*adapter, sink, sse_of(events));
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::Corrupt);
  adapter->fail(sink, {.status = 502, .message = "no", .code = "upstream_failed"});
  adapter->fail(sink, {.message = "twice"});
  const json::value last = accumulated(sink.events);
  EXPECT_EQ(sink.events.back().name, "error");
  EXPECT_EQ(last.at("code"), "upstream_failed");
  EXPECT_EQ(last.at("message"), "no");
  EXPECT_TRUE(last.at("param").is_null());
  EXPECT_TRUE(adapter->complete());
  EXPECT_EQ(doors.asked.dropped.at(0).first, "call_1");  // MP-63
}

// MP-68 (partly), MP-43
TEST(ResponsesAdapter, AFailureCanTakeThePlaceOfTheLastFrame) {
  Script script;
  script.say("hello");
  FakeDoors doors;
  CollectingSink sink;
  const auto adapter = responses_adapter(doors, {});
  ASSERT_TRUE(feed(*adapter, sink, sse_of(script.events())));
  const json::value replaced = json::parse(sink.events.back().data);
  adapter->fail(sink, {.message = "the ledger cannot be written"});
  const json::value failure = json::parse(sink.events.back().data);
  EXPECT_EQ(failure.at("type"), "error");
  EXPECT_EQ(failure.at("sequence_number"), replaced.at("sequence_number"));
  EXPECT_TRUE(sink.events.back().last);
}

TEST(ResponsesAdapter, ErrorsOfTheProviderPassAndEndTheAnswer) {
  Script script;
  script.say("hello");
  auto events = script.events();
  events.back() = {
      "error",
      R"({"type":"error","code":"server_error","message":"oops","param":null,"sequence_number":9})",
      true};
  events.insert(events.end(), events[0]);
  const Left left = streamed(events);
  EXPECT_TRUE(left.ended);
  EXPECT_EQ(left.events.back().name, "error");
  EXPECT_TRUE(left.events.back().last);
  script.status = "failed";
  const Left failed = streamed(script.events());
  EXPECT_EQ(failed.events, script.events());
  EXPECT_EQ(failed.observed.stop_reason, "failed");
}

TEST(ResponsesAdapter, WhatIsNoEventOfTheApiIsCorrupt) {
  for (const char* const data :
       {"{", "[]", "7", "{}", R"({"type":"response.created","type":"x"})",
        R"({"type":"response.output_text.delta","delta":"whose is it"})",
        R"({"type":"response.function_call_arguments.delta","delta":"{}"})"}) {
    const Left left = streamed({{"", data}});
    ASSERT_FALSE(left.ended) << data;
    EXPECT_EQ(left.ended.error().code, ErrorCode::Corrupt);
    EXPECT_THAT(left.events, IsEmpty());
  }
  FakeDoors doors;
  EXPECT_FALSE(sallyport::test::run_now(responses_adapter(doors, {})->on_body("[1]")));
}

TEST(ResponsesAdapter, TheProviderIsObserved) {
  Script script;
  script.say("hi");
  for (const bool stream : {true, false}) {
    FakeDoors doors;
    CollectingSink sink;
    const auto adapter = responses_adapter(doors, {});
    if (stream) {
      ASSERT_TRUE(feed(*adapter, sink, sse_of(script.events())));
    } else {
      ASSERT_TRUE(sallyport::test::run_now(adapter->on_body(script.body())));
    }
    const Observed& seen = adapter->observed();
    EXPECT_EQ(seen.response_id, "resp_abc");
    EXPECT_EQ(seen.model, "gpt-6");
    EXPECT_EQ(seen.stop_reason, "completed");
    EXPECT_EQ(seen.sent_stop_reason, "completed");
    EXPECT_TRUE(seen.stored);
    EXPECT_EQ(seen.usage->input_tokens, 20u);
    EXPECT_EQ(seen.usage->cache_read_input_tokens, 5u);
    EXPECT_EQ(seen.usage->reasoning_tokens, 3u);
    EXPECT_EQ(seen.usage->total_tokens, 30u);
  }
}

// MP-65: a match that the resumption would have cut in two is still found.
TEST(ResponsesAdapter, AResumedStreamIsTheRestOfTheWholeOne) {
  Script script;
  script.say("one SECRET two").call("refused_tool", "{}").say("three");
  const std::vector<SentEvent> all = streamed(script.events()).events;
  for (std::size_t after = 0; after + 1 < all.size(); ++after) {
    const Left rest = streamed(script.events(), {}, {.starting_after = after});
    EXPECT_EQ(rest.events, std::vector<SentEvent>(
                               all.begin() + static_cast<std::ptrdiff_t>(after) + 1, all.end()));
  }
}

// MP-65: text that the client sent once comes back through the same door; no call is decided again.
TEST(ResponsesAdapter, AListOfItemsIsChecked) {
  FakeDoors doors;
  const auto body = sallyport::test::run_now(responses_adapter(doors, {})->on_body(
      R"({"object":"list","data":[{"type":"message","role":"user","content":[{"type":"input_text","text":"SECRET"}]},)"
      R"({"type":"function_call","name":"refused_tool","call_id":"c","arguments":"{}"}],"has_more":false})"));
  EXPECT_EQ(
      *body,
      R"({"object":"list","data":[{"type":"message","role":"user","content":[{"type":"input_text","text":"[redacted]"}]},)"
      R"({"type":"function_call","name":"refused_tool","call_id":"c","arguments":"{}"}],"has_more":false})");
  EXPECT_THAT(doors.asked.decided, IsEmpty());
}

}  // namespace
}  // namespace sallyport::llm::test
