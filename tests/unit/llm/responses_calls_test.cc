#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "responses_script.h"

namespace sallyport::llm::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> types(const json::value& response) {
  std::vector<std::string> all;
  for (const json::value& item : response.at("output").as_array()) {
    all.emplace_back(text_in(item, "type"));
  }
  return all;
}

std::string text_at(const json::value& response, std::size_t item) {
  return std::string(text_in(response.at("output").at(item).at("content").at(0), "text"));
}

// The row "client call refused, others left" of section 5. MP-57
TEST(ResponsesCalls, ARefusedCallIsAMessageAtItsIndexAndTheOthersLeave) {
  Script script;
  script.say("both")
      .call("read", R"({"a":1})")
      .call("refused_tool", "{}")
      .call("write", R"({"b":2})");
  const Left left = streamed(script.events());
  const json::value response = accumulated(left.events);
  EXPECT_THAT(types(response), ElementsAre("message", "function_call", "message", "function_call"));
  EXPECT_EQ(text_at(response, 2), "[refused]");
  EXPECT_EQ(response.at("output").at(2).at("status"), "completed");
  EXPECT_EQ(response.at("status"), "completed");
  EXPECT_EQ(response.at("usage").at("input_tokens"), 20);
  EXPECT_FALSE(left.holds("refused_tool"));
  EXPECT_EQ(response, body_of(script));
  ASSERT_EQ(left.asked.decided.size(), 3u);
  EXPECT_EQ(left.asked.decided[0].id, "call_1");
  EXPECT_EQ(left.asked.decided[0].type, "function_call");
  EXPECT_EQ(left.asked.decided[0].input, (json::value{{"a", 1}}));
}

// The row "client call refused, none left" of section 5.
TEST(ResponsesCalls, WithoutACallLeftTheResponseIsCompleted) {
  Script script;
  script.call("refused_tool", "{}");
  const Left left = streamed(script.events());
  EXPECT_THAT(left.names(),
              ElementsAre("created", "in_progress", "output_item.added", "content_part.added",
                          "output_text.delta", "output_text.done", "content_part.done",
                          "output_item.done", "completed"));
  EXPECT_EQ(accumulated(left.events).at("status"), "completed");
  EXPECT_EQ(accumulated(left.events), body_of(script));
}

// The row "client call rewritten" of section 5. MP-58
TEST(ResponsesCalls, ARewrittenCallLeavesInOneDelta) {
  Script script;
  script.call("rewritten_tool", R"({"dangerous":1})");
  const Left left = streamed(script.events());
  EXPECT_THAT(
      left.names(),
      ElementsAre("created", "in_progress", "output_item.added", "function_call_arguments.delta",
                  "function_call_arguments.done", "output_item.done", "completed"));
  const json::value response = accumulated(left.events);
  EXPECT_EQ(left.at(2).at("item").at("arguments"), "");
  EXPECT_EQ(left.at(3).at("delta"), R"({"safe":true})");
  EXPECT_EQ(response.at("output").at(0).at("arguments"), R"({"safe":true})");
  EXPECT_EQ(response.at("output").at(0).at("call_id"), "call_0");
  EXPECT_FALSE(left.holds("dangerous"));
  EXPECT_EQ(response, body_of(script));
}

// MP-56: no byte of a call is sent before its decision.
TEST(ResponsesCalls, ACallIsHeldUntilItIsDecided) {
  Script script;
  script.say("hi").call("read", R"({"a":1})").say("after");
  FakeDoors doors;
  CollectingSink sink;
  const auto adapter = responses_adapter(doors, {});
  std::size_t before = 0;
  doors.while_deciding = [&] {
    before = sink.events.size();
    for (const SentEvent& event : sink.events) {
      EXPECT_EQ(event.data.find("read"), std::string::npos);
      EXPECT_EQ(event.data.find("after"), std::string::npos);
    }
  };
  ASSERT_TRUE(feed(*adapter, sink, sse_of(script.events())));
  EXPECT_EQ(before, 8u);  // all of the message
  EXPECT_EQ(sink.events, script.events());
}

