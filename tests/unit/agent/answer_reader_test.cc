#include "agent/model/answer_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/model/anthropic_wire.h"
#include "agent/model/chat_wire.h"
#include "stream_samples.h"

namespace sallyport::agent {
namespace {

using testing::HasSubstr;
using Kind = ProviderError::Kind;

struct Wire {
  std::string name;
  std::unique_ptr<FrameReader> (*frames)();
  std::string_view sample;
};

class EachWireTest : public testing::TestWithParam<Wire> {};

void expect_whole(const Read& read, const std::string& wire) {
  ASSERT_FALSE(read.error) << text_of(*read.error);
  const MessageBuilder& message = read.message;
  ASSERT_EQ(message.text(), "Gr\xC3\xBC\xC3\x9F dich \xF0\x9F\x98\x80");
  ASSERT_EQ(message.calls().size(), 2u);
  ASSERT_EQ(message.calls()[0].id, "call_a");
  ASSERT_EQ(message.calls()[0].name, "read_file");
  ASSERT_EQ(message.calls()[0].arguments, "{\"path\":\"\xC3\xA4\"}");
  ASSERT_EQ(message.calls()[1].id, "call_b");
  ASSERT_EQ(message.calls()[1].name, "list_files");
  ASSERT_EQ(message.calls()[1].arguments, R"({"path":"."})");
  ASSERT_FALSE(message.at_limit());
  ASSERT_TRUE(message.usage());
  ASSERT_EQ(message.usage()->input_tokens, 11);
  ASSERT_EQ(message.usage()->output_tokens, 7);
  ASSERT_EQ(message.usage()->cache_read_input_tokens, 3);
  if (wire == "chat") {
    ASSERT_EQ(message.usage()->total_tokens, 18);
    ASSERT_EQ(message.usage()->reasoning_tokens, 2);
    ASSERT_EQ(message.stop_reason(), "tool_calls");
  } else {
    ASSERT_EQ(message.usage()->cache_creation_input_tokens, 4);
    ASSERT_EQ(message.stop_reason(), "tool_use");
  }
}

// RT-13, RT-14, RT-17, RT-91
TEST_P(EachWireTest, EveryCutOfAStreamGivesTheSameMessage) {
  const Wire& wire = GetParam();
  for (std::size_t cut = 0; cut <= wire.sample.size(); ++cut) {
    ASSERT_NO_FATAL_FAILURE(expect_whole(read_stream(wire.frames(), wire.sample, cut), wire.name))
        << "cut at " << cut;
  }
  for (const std::size_t step : {1u, 2u, 3u, 7u, 64u, 1000u}) {
    ASSERT_NO_FATAL_FAILURE(
        expect_whole(read_stream(wire.frames(), wire.sample, step, step), wire.name))
        << "pieces of " << step;
  }
}

// RT-19, RT-91, EV-92
TEST_P(EachWireTest, AStreamThatEndsEarlyIsMalformed) {
  const Wire& wire = GetParam();
  // An answer of chat completions is complete after its finish reason.
  const std::size_t whole =
      wire.name == "chat" ? wire.sample.find("\"usage\":null}\n\n") + 15 : wire.sample.size();
  for (std::size_t end = 0; end < wire.sample.size(); ++end) {
    const Read read = read_stream(wire.frames(), wire.sample.substr(0, end));
    if (end >= whole) {
      EXPECT_FALSE(read.error) << end;
    } else {
      ASSERT_TRUE(read.error) << end;
      EXPECT_EQ(read.error->kind, Kind::MalformedStream) << end;
    }
  }
}

// RT-91
TEST_P(EachWireTest, BytesThatAreNoUtf8AreMalformedWhereverTheyStand) {
  const Wire& wire = GetParam();
  for (std::size_t at = 0; at < wire.sample.size() - 2; at += 3) {
    std::string damaged(wire.sample);
    damaged[at] = '\xFF';
    const Read whole = read_stream(wire.frames(), damaged);
    ASSERT_TRUE(whole.error) << at;
    EXPECT_EQ(whole.error->kind, Kind::MalformedStream) << at;
    const Read pieces = read_stream(wire.frames(), damaged, 5, 5);
    ASSERT_TRUE(pieces.error) << at;
    EXPECT_EQ(pieces.error, whole.error) << at;
  }
}

// RT-91
TEST_P(EachWireTest, BrokenJsonIsMalformed) {
  for (const char* const data : {"{", "{\"a\":1,\"a\":2}", "[]", "7", "{} {}", "nonsense"}) {
    const Read read = read_stream(GetParam().frames(), fmt::format("data: {}\n\n", data));
    ASSERT_TRUE(read.error) << data;
    EXPECT_EQ(read.error->kind, Kind::MalformedStream) << data;
  }
}

// RT-91
TEST_P(EachWireTest, OverSixteenMebibytesAreMalformed) {
  const std::string comment = ":" + std::string((1u << 20) - 2, ' ') + "\n";
  for (const std::size_t step : {std::size_t{1u << 20}, std::string::npos}) {
    std::string bytes;
    for (int i = 0; i < 16; ++i) bytes += comment;
    Read read = read_stream(GetParam().frames(), bytes, step, step);
    ASSERT_TRUE(read.error);
    EXPECT_THAT(read.error->message, HasSubstr("ended without"));
    read = read_stream(GetParam().frames(), bytes + ":", step, step);
    ASSERT_TRUE(read.error);
    EXPECT_EQ(read.error->kind, Kind::MalformedStream);
    EXPECT_THAT(read.error->message, HasSubstr("over 16 MiB"));
  }
  // A line without an end is not kept forever.
  const Read endless = read_stream(GetParam().frames(), std::string(17u << 20, 'x'), 4096, 4096);
  ASSERT_TRUE(endless.error);
  EXPECT_THAT(endless.error->message, HasSubstr("over 16 MiB"));
}

// EV-93
TEST_P(EachWireTest, AnErrorFrameIsRetryableWhenItSaysOverloadedOrRateLimited) {
  const std::string frame =
      "data: {{\"type\":\"error\",\"error\":{{\"type\":\"{}\",\"message\":"
      "\"{}\"}}}}\n\n";
  const auto kind_of = [&](const char* type, const char* message) {
    const Read read =
        read_stream(GetParam().frames(), fmt::format(fmt::runtime(frame), type, message));
    return read.error ? read.error->kind : Kind::Http;
  };
  EXPECT_EQ(kind_of("overloaded_error", "Overloaded"), Kind::Retryable);
  EXPECT_EQ(kind_of("rate_limit_error", "slow down"), Kind::Retryable);
  EXPECT_EQ(kind_of("server_error", "Rate limit reached"), Kind::Retryable);
  EXPECT_EQ(kind_of("api_error", "Internal server error"), Kind::InvalidResponse);
}

INSTANTIATE_TEST_SUITE_P(Wires, EachWireTest,
                         testing::Values(Wire{"chat", &chat_frames, kChatStream},
                                         Wire{"anthropic", &anthropic_frames, kAnthropicStream}),
                         [](const auto& info) { return info.param.name; });

Read read_chat(std::string_view bytes) {
  return read_stream(chat_frames(), bytes);
}
Read read_anthropic(std::vector<std::string> events) {
  std::string bytes = "data: {\"type\":\"message_start\",\"message\":{}}\n\n";
  for (const std::string& event : events) bytes += "data: " + event + "\n\n";
  return read_stream(anthropic_frames(), bytes + "data: {\"type\":\"message_stop\"}\n\n");
}

// RT-13
TEST(ChatFramesTest, DoneAloneEndsAnAnswerAndNothingBehindItIsRead) {
  const Read read = read_chat(
      "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\ndata: {\n\n\xFF\n");
  ASSERT_FALSE(read.error);
  EXPECT_EQ(read.message.text(), "a");
}

// RT-23
TEST(ChatFramesTest, LengthIsTheOutputLimit) {
  const Read read = read_chat(
      "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"length\"}]}\n\n");
  ASSERT_FALSE(read.error);
  EXPECT_TRUE(read.message.at_limit());
}

// RT-91
TEST(ChatFramesTest, ChoicesAndCallsThatNeverBeganAreMalformed) {
  for (const char* const choice :
       {R"({"index":1,"delta":{"content":"a"}})",
        R"({"index":0,"delta":{"tool_calls":[{"index":4,"function":{"arguments":"{}"}}]}})",
        R"({"index":0,"delta":{"tool_calls":[{"index":-1,"id":"a","function":{"name":"b"}}]}})"}) {
    const Read read =
        read_chat(fmt::format("data: {{\"choices\":[{}]}}\n\ndata: [DONE]\n\n", choice));
    ASSERT_TRUE(read.error) << choice;
    EXPECT_EQ(read.error->kind, Kind::MalformedStream) << choice;
  }
}

TEST(ChatFramesTest, CallsThatComeWholeWithoutAnIndexAreTaken) {
  const Read read = read_chat(
      R"(data: {"choices":[{"delta":{"tool_calls":[)"
      R"({"id":"a","function":{"name":"one","arguments":{"x":1}}},)"
      R"({"id":"b","function":{"name":"two","arguments":"{}"}}]},"finish_reason":"tool_calls"}]})"
      "\n\n");
  ASSERT_FALSE(read.error) << text_of(*read.error);
  ASSERT_EQ(read.message.calls().size(), 2u);
  EXPECT_EQ(read.message.calls()[0].arguments, R"({"x":1})");
  EXPECT_EQ(read.message.calls()[1].name, "two");
}

TEST(ChatFramesTest, ARefusalIsTheTextOfTheMessage) {
  const Read read = read_chat(
      "data: {\"choices\":[{\"delta\":{\"refusal\":\"no\"},\"finish_reason\":\"stop\"}]}\n\n");
  EXPECT_EQ(read.message.text(), "no");
}

// RT-91
TEST(AnthropicFramesTest, UnknownBlockIndexesAreMalformed) {
  const std::string start =
      R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})";
  const std::string delta =
      R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}})";
  const std::string stop = R"({"type":"content_block_stop","index":0})";
  EXPECT_FALSE(read_anthropic({start, delta, stop}).error);
  const std::vector<std::vector<std::string>> faults{
      {delta},               // never began
      {stop},                //
      {start, stop, delta},  // has ended
      {start, stop, stop},   //
      {start, start, stop},  // begins twice
      {start, delta},        // is open at the end
      {start, R"({"type":"content_block_delta","index":1,"delta":{"type":"text_delta"}})", stop},
      {start, R"({"type":"content_block_delta","delta":{"type":"text_delta"}})", stop},
      {R"({"type":"content_block_start","index":0,"content_block":{"type":"tool_use"}})", stop},
      {start,
       R"({"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta",)"
       R"("partial_json":"{}"}})",
       stop}};
  for (const auto& events : faults) {
    const Read read = read_anthropic(events);
    ASSERT_TRUE(read.error) << events.front();
    EXPECT_EQ(read.error->kind, Kind::MalformedStream);
  }
}

