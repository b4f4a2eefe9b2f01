#include <fmt/format.h>
#include <gtest/gtest.h>

#include "llm/wire_json.h"
#include "request_checks.h"

namespace sallyport::llm::test {
namespace {

using Strings = std::vector<std::string>;

json::value full_chat_request() {
  return json::parse(R"({
    "model": "gpt-x", "stream": true, "stream_options": {"include_usage": true}, "store": false,
    "max_completion_tokens": 50, "n": 3, "modalities": ["text", "audio"], "audio": {"voice": "v", "format": "wav"},
    "messages": [
      {"role":"system","content":"rules"},
      {"role":"user","content":[
        {"type":"text","text":"hello"},
        {"type":"image_url","image_url":{"url":"https://x/i.png","detail":"low"}},
        {"type":"input_audio","input_audio":{"data":"YXVk","format":"wav"}},
        {"type":"file","file":{"file_data":"ZG9j","filename":"a.pdf"}},
        {"type":"file","file":{"file_id":"file_1"}}]},
      {"role":"assistant","content":null,"refusal":"no","reasoning_content":"hm","audio":{"id":"audio_1"},
       "tool_calls":[
         {"id":"c1","type":"function","function":{"name":"read","arguments":"{\"a\":1}"}},
         {"id":"c2","type":"custom","custom":{"name":"sql","input":"select"}}],
       "function_call":{"name":"old","arguments":"{}"}},
      {"role":"tool","tool_call_id":"c1","content":"out"},
      {"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":"rows"}]},
      {"role":"function","name":"old","content":"result"}],
    "tools": [
      {"type":"function","function":{"name":"read","description":"reads","parameters":{"type":"object","properties":{"a":{"type":"number","description":"what"}}}}},
      {"type":"hosted_thing","name":"h"}],
    "functions": [{"name":"old","description":"older"}],
    "web_search_options": {"search_context_size":"low"},
    "response_format": {"type":"json_schema","json_schema":{"name":"n","schema":{}}},
    "user": "u"
  })");
}

// MP-27, MP-34
TEST(ChatRequest, EveryStringIsCheckedAtItsStageOrUnread) {
  const json::value body = full_chat_request();
  const Request request = *read_request(RequestKind::Chat, body);
  expect_all_strings(request, body);
  EXPECT_EQ(paths_of(request, Leaf::Kind::Input),
            (Strings{"/messages/0/content", "/messages/1/content/0/text", "/messages/2/refusal",
                     "/messages/2/reasoning_content", "/messages/2/tool_calls/0/function/arguments",
                     "/messages/2/tool_calls/1/custom/input", "/messages/2/function_call/arguments",
                     "/tools/0/function/description",
                     "/tools/0/function/parameters/properties/a/description",
                     "/functions/0/description"}));
  EXPECT_EQ(paths_of(request, Leaf::Kind::ToolOutput),
            (Strings{"/messages/3/content", "/messages/4/content/0/text", "/messages/5/content"}));
  EXPECT_EQ(unread_of(request),
            (Strings{"/messages/1/content/1/image_url/url image",
                     "/messages/1/content/2/input_audio/data audio",
                     "/messages/1/content/3/file/file_data document",
                     "/messages/1/content/4/file/file_id file", "/messages/2/audio/id audio"}));
  EXPECT_EQ(request.media_parts, 3);
}

// MP-31
TEST(ChatRequest, AResultHasTheNameOfTheCallWithItsId) {
  const Request request = *read_request(RequestKind::Chat, full_chat_request());
  ASSERT_EQ(request.returns.size(), 3);
  EXPECT_EQ(request.returns[0].tool, "read");
  EXPECT_EQ(request.returns[0].path, "/messages/3");
  EXPECT_EQ(request.returns[1].tool, "sql");
  EXPECT_EQ(request.returns[2].tool, "old");
  EXPECT_EQ(request.returns[2].tool_call_id, "");
  EXPECT_EQ(request.call_ids, (Strings{"c1", "c2"}));
}

