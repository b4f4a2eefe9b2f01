#include <gtest/gtest.h>

#include "request_checks.h"

namespace sallyport::llm::test {
namespace {

using Strings = std::vector<std::string>;

json::value full_messages_request() {
  return json::parse(R"({
    "model": "claude-x", "max_tokens": 100, "stream": true,
    "system": [{"type":"text","text":"rules","cache_control":{"type":"ephemeral"}}],
    "metadata": {"user_id": "u"},
    "messages": [
      {"role":"user","content":"hello"},
      {"role":"assistant","content":[
        {"type":"thinking","thinking":"deep","signature":"c2ln"},
        {"type":"thinking","thinking":"open","signature":""},
        {"type":"redacted_thinking","data":"b3Bh"},
        {"type":"text","text":"look","citations":[{"type":"char_location","cited_text":"c","document_title":"d","encrypted_index":"e","file_id":"f"}]},
        {"type":"tool_use","id":"t1","name":"read","input":{"path":"a","deep":["b"]}},
        {"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"q"}},
        {"type":"web_search_tool_result","tool_use_id":"s1","content":[{"type":"web_search_result","title":"w","url":"u","encrypted_content":"x"}]}]},
      {"role":"user","content":[
        {"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"out"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aW1n"}}]},
        {"type":"tool_result","tool_use_id":"t9","content":"other","is_error":true},
        {"type":"document","title":"T","context":"C","source":{"type":"text","media_type":"text/plain","data":"doc"}},
        {"type":"document","source":{"type":"url","url":"https://x/y.pdf"}},
        {"type":"image","source":{"type":"file","file_id":"file_1"}},
        {"type":"hologram","glow":"g"}]}],
    "tools": [
      {"name":"read","description":"reads","input_schema":{"type":"object","properties":{"path":{"type":"string","description":"where"}}}},
      {"type":"bash_20250124","name":"bash"},
      {"type":"web_search_20250305","name":"web_search"}],
    "mcp_servers": [{"type":"url","name":"far","url":"https://far/mcp"}],
    "thread": {"type":"continue","previous_message_id":"msg_0"},
    "output_config": {"format":{"type":"json_schema","schema":{"type":"object"}}}
  })");
}

// MP-27, MP-34
TEST(AnthropicRequest, EveryStringIsCheckedAtItsStageOrUnread) {
  const json::value body = full_messages_request();
  const Request request = *read_request(RequestKind::Messages, body);
  expect_all_strings(request, body);
  EXPECT_EQ(paths_of(request, Leaf::Kind::Input),
            (Strings{"/system/0/text", "/messages/0/content", "/messages/1/content/1/thinking",
                     "/messages/1/content/3/text", "/messages/1/content/3/citations/0/cited_text",
                     "/messages/1/content/3/citations/0/document_title",
                     "/messages/1/content/4/input/path", "/messages/1/content/4/input/deep/0",
                     "/messages/1/content/5/input/query", "/messages/2/content/2/title",
                     "/messages/2/content/2/context", "/messages/2/content/2/source/data",
                     "/tools/0/description", "/tools/0/input_schema/properties/path/description"}));
  EXPECT_EQ(paths_of(request, Leaf::Kind::ToolOutput),
            (Strings{"/messages/1/content/6/content/0/title", "/messages/1/content/6/content/0/url",
                     "/messages/2/content/0/content/0/text", "/messages/2/content/1/content"}));
  EXPECT_EQ(
      unread_of(request),
      (Strings{"/messages/1/content/0/signature signature", "/messages/1/content/2/data encrypted",
               "/messages/1/content/3/citations/0/encrypted_index encrypted",
               "/messages/1/content/3/citations/0/file_id file",
               "/messages/1/content/6/content/0/encrypted_content encrypted",
               "/messages/2/content/0/content/1/source/data image",
               "/messages/2/content/3/source/url url",
               "/messages/2/content/4/source/file_id file"}));
  EXPECT_TRUE(request.has_signed_blocks);
  EXPECT_EQ(request.media_parts, 4);
}