// An answer may fail while an approver is asked: the decision is too late, and nothing follows.
TEST(ResponsesCalls, AFailureDuringADecisionIsTheEnd) {
  Script script;
  script.say("hi").call("read", "{}");
  FakeDoors doors;
  CollectingSink sink;
  const auto adapter = responses_adapter(doors, {});
  doors.while_deciding = [&] { adapter->fail(sink, {.message = "too late"}); };
  EXPECT_TRUE(feed(*adapter, sink, sse_of(script.events())));
  EXPECT_EQ(sink.events.back().name, "error");
  EXPECT_TRUE(sink.events.back().last);
  EXPECT_THAT(doors.asked.dropped, IsEmpty());  // its door knows about it
  accumulated(sink.events);
}

// MP-55: each type of call, its tool and its input.
TEST(ResponsesCalls, EveryTypeOfCallIsDecided) {
  struct Case {
    const char* item;
    const char* name;
    const char* input;
  };
  for (
      const Case& one : std::vector<Case>{
          {R"({"id":"i","type":"custom_tool_call","call_id":"c","name":"patch","input":"free text"})",
           "patch", R"({"input":"free text"})"},
          {R"({"id":"i","type":"computer_call","call_id":"c","status":"completed","action":{"type":"click","x":1}})",
           "computer", R"({"type":"click","x":1})"},
          {R"({"id":"i","type":"computer_call","call_id":"c","actions":[{"type":"wait"}]})",
           "computer", R"({"actions":[{"type":"wait"}]})"},
          {R"({"id":"i","type":"local_shell_call","call_id":"c","action":{"type":"exec","command":["ls"]}})",
           "local_shell", R"({"type":"exec","command":["ls"]})"},
          {R"({"id":"i","type":"shell_call","call_id":"c","action":{"commands":["ls"]}})", "shell",
           R"({"commands":["ls"]})"},
          {R"({"id":"i","type":"shell_call","call_id":"c","environment":{"type":"local"},"action":{"commands":["ls"]}})",
           "shell", R"({"commands":["ls"]})"},
          {R"({"id":"i","type":"apply_patch_call","call_id":"c","operation":{"type":"update_file","path":"p","diff":"+x"}})",
           "apply_patch", R"({"type":"update_file","path":"p","diff":"+x"})"},
          {R"({"id":"c","type":"mcp_approval_request","name":"far","server_label":"s","arguments":"{\"q\":1}"})",
           "far", R"({"q":1})"},
          {R"({"id":"i","type":"tool_search_call","call_id":"c","execution":"client","arguments":{"q":"x"}})",
           "tool_search", R"({"q":"x"})"}}) {
    Script script;
    script.item(json::parse(one.item).as_object());
    for (const bool stream : {true, false}) {
      const Left left = stream ? streamed(script.events()) : Left{};
      Asked asked = left.asked;
      if (!stream) body_of(script, {}, {}, &asked);
      ASSERT_EQ(asked.decided.size(), 1u) << one.item;
      EXPECT_EQ(asked.decided[0].id, "c");
      EXPECT_EQ(asked.decided[0].name, one.name);
      EXPECT_EQ(asked.decided[0].input, json::parse(one.input));
      EXPECT_THAT(asked.whole, IsEmpty());
      if (stream) EXPECT_EQ(left.events, script.events());
    }
  }
}

TEST(ResponsesCalls, ANumberThatADoubleCannotHoldStaysAsItCame) {
  Script script;
  script.call("read", R"({"n":12345678901234567890123})");
  const Left left = streamed(script.events());
  EXPECT_EQ(left.asked.decided.at(0).raw_input, R"({"n":12345678901234567890123})");
  EXPECT_EQ(left.events, script.events());
}

// MP-59
TEST(ResponsesCalls, ACallWithoutJsonIsNeverHandedOut) {
  Script script;
  script.call("read", R"({"a":)").say("after");
  const Left left = streamed(script.events());
  EXPECT_THAT(left.asked.decided, IsEmpty());
  EXPECT_EQ(left.asked.dropped.at(0).first, "call_0");
  const json::value response = accumulated(left.events);
  EXPECT_EQ(text_at(response, 0), "[dropped]");
  EXPECT_FALSE(left.holds("\"read\""));
  EXPECT_EQ(response, body_of(script));
}

