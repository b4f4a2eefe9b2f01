// The parts of requests that `keep: content` stores.
#include "proxy/kept_messages.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/fake_recorder.h"
#include "support/governed.h"
#include "support/test_clock.h"

namespace sallyport::proxy {
namespace {

class KeptMessagesTest : public testing::Test {
 protected:
  // Returns the texts that one request stores.
  std::vector<std::string> keep(const std::string& body, const std::string& answer = "",
                                const std::string& session = "s-1") {
    const KeyedDigest digest("k");
    const KeptMessages kept(recorder, digest, clock);
    std::vector<core::Draft> drafts;
    kept.add({.request_id = "r-1", .agent_id = "a", .session_id = session},
             llm::Api::AnthropicMessages, body, answer, drafts);
    std::vector<std::string> texts;
    for (const core::Draft& draft : drafts) {
      if (test::text_at(draft, "/record") == "model_message")
        texts.push_back(test::text_at(draft, "/message"));
    }
    list = drafts.back();
    EXPECT_TRUE(test::run_now(recorder.append(std::move(drafts), core::Urgency::Reports)));
    return texts;
  }

  test::TestClock clock;
  test::FakeRecorder recorder;
  core::Draft list;
};

using Texts = std::vector<std::string>;

// MP-69
TEST_F(KeptMessagesTest, ASessionStoresEachMessageOnceAndListsAll) {
  EXPECT_EQ(keep(R"({"system":"be kind","messages":[{"role":"user","content":"one"}]})", "first"),
            (Texts{R"("be kind")", R"({"role":"user","content":"one"})", "first"}));
  EXPECT_EQ(
      keep(
          R"({"system":"be kind","messages":[{"role":"user","content":"one"},{"role":"user","content":"two"}]})"),
      (Texts{R"({"role":"user","content":"two"})"}));
  EXPECT_EQ(list.body.at("messages").as_array().size(), 3u);
  EXPECT_EQ(list.body.at("messages").at(2).at("place"), "/messages/1");
  // Another session has no access to it.
  EXPECT_EQ(keep(R"({"messages":[{"role":"user","content":"one"}]})", "", "s-2"),
            (Texts{R"({"role":"user","content":"one"})"}));
}

// MP-69
TEST_F(KeptMessagesTest, WhatIsTooLongIsKeptByItsDigest) {
  const std::string large(KeptMessages::kLargest, 'x');
  EXPECT_EQ(keep(R"({"messages":[{"content":")" + large + R"("},{"content":"small"}]})"),
            (Texts{R"({"content":"small"})"}));
  EXPECT_EQ(list.body.at("left_out"), 1);
  EXPECT_EQ(list.body.at("messages").as_array().size(), 2u);
  std::string body = R"({"messages":[)";
  for (int i = 0; i < 20; ++i) {
    body += std::string(i == 0 ? "" : ",") + "\"" + std::to_string(i) + std::string(200'000, 'y') +
            "\"";
  }
  const Texts kept = keep(body + "]}");
  std::size_t bytes = 0;
  for (const std::string& text : kept) bytes += text.size();
  EXPECT_LE(bytes, KeptMessages::kMostBytes);
  EXPECT_EQ(kept.size(), 10u);
}

// MP-69
TEST_F(KeptMessagesTest, AListAndWhatASessionKnowsHaveABound) {
  std::string body = R"({"messages":[)";
  for (int i = 0; i < 700; ++i) body += std::string(i == 0 ? "" : ",") + std::to_string(i);
  EXPECT_EQ(keep(body + "]}").size(), 700u);
  EXPECT_EQ(list.body.at("messages").as_array().size(), KeptMessages::kMostMessages);
  EXPECT_EQ(list.body.at("count"), 700);
  const auto fact = recorder.facts(KeptMessages::kSpace);
  ASSERT_EQ(fact->size(), 1u);
  EXPECT_EQ(json::parse(*fact->front().value).at("known").as_array().size(),
            KeptMessages::kMostKnown);
}

// MP-69
TEST(MessagesOf, EachApiHasItsPlaces) {
  const auto places = [](llm::Api api, std::string_view body) {
    std::vector<std::string> found;
    for (const PlacedMessage& message : messages_of(api, body)) found.push_back(message.place);
    return found;
  };
  EXPECT_EQ(places(llm::Api::OpenAiChat, R"({"messages":[{},{}]})"),
            (Texts{"/messages/0", "/messages/1"}));
  EXPECT_EQ(places(llm::Api::OpenAiResponses, R"({"instructions":"i","input":"hello"})"),
            (Texts{"/instructions", "/input"}));
  EXPECT_EQ(places(llm::Api::OpenAiResponses, R"({"instructions":null,"input":[{},{}]})"),
            (Texts{"/input/0", "/input/1"}));
  EXPECT_EQ(places(llm::Api::AnthropicMessages, R"({"system":[{},{}],"messages":[{}]})"),
            (Texts{"/system", "/messages/0"}));
}

}  // namespace
}  // namespace sallyport::proxy