// MP-35, MP-36, MP-54
TEST(ChatRequest, SettingsToolsOfTheProviderAndFilesAreRead) {
  const Request request = *read_request(RequestKind::Chat, full_chat_request());
  EXPECT_TRUE(request.stream && request.json_format && request.audio);
  EXPECT_TRUE(request.asks_usage);
  EXPECT_EQ(request.store, false);
  EXPECT_EQ(request.output_limit, 50);
  EXPECT_EQ(request.choices, 3);
  ASSERT_EQ(request.provider_tools.size(), 2);
  EXPECT_EQ(request.provider_tools[0].type, "hosted_thing");
  EXPECT_EQ(request.provider_tools[1].path, "/web_search_options");
  ASSERT_EQ(request.state.size(), 1);
  EXPECT_EQ(request.state[0].id, "file_1");
  EXPECT_FALSE(read_request(RequestKind::Chat, json::parse(R"({"messages":[]})")));
}

// MP-27
TEST(ChatRequest, TextsOfEmbeddingsAreInput) {
  const json::value body =
      json::parse(R"({"model":"e","input":["a","b"],"encoding_format":"float"})");
  const Request request = *read_request(RequestKind::Embeddings, body);
  expect_all_strings(request, body);
  EXPECT_EQ(paths_of(request, Leaf::Kind::Input), (Strings{"/input/0", "/input/1"}));
}

// MP-30
TEST(ChatRequest, AWithheldResultIsItsNotice) {
  const std::string text =
      R"({"model":"m","messages":[{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"x"}]},{"role":"tool", "tool_call_id":"b"}]})";
  const json::value body = json::parse(text);
  Splice splice;
  for (const ToolReturn& result : read_request(RequestKind::Chat, body)->returns) {
    withhold(splice, RequestKind::Chat, result, "[gone]", body);
  }
  EXPECT_EQ(
      splice.applied(text),
      R"({"model":"m","messages":[{"role":"tool","tool_call_id":"a","content":"[gone]"},{"role":"tool", "tool_call_id":"b","content":"[gone]"}]})");
}

// MP-71
TEST(ChatRequest, TheNumberOfChoicesIsReadInEveryFormOrRefused) {
  const auto read = [](std::string_view n) {
    return read_request(RequestKind::Chat,
                        json::parse(fmt::format(R"({{"model":"m","n":{}}})", n)));
  };
  EXPECT_EQ(read("3.0")->choices, 3);
  EXPECT_EQ(read("null")->choices, 1);
  EXPECT_EQ(read("1e30")->choices, kMostCount);
  EXPECT_EQ(read("18446744073709551615")->choices, kMostCount);
  for (const char* const wrong : {"\"3\"", "2.5", "-1", "[3]"}) EXPECT_FALSE(read(wrong)) << wrong;
}

// MP-71
TEST(ChatRequest, NumbersOfAnEmbeddingAreTokens) {
  const auto read = [](const char* body) {
    return read_request(RequestKind::Embeddings, json::parse(body))->token_numbers;
  };
  EXPECT_EQ(read(R"({"model":"m","input":[[1,2,3],[4]]})"), 4);
  EXPECT_EQ(read(R"({"model":"m","input":["1",2]})"), 1);
}

// MP-34
TEST(ChatRequest, MediaThatAreWrittenAsATextAreUnread) {
  const json::value body = json::parse(
      R"({"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":"data:x"},{"type":"input_audio","input_audio":"YQ"},{"type":"file","file":"ZG9j"}]}]})");
  const Request request = *read_request(RequestKind::Chat, body);
  expect_all_strings(request, body);
  EXPECT_EQ(unread_of(request), (Strings{"/messages/0/content/0/image_url image",
                                         "/messages/0/content/1/input_audio audio",
                                         "/messages/0/content/2/file document"}));
}

}  // namespace
}  // namespace sallyport::llm::test