// MP-59: the stop reason stays.
TEST(ResponsesCalls, ACallThatAnOutputLimitCutIsNeverHandedOut) {
  Script script;
  script.say("hi").call("read", R"({"a":1})");
  script.items[1].whole["status"] = "incomplete";
  script.status = "incomplete";
  script.details = json::object{{"reason", "max_output_tokens"}};
  const Left left = streamed(script.events());
  const json::value response = accumulated(left.events);
  EXPECT_EQ(text_at(response, 1), "[dropped]");
  EXPECT_EQ(response.at("status"), "incomplete");
  EXPECT_EQ(response.at("incomplete_details").at("reason"), "max_output_tokens");
  EXPECT_EQ(left.observed.sent_stop_reason, "max_output_tokens");
  EXPECT_EQ(response, body_of(script));

  auto events = script.events();  // the item never ends, and the response does
  events.erase(events.end() - 2);
  const Left cut = streamed(events);
  EXPECT_EQ(accumulated(cut.events), response);
  EXPECT_EQ(cut.asked.dropped.size(), 1u);
}

// `observe`: calls pass unchanged and are recorded.
TEST(ResponsesCalls, ObservedCallsPassAtOnce) {
  Script script;
  script.call("refused_tool", R"({"a":1})").say("hi");
  const Left left = streamed(script.events(), {.holds_calls = false});
  EXPECT_EQ(left.events, script.events());
  ASSERT_EQ(left.asked.decided.size(), 1u);
  EXPECT_EQ(left.asked.decided[0].name, "refused_tool");
  Asked asked;
  EXPECT_EQ(body_of(script, {.holds_calls = false}, {}, &asked), json::parse(script.body()));
  EXPECT_EQ(asked.decided.size(), 1u);
}

// MP-40, MP-57: calls that arrive interleaved are sent in the order of their indices.
TEST(ResponsesCalls, InterleavedCallsLeaveInTheProvidersOrder) {
  Script script;
  script.call("read", R"({"a":1})").call("refused_tool", "{ }").say("last");
  const auto events = script.events();
  const auto index_of = [&](const SentEvent& event) {
    return count_in(json::parse(event.data), "output_index");
  };
  // From the last item to the first, except the beginning and the end.
  std::vector<SentEvent> mixed(events.begin(), events.begin() + 2);
  mixed.push_back(events[2]);  // the first call begins
  for (const std::uint64_t wanted : {2u, 1u, 0u}) {
    for (std::size_t i = 3; i + 1 < events.size(); ++i) {
      if (index_of(events[i]) == wanted) mixed.push_back(events[i]);
    }
  }
  mixed.push_back(events.back());
  const Left left = streamed(mixed);
  ASSERT_TRUE(left.ended);
  const json::value response = accumulated(left.events);
  EXPECT_THAT(types(response), ElementsAre("function_call", "message", "message"));
  EXPECT_EQ(text_at(response, 1), "[refused]");
  EXPECT_EQ(text_at(response, 2), "last");
  EXPECT_EQ(left.asked.decided.at(0).name, "read");
  EXPECT_EQ(left.asked.decided.at(1).name, "refused_tool");
  EXPECT_EQ(response, body_of(script));
}

// A provider whose deltas describe another call than its item: the decided one is sent.
TEST(ResponsesCalls, OnlyTheDecidedArgumentsLeave) {
  Script script;
  script.call("read", R"({"path":"ok"})");
  Script evil = script;
  evil.items[0].events[1].second["delta"] = "evil";
  Left left = streamed(evil.events());
  EXPECT_FALSE(left.holds("evil"));
  EXPECT_EQ(accumulated(left.events), body_of(script));

  evil = script;
  evil.items[0].begun["arguments"] = "evil";
  evil.items[0].begun["name"] = "evil_tool";
  left = streamed(evil.events());
  EXPECT_FALSE(left.holds("evil"));
  EXPECT_EQ(accumulated(left.events), body_of(script));

  auto events = script.events();  // the final object names another call
  const std::size_t at = events.back().data.find("ok");
  events.back().data.replace(at, 2, "evil");
  left = streamed(events);
  EXPECT_FALSE(left.holds("evil"));
  EXPECT_EQ(accumulated(left.events), body_of(script));
}

// A call that only the final object contains is decided there.
TEST(ResponsesCalls, ACallWithoutEventsOfItsOwnIsDecided) {
  Script script;
  script.say("hi").call("refused_tool", "{}");
  auto events = script.events();
  std::erase_if(events, [](const SentEvent& event) {
    return count_in(json::parse(event.data), "output_index") == 1u;
  });
  const Left left = streamed(events);
  EXPECT_FALSE(left.holds("refused_tool"));
  EXPECT_EQ(left.asked.decided.size(), 1u);
  EXPECT_EQ(text_at(left.at(left.events.size() - 1).at("response"), 1), "[refused]");
}