// RT-91
TEST(AnthropicFramesTest, UnknownBlocksAndFragmentsAreSkipped) {
  const Read read = read_anthropic(
      {R"({"type":"content_block_start","index":0,"content_block":{"type":"novelty"}})",
       R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}})",
       R"({"type":"content_block_delta","index":0,"delta":{"type":"novelty_delta"}})",
       R"({"type":"content_block_stop","index":0})", R"({"type":"novelty","deep":[1]})"});
  ASSERT_FALSE(read.error);
  EXPECT_EQ(read.message.text(), "");
}

// RT-23
TEST(AnthropicFramesTest, MaxTokensIsTheOutputLimit) {
  for (const auto& [reason, limit] : {std::pair{"max_tokens", true},
                                      {"model_context_window_exceeded", true},
                                      {"end_turn", false}}) {
    const Read read = read_anthropic(
        {fmt::format(R"({{"type":"message_delta","delta":{{"stop_reason":"{}"}}}})", reason)});
    ASSERT_FALSE(read.error);
    EXPECT_EQ(read.message.at_limit(), limit) << reason;
    EXPECT_EQ(read.message.stop_reason(), reason);
  }
}

// RT-17
TEST(MessageBuilderTest, CallsStandInTheOrderOfTheirIndexes) {
  MessageBuilder builder;
  EXPECT_TRUE(builder.add(CallDelta{.index = 7, .id = "c", .name = "third"}));
  EXPECT_TRUE(builder.add(CallDelta{.index = 2, .id = "b", .name = "sec"}));
  EXPECT_TRUE(builder.add(CallDelta{.index = 0, .id = "a", .name = "first", .arguments = "{"}));
  EXPECT_TRUE(builder.add(CallDelta{.index = 2, .name = "ond"}));
  EXPECT_TRUE(builder.add(CallDelta{.index = 7, .arguments = "{}"}));
  EXPECT_TRUE(builder.add(CallDelta{.index = 0, .id = "a", .name = "first", .arguments = "}"}));
  ASSERT_EQ(builder.calls().size(), 3u);
  EXPECT_EQ(builder.calls()[0].arguments, "{}");
  EXPECT_EQ(builder.calls()[1].name, "second");
  EXPECT_EQ(builder.calls()[2].id, "c");
}