// MP-31
TEST(AnthropicRequest, AResultHasTheNameOfTheCallWithItsId) {
  const Request request = *read_request(RequestKind::Messages, full_messages_request());
  ASSERT_EQ(request.returns.size(), 3);
  EXPECT_EQ(request.returns[0].tool, "web_search");
  EXPECT_EQ(request.returns[1].tool, "read");
  EXPECT_EQ(request.returns[1].tool_call_id, "t1");
  EXPECT_EQ(request.returns[2].tool, "");
  EXPECT_TRUE(request.returns[2].is_error);
  for (const Leaf& leaf : request.leaves) {
    if (leaf.path == "/messages/2/content/0/content/0/text") {
      EXPECT_EQ(leaf.tool, "read");
      EXPECT_EQ(leaf.tool_call_id, "t1");
    }
  }
  EXPECT_EQ(request.call_ids, Strings{"t1"});
}

// MP-35, MP-36
TEST(AnthropicRequest, StateAndToolsOfTheProviderAreNamed) {
  const Request request = *read_request(RequestKind::Messages, full_messages_request());
  ASSERT_EQ(request.provider_tools.size(), 2);
  EXPECT_EQ(request.provider_tools[0].path, "/tools/2");
  EXPECT_EQ(request.provider_tools[0].type, "web_search_20250305");
  EXPECT_EQ(request.provider_tools[0].name, "web_search");
  EXPECT_EQ(request.provider_tools[1].path, "/mcp_servers/0");
  EXPECT_EQ(request.provider_tools[1].name, "far");
  ASSERT_EQ(request.state.size(), 2);
  EXPECT_EQ(request.state[0].kind, "file");
  EXPECT_EQ(request.state[0].id, "file_1");
  EXPECT_EQ(request.state[1].kind, "message");
  EXPECT_EQ(request.state[1].id, "msg_0");
}

TEST(AnthropicRequest, SettingsAreRead) {
  const Request request = *read_request(RequestKind::Messages, full_messages_request());
  EXPECT_EQ(request.model, "claude-x");
  EXPECT_TRUE(request.stream);
  EXPECT_TRUE(request.json_format);
  EXPECT_EQ(request.output_limit, 100);
  const Request small =
      *read_request(RequestKind::CountTokens, json::parse(R"({"model":"m","messages":[7,"x"]})"));
  EXPECT_FALSE(small.stream || small.json_format || small.has_signed_blocks);
  EXPECT_FALSE(read_request(RequestKind::Messages, json::parse(R"({"model":7})")));
  EXPECT_FALSE(read_request(RequestKind::Messages, json::parse("{}")));
}

// MP-30
TEST(AnthropicRequest, AWithheldResultIsItsNoticeAndAnError) {
  const std::string text =
      R"({"model":"m","messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"x"}]}, {"type":"tool_result","tool_use_id":"b","is_error":false},{"type":"web_search_tool_result","tool_use_id":"c","content":[]}]}]})";
  const json::value body = json::parse(text);
  const Request request = *read_request(RequestKind::Messages, body);
  Splice splice;
  for (const ToolReturn& result : request.returns) {
    withhold(splice, RequestKind::Messages, result, "[gone]", body);
  }
  EXPECT_EQ(
      splice.applied(text),
      R"({"model":"m","messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"[gone]","is_error":true}, {"type":"tool_result","tool_use_id":"b","is_error":true,"content":"[gone]"},{"type":"web_search_tool_result","tool_use_id":"c","content":{"type":"web_search_tool_result_error","error_code":"unavailable"}},{"type":"text","text":"[gone]"}]}]})");
}

// MP-25: the provider made these files, and the history only repeats their ids.
TEST(AnthropicRequest, FilesOfARepeatedResultOfTheProviderAreUnreadOnly) {
  const json::value body = json::parse(
      R"({"model":"m","messages":[{"role":"assistant","content":[{"type":"bash_code_execution_tool_result","tool_use_id":"s","content":{"type":"bash_code_execution_result","stdout":"","content":[{"type":"bash_code_execution_output","file_id":"file_2"}]}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":{"type":"file","file_id":"file_3"}}]}]}]})");
  const Request request = *read_request(RequestKind::Messages, body);
  expect_all_strings(request, body);
  ASSERT_EQ(request.state.size(), 1);
  EXPECT_EQ(request.state[0].id, "file_3");
}

}  // namespace
}  // namespace sallyport::llm::test