// MP-9, MP-44
TEST(ResponsesCalls, AHitInAnUnknownMemberOfACallEndsTheMessage) {
  for (const bool holds : {true, false}) {
    Script script;
    script.say("hi").call("read", "{}");
    script.items[1].whole["mood"] = json::object{{"deep", "a SECRET"}};
    const Left left = streamed(script.events(), {.holds_calls = holds});
    const json::value response = accumulated(left.events);
    EXPECT_EQ(response.at("incomplete_details").at("reason"), "content_filter");
    EXPECT_FALSE(left.holds("a SECRET"));
    EXPECT_THAT(left.asked.decided, IsEmpty());
    EXPECT_EQ(left.asked.dropped.size(), holds ? 1u : 0u);
    EXPECT_EQ(body_of(script, {.holds_calls = holds}).at("status"), "incomplete");
  }
}

// MP-63
TEST(ResponsesCalls, CallsThatHaveNotLeftAtABlockAreDropped) {
  Script script;
  script.say("a FORBIDDEN b").call("read", "{}").call("write", "{}");
  auto events = script.events();
  // Both calls begin before the block comes.
  std::vector<SentEvent> mixed(events.begin(), events.begin() + 4);
  for (const SentEvent& event : events) {
    const json::value value = json::parse(event.data);
    if (event.name == "response.output_item.added" && count_in(value, "output_index") > 0u) {
      mixed.push_back(event);
    }
  }
  mixed.insert(mixed.end(), events.begin() + 4, events.end());
  const Left left = streamed(mixed);
  const json::value response = accumulated(left.events);
  EXPECT_EQ(response.at("status"), "incomplete");
  EXPECT_THAT(types(response), ElementsAre("message"));
  EXPECT_EQ(text_at(response, 0), "a [withheld]");
  ASSERT_EQ(left.asked.dropped.size(), 2u);
  EXPECT_EQ(left.asked.dropped[0].first, "call_1");
  EXPECT_EQ(left.asked.dropped[1].first, "call_2");
}

// Commands of a local shell arrive in events of their own type.
TEST(ResponsesCalls, EventsOfAShellCallAreHeldWithIt) {
  Script script;
  script.item({{"id", "s"},
               {"type", "shell_call"},
               {"call_id", "c"},
               {"status", "completed"},
               {"action", {{"commands", json::array{"ls -l"}}}}},
              {{"id", "s"},
               {"type", "shell_call"},
               {"call_id", "c"},
               {"status", "in_progress"},
               {"action", {{"commands", json::array{}}}}});
  script.items[0].events = {
      {"shell_call_command.added", {{"command", ""}, {"command_index", 0}}},
      {"shell_call_command.delta", {{"delta", "ls"}, {"command_index", 0}}},
      {"shell_call_command.delta", {{"delta", " -l"}, {"command_index", 0}}},
      {"shell_call_command.done", {{"command", "ls -l"}, {"command_index", 0}}}};
  EXPECT_EQ(streamed(script.events()).events, script.events());
  script.items[0].events[1].second["delta"] = "rm";
  const Left left = streamed(script.events());
  EXPECT_FALSE(left.holds("\"rm\""));
  EXPECT_THAT(left.names(), ElementsAre("created", "in_progress", "output_item.added",
                                        "output_item.done", "completed"));
  // In a container the provider has run it: its text is checked in passing.
  script.items[0].begun["environment"] = {{"type", "container_reference"}};
  script.items[0].whole["environment"] = {{"type", "container_reference"}};
  script.items[0].events[1].second["delta"] = "SECRET";
  script.items[0].events[3].second["command"] = "SECRET -l";
  script.items[0].whole["action"] = {{"commands", json::array{"SECRET -l"}}};
  const Left hosted = streamed(script.events());
  EXPECT_THAT(hosted.asked.decided, IsEmpty());
  EXPECT_FALSE(hosted.holds("SECRET"));
  EXPECT_EQ(accumulated(hosted.events).at("output").at(0).at("action").at("commands").at(0),
            "[redacted] -l");
}

// MP-78
TEST(ResponsesCalls, MoreThanTheLimitOfCallsIsExhausted) {
  Script script;
  for (int i = 0; i < 1025; ++i) script.call("read", "{}");
  const Left left = streamed(script.events());
  ASSERT_FALSE(left.ended);
  EXPECT_EQ(left.ended.error().code, ErrorCode::Exhausted);
}

}  // namespace
}  // namespace sallyport::llm::test