// RT-91
TEST(MessageBuilderTest, CallsThatContradictThemselvesAreMalformed) {
  const std::vector<CallDelta> faults{
      {.index = 1, .arguments = "{}"}, {.index = 1, .id = "a", .name = "other"},
      {.index = 1, .id = "b"},         {.index = 1, .name = "other"},
      {.index = 0, .id = "b"},         {.index = 0, .name = "other"}};
  for (const CallDelta& fault : faults) {
    MessageBuilder builder;
    EXPECT_TRUE(builder.add(CallDelta{.id = "a", .name = "tool", .arguments = "{}"}));
    EXPECT_FALSE(builder.add(fault)) << fault.index << fault.id << fault.name;
  }
}

// RT-91
TEST(MessageBuilderTest, SizeAndCountAreLimited) {
  MessageBuilder builder;
  const std::string part(1u << 20, 'x');
  for (int i = 0; i < 16; ++i) EXPECT_TRUE(builder.add(TextDelta{part}));
  EXPECT_FALSE(builder.add(TextDelta{"x"}));
  MessageBuilder many;
  for (std::uint64_t i = 0; i < 256; ++i) {
    EXPECT_TRUE(many.add(CallDelta{.index = i, .id = std::to_string(i), .name = "t"}));
  }
  EXPECT_FALSE(many.add(CallDelta{.index = 256, .id = "x", .name = "t"}));
}

// RT-17 RT-91
TEST(MessageBuilderTest, ACallSaysWhichOfItsPartsIsMissing) {
  const auto refusal = [](CallDelta delta) {
    MessageBuilder message;
    const auto added = message.add(ModelEvent(std::move(delta)));
    return added ? std::string("added") : added.error().message;
  };
  EXPECT_EQ(refusal({.index = 0, .id = "a", .name = "t"}), "added");
  EXPECT_NE(refusal({.index = 0, .name = "t"}).find("call 0 has no id"), std::string::npos);
  EXPECT_NE(refusal({.index = 0, .id = "a"}).find("call 0 has no name"), std::string::npos);
  EXPECT_NE(refusal({.index = 0, .arguments = "{}"}).find("never began"), std::string::npos);
}

}  // namespace
}  // namespace sallyport::agent
