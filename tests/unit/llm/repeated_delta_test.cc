#include "llm/repeated_delta.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "fake_doors.h"
#include "llm/json_splice.h"

namespace sallyport::llm::test {
namespace {

constexpr std::string_view kPointer = "/choices/0/delta/content";

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

// A text of which some begins what checks look for, in pieces as a model sends it.
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

// MP-5, MP-41: an event that is recognised by its bytes leaves as one that is read as JSON.
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

// MP-8: what the provider pads a chunk with differs each time, and passes.
TEST(RepeatedDelta, ItsPaddingMayDifferToo) {
  RepeatedDelta repeated;
  repeated.learn(chunk("a", "1", R"(,"obfuscation":"xyz")"), kPointer, "/obfuscation");
  EXPECT_EQ(repeated.text_of(chunk("more", "1", R"(,"obfuscation":"q")")), "more");
  EXPECT_EQ(repeated.text_of(chunk("more", "1", R"(,"obfuscation":"")")), "more");
  EXPECT_FALSE(repeated.text_of(chunk("more", "1", R"(,"obfuscation":"a\n")")));
  EXPECT_FALSE(repeated.text_of(chunk("more", "1", R"(,"obfuscation":"a","usage":{})")));
  EXPECT_FALSE(repeated.text_of(chunk("more")));
}

// MP-41, MP-44: a provider cannot hide a member, a second text or bad bytes in a text.
TEST(RepeatedDelta, NothingButAPlainTextIsRecognised) {
  RepeatedDelta repeated;
  EXPECT_FALSE(repeated.text_of(chunk("a")));
  repeated.learn(chunk("a"), kPointer);
  EXPECT_EQ(repeated.text_of(chunk("b c")), "b c");
  EXPECT_EQ(repeated.text_of(chunk("Grüße")), "Grüße");
  for (const std::string_view text : {"", "a\\n", "a\nb", "\x01", "\xff", "\xc3", "x\"",
                                      R"(x","content":"y)", R"(x"},"unknown":{"content":"y)"}) {
    EXPECT_FALSE(repeated.text_of(chunk(text))) << text;
  }
  EXPECT_FALSE(repeated.text_of(chunk("b", "2")));
  EXPECT_FALSE(repeated.text_of(chunk("b") + " "));
  EXPECT_FALSE(repeated.text_of(chunk("b", "1", R"(,"x":1)")));
  EXPECT_FALSE(repeated.text_of(chunk("b").substr(0, 100)));
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
    repeated.learn(chunk("a", fmt::to_string(learnt)), kPointer);
    EXPECT_FALSE(repeated.text_of(chunk("b", fmt::to_string(learnt + 1))));
  }
  EXPECT_EQ(learnt, 8);
}

// MP-5
TEST(RepeatedDelta, AnotherTextStandsInItsPlace) {
  const std::string data = chunk("old");
  const std::string_view part = std::string_view(data).substr(data.find("old"), 3);
  EXPECT_EQ(with_text(data, part, "n\"ew"), chunk("n\\\"ew"));
}

}  // namespace
}  // namespace sallyport::llm::test
