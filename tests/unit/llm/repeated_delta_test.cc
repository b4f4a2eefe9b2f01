#include "llm/repeated_delta.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "fake_doors.h"
#include "llm/json_splice.h"

namespace sallyport::llm::test {
namespace {

constexpr RepeatedDelta::Places kChat{.text = "/choices/0/delta/content"};
constexpr RepeatedDelta::Places kPadded{.text = kChat.text, .padding = "/obfuscation"};

std::string chunk(std::string_view text, std::string_view created = "1",
                  std::string_view more = "") {
  return fmt::format(
      R"({{"id":"c","object":"chat.completion.chunk","created":{},"model":"m","choices":[{{"index":0,)"
      R"("delta":{{"content":"{}"}},"finish_reason":null}}]{}}})",
      created, text, more);
}

std::string delta(std::string_view text, std::string_view space = "") {
  return fmt::format(
      R"({{"type":"content_block_delta",{}"index":0,"delta":{{"type":"text_delta","text":"{}"}}}})",
      space, text);
}

std::string sse(std::string_view data) {
  return fmt::format("data: {}\n\n", data);
}

// A text with several beginnings of the searched words, in pieces as a model sends it.
std::vector<std::string> pieces(std::mt19937& chance) {
  static constexpr std::string_view kParts[] = {"SEC", "RET",     "SECRET", "FORB", "SE",
                                                "a",   "Grüße ",  "日本",   " ",    "plain, text",
                                                "\\n", "\\u00e9", "S",      "",     "\\\"x"};
  std::vector<std::string> all;
  std::uniform_int_distribution<std::size_t> one(0, std::size(kParts) - 1);
  for (std::size_t i = 0; i < 24; ++i) all.emplace_back(kParts[one(chance)]);
  if (chance() % 3 == 0) all.insert(all.end(), {"FORBID", "DEN", " never"});
  return all;
}

std::string read_text(RepeatedDelta& repeated, const std::string& data) {
  const auto delta = repeated.read(data);
  return delta ? std::string(delta->text) : "nothing was recognised";
}

struct Sent {
  std::vector<SentEvent> events;
  Asked asked;
  bool whole = false;
};

Sent answer(Api api, const std::string& stream) {
  FakeDoors doors;
  CollectingSink out;
  const auto adapter = answer_adapter(api, doors, {});
  const bool whole = feed(*adapter, out, stream).has_value();
  return {std::move(out.events), std::move(doors.asked), whole};
}

std::string without(std::string text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part)) {
    text.erase(at, part.size());
  }
  return text;
}

// MP-5, MP-41: an event that is recognised by its bytes is sent like one that is parsed as JSON.
TEST(RepeatedDelta, AStreamOfChatLeavesAsIfEachChunkWereRead) {
  std::mt19937 chance(5);
  for (int round = 0; round < 300; ++round) {
    std::string alike = sse(chunk("begin"));
    std::string differing = sse(chunk("begin"));
    int number = 0;
    for (const std::string& piece : pieces(chance)) {
      alike += sse(chunk(piece));
      differing += sse(chunk(piece, fmt::format("1{}", std::string(++number % 2, '0'))));
    }
    const std::string end =
        sse(R"({"id":"c","created":1,"model":"m","choices":[{"index":0,"delta":{},)"
            R"("finish_reason":"stop"}]})") +
        sse("[DONE]");
    const Sent fast = answer(Api::OpenAiChat, alike + end);
    Sent slow = answer(Api::OpenAiChat, differing + end);
    for (SentEvent& event : slow.events) event.data = without(event.data, "\"created\":10,");
    std::vector<SentEvent> expected = fast.events;
    for (SentEvent& event : expected) event.data = without(event.data, "\"created\":1,");
    for (SentEvent& event : slow.events) event.data = without(event.data, "\"created\":1,");
    ASSERT_EQ(expected, slow.events);
    ASSERT_EQ(fast.asked.pushed, slow.asked.pushed);
    ASSERT_TRUE(fast.whole && slow.whole);
  }
}

// MP-5, MP-41
TEST(RepeatedDelta, AStreamOfMessagesLeavesAsIfEachDeltaWereRead) {
  const std::string begin =
      sse(R"({"type":"message_start","message":{"id":"m","type":"message","role":"assistant",)"
          R"("content":[],"model":"c","usage":{"input_tokens":1,"output_tokens":1}}})") +
      sse(R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})");
  const std::string end = sse(R"({"type":"content_block_stop","index":0})") +
                          sse(R"({"type":"message_delta","delta":{"stop_reason":"end_turn"}})") +
                          sse(R"({"type":"message_stop"})");
  constexpr std::string_view kTabs = "\t\t";
  std::mt19937 chance(6);
  for (int round = 0; round < 300; ++round) {
    std::string alike = begin;
    std::string differing = begin;
    int number = 0;
    for (const std::string& piece : pieces(chance)) {
      alike += sse(delta(piece));
      differing += sse(delta(piece, kTabs.substr(++number % 2)));
    }
    const Sent fast = answer(Api::AnthropicMessages, alike + end);
    Sent slow = answer(Api::AnthropicMessages, differing + end);
    for (SentEvent& event : slow.events) event.data = without(event.data, "\t");
    ASSERT_EQ(fast.events, slow.events);
    ASSERT_EQ(fast.asked.pushed, slow.asked.pushed);
    ASSERT_TRUE(fast.whole && slow.whole);
  }
}

