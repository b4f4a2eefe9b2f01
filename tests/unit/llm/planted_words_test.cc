// Random answers with words at random places of random channels, cut into random deltas.
#include <gtest/gtest.h>

#include <random>

#include "anthropic_samples.h"
#include "chat_samples.h"

namespace sallyport::llm::test {
namespace {

class Chance {
 public:
  explicit Chance(unsigned seed) : engine_(seed) {}

  std::size_t below(std::size_t bound) { return engine_() % bound; }

  std::string words() {
    static const std::vector<std::string> kWords{
        "SECRET", "calm", "SEC", "RET", "FORB", "\u00e9 ", "S", " ", "\"quoted\"", "SECRETSECRET"};
    std::string text;
    for (std::size_t left = below(6); left > 0; --left) text += kWords[below(kWords.size())];
    if (below(12) == 0) text += "FORBIDDEN";
    if (below(12) == 0) text += " after";
    return text;
  }

  std::vector<std::string> pieces(const std::string& text) {
    std::vector<std::string> all;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t length = 1 + below(7);
      while (at + length < text.size() && (text[at + length] & 0xc0) == 0x80) ++length;
      all.push_back(text.substr(at, length));
      at += length;
    }
    return all;
  }

  std::string tool() {
    static const std::vector<std::string> kTools{"tool", "tool", "refused_tool", "rewritten_tool"};
    return kTools[below(kTools.size())];
  }

  AnswerSettings settings() {
    return {.end_on_signed_hit = below(3) == 0,
            .block_as_answer = below(3) == 0,
            .json_format = below(4) == 0};
  }

 private:
  std::mt19937 engine_;
};

void expect_no_words(const std::string& text, const std::string& sse) {
  EXPECT_EQ(text.find("SECRET"), std::string::npos) << text << "\n" << sse;
  EXPECT_EQ(text.find("FORBIDDEN"), std::string::npos) << text << "\n" << sse;
}

std::string random_block(Chance& chance, unsigned index) {
  using namespace anthropic;
  const std::string word = json_string(chance.words());
  switch (chance.below(8)) {
    case 0:
      return thinking(index, chance.pieces(chance.words()));
    case 1:
      return thinking(index, chance.pieces(chance.words()), "");
    case 2:
      return call(index, chance.tool(), chance.pieces(R"({"a":[1.50,"x"]})"));
    case 3:
      return call(index, "web_search", chance.pieces("{\"query\":" + word + "}"),
                  "server_tool_use");
    case 4:
      return start(
                 index,
                 fmt::format(
                     R"({{"type":"mcp_tool_result","tool_use_id":"x","is_error":false,"content":[{{"type":"text","text":{}}}]}})",
                     word)) +
             stop(index);
    case 5:
      return start(index, fmt::format(R"({{"type":"hologram","frames":[{}]}})", word)) +
             stop(index);
    case 6:
      return start(index, R"({"type":"text","text":"","citations":[]})") +
             delta(index,
                   fmt::format(
                       R"({{"type":"citations_delta","citation":{{"type":"c","cited_text":{}}}}})",
                       word)) +
             delta(index, R"({"type":"text_delta","text":"cited"})") + stop(index);
    default:
      return text(index, chance.pieces(chance.words()));
  }
}

// MP-41, MP-38, MP-43
TEST(PlantedWords, NeverLeaveInAMessageOfAnthropic) {
  for (unsigned seed = 0; seed < 1500; ++seed) {
    Chance chance(seed);
    std::string sse = anthropic::begin();
    const std::size_t count = chance.below(5);
    for (unsigned i = 0; i < count; ++i) sse += random_block(chance, i);
    sse += anthropic::finish(chance.below(4) == 0 ? "max_tokens" : "tool_use");
    const AnswerSettings settings = chance.settings();
    anthropic::Answer streamed({}, settings);
    ASSERT_TRUE(streamed.send(sse)) << sse;
    for (const SentEvent& event : streamed.out.events) expect_no_words(event.data, sse);
    json::value expected = streamed.message();
    expect_no_words(json::serialize(expected), sse);
    anthropic::Answer whole({}, settings);
    const auto body = sallyport::test::run_now(
        whole.adapter->on_body(json::serialize(anthropic::accumulate(anthropic::events_of(sse)))));
    ASSERT_TRUE(body);
    json::value got = json::parse(*body);
    got.as_object()["usage"] = expected.at("usage");
    // With `max_tokens` a stream shows whether the last call is complete, and a body does not.
    if (sse.find("max_tokens") == std::string::npos) ASSERT_EQ(got, expected) << seed << sse;
    expect_no_words(*body, sse);
  }
}

std::string random_part(Chance& chance, unsigned& calls) {
  using namespace chat;
  switch (chance.below(6)) {
    case 0:
      return text(chance.pieces(chance.words()), "reasoning_content");
    case 1:
      return text(chance.pieces(chance.words()), "refusal");
    case 2:
      return call(calls++, chance.tool(), chance.pieces(R"({"a":[1.50,"x"]})"));
    case 3:
      return custom(calls++, chance.tool(), chance.pieces("select 1"));
    default:
      return text(chance.pieces(chance.words()));
  }
}

// MP-41, MP-43
TEST(PlantedWords, NeverLeaveInAChatCompletion) {
  for (unsigned seed = 0; seed < 1500; ++seed) {
    Chance chance(seed);
    std::string sse = chat::role();
    unsigned calls = 0;
    for (std::size_t left = chance.below(5); left > 0; --left) sse += random_part(chance, calls);
    sse += chat::finish(calls > 0 ? "tool_calls" : "stop") + chat::usage() + chat::done();
    const AnswerSettings settings = chance.settings();
    chat::Answer streamed({}, settings);
    ASSERT_TRUE(streamed.send(sse)) << sse;
    for (const SentEvent& event : streamed.out.events) expect_no_words(event.data, sse);
    const json::value expected = streamed.completion();
    expect_no_words(json::serialize(expected), sse);
    chat::Answer whole({}, settings);
    const auto body = sallyport::test::run_now(
        whole.adapter->on_body(json::serialize(chat::accumulate(chat::events_of(sse)))));
    ASSERT_TRUE(body);
    expect_no_words(*body, sse);
    // A block has another position if the parts of a message came in another order.
    if (streamed.adapter->observed().block || whole.adapter->observed().block) continue;
    ASSERT_EQ(chat::without_nulls(json::parse(*body)), expected) << seed << sse;
  }
}

}  // namespace
}  // namespace sallyport::llm::test