// MP-5, MP-41, MP-43
TEST(RepeatedDelta, AStreamOfResponsesLeavesAsIfEachDeltaWereRead) {
  const std::string begin =
      sse(R"({"type":"response.created","sequence_number":0,"response":{"id":"r","object":"response",)"
          R"("status":"in_progress","output":[]}})") +
      sse(R"({"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":)"
          R"("m","type":"message","status":"in_progress","role":"assistant","content":[]}})") +
      sse(R"({"type":"response.content_part.added","sequence_number":2,"item_id":"m","output_index":)"
          R"(0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}})");
  const auto said = [](std::string_view text, int number, std::string_view space) {
    return sse(fmt::format(
        R"({{"type":"response.output_text.delta",{}"sequence_number":{},"item_id":"m",)"
        R"("output_index":0,"content_index":0,"delta":"{}","logprobs":[],"obfuscation":"{}"}})",
        space, number, text, std::string(1 + number % 5, 'x')));
  };
  constexpr std::string_view kTabs = "\t\t";
  std::mt19937 chance(7);
  for (int round = 0; round < 300; ++round) {
    std::string alike = begin;
    std::string differing = begin;
    int number = 2;
    for (const std::string& piece : pieces(chance)) {
      ++number;
      alike += said(piece, number, "");
      differing += said(piece, number, kTabs.substr(number % 2));
    }
    const Sent fast = answer(Api::OpenAiResponses, alike);
    Sent slow = answer(Api::OpenAiResponses, differing);
    for (SentEvent& event : slow.events) event.data = without(event.data, "\t");
    ASSERT_EQ(fast.events, slow.events);
    ASSERT_EQ(fast.asked.pushed, slow.asked.pushed);
    ASSERT_GT(fast.events.size(), 3u);
  }
}

// MP-8: the provider's padding of a chunk differs each time, and passes.
TEST(RepeatedDelta, ItsPaddingMayDifferToo) {
  RepeatedDelta repeated;
  repeated.learn(chunk("a", "1", R"(,"obfuscation":"xyz")"), kPadded);
  EXPECT_EQ(read_text(repeated, chunk("more", "1", R"(,"obfuscation":"q")")), "more");
  EXPECT_EQ(read_text(repeated, chunk("more", "1", R"(,"obfuscation":"")")), "more");
  EXPECT_FALSE(repeated.read(chunk("more", "1", R"(,"obfuscation":"a\n")")));
  EXPECT_FALSE(repeated.read(chunk("more", "1", R"(,"obfuscation":"a","usage":{})")));
  EXPECT_FALSE(repeated.read(chunk("more")));
}

// MP-41, MP-44: a provider cannot hide a member, a second text or bad bytes in a text.
TEST(RepeatedDelta, NothingButAPlainTextIsRecognised) {
  RepeatedDelta repeated;
  EXPECT_FALSE(repeated.read(chunk("a")));
  repeated.learn(chunk("a"), kChat);
  EXPECT_EQ(read_text(repeated, chunk("b c")), "b c");
  EXPECT_EQ(read_text(repeated, chunk("Grüße")), "Grüße");
  for (const std::string_view text : {"", "a\\n", "a\nb", "\x01", "\xff", "\xc3", "x\"",
                                      R"(x","content":"y)", R"(x"},"unknown":{"content":"y)"}) {
    EXPECT_FALSE(repeated.read(chunk(text))) << text;
  }
  EXPECT_FALSE(repeated.read(chunk("b", "2")));
  EXPECT_FALSE(repeated.read(chunk("b") + " "));
  EXPECT_FALSE(repeated.read(chunk("b", "1", R"(,"x":1)")));
  EXPECT_FALSE(repeated.read(chunk("b").substr(0, 100)));
}

// MP-44
TEST(RepeatedDelta, AnUnknownMemberIsLookedAtInEveryChunk) {
  std::string stream;
  for (int i = 0; i < 3; ++i) stream += sse(chunk("a", "1", R"(,"strange":"x")"));
  EXPECT_EQ(answer(Api::OpenAiChat, stream).asked.unknown.size(), 3u);
}

TEST(RepeatedDelta, WhatNeverRepeatsIsNotLearntForEver) {
  RepeatedDelta repeated;
  int learnt = 0;
  for (; repeated.may_learn() && learnt < 100; ++learnt) {
    repeated.learn(chunk("a", fmt::to_string(learnt)), kChat);
    EXPECT_FALSE(repeated.read(chunk("b", fmt::to_string(learnt + 1))));
  }
  EXPECT_EQ(learnt, 8);
}

// MP-5
TEST(RepeatedDelta, AnotherTextStandsInItsPlace) {
  const std::string data = chunk("old", "7");
  RepeatedDelta repeated;
  repeated.learn(data, {.text = kChat.text, .number = "/created"});
  const auto delta = repeated.read(data);
  ASSERT_TRUE(delta);
  EXPECT_EQ(delta->number, "7");
  EXPECT_EQ(with_text(data, *delta, "n\"ew"), chunk("n\\\"ew", "7"));
  EXPECT_EQ(with_text(data, *delta, "new", "12"), chunk("new", "12"));
  for (const std::string_view number : {"", "-1", "01", "1.5", "1e3", "1234567890123456"}) {
    EXPECT_FALSE(repeated.read(chunk("old", number))) << number;
  }
}

}  // namespace
}  // namespace sallyport::llm::test
