#include "llm/responses_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <functional>
#include <set>

namespace sallyport::llm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using Kind = Leaf::Kind;

Request read(std::string_view text, RequestKind kind = RequestKind::Responses) {
  auto request = read_responses_request(kind, json::parse(text));
  EXPECT_TRUE(request) << request.error().message;
  return request ? *request : Request{};
}

const Leaf* leaf_at(const Request& request, std::string_view path) {
  for (const Leaf& leaf : request.leaves) {
    if (leaf.path == path) return &leaf;
  }
  return nullptr;
}

std::optional<Kind> kind_at(const Request& request, std::string_view path) {
  const Leaf* const leaf = leaf_at(request, path);
  if (leaf == nullptr) return std::nullopt;
  return leaf->kind;
}

std::vector<std::string> unread(const Request& request) {
  std::vector<std::string> all;
  for (const Unread& one : request.unread) all.push_back(one.path + " " + one.kind);
  return all;
}

constexpr std::string_view kEverything = R"({
  "model":"gpt-6","instructions":"be kind","stream":true,"store":false,"max_output_tokens":77,
  "text":{"format":{"type":"json_schema","name":"n","schema":{"description":"d"}}},
  "previous_response_id":"resp_1","conversation":{"id":"conv_1"},"metadata":{"k":"v"},"user":"u",
  "prompt":{"id":"pmpt_1","version":"2","variables":{"who":"Ann","pic":{"type":"input_image",
    "image_url":"data:x"},"say":{"type":"input_text","text":"hi"}}},
  "tools":[{"type":"function","name":"f","description":"reads","parameters":{"type":"object",
      "properties":{"p":{"description":"a path","enum":["x"]}}}},
    {"type":"web_search"},{"type":"mcp","server_label":"far","server_url":"https://far.example"},
    {"type":"shell"},{"type":"shell","environment":{"type":"container_auto","file_ids":["file_9"]}},
    {"type":"custom","name":"c","description":"text"},{"type":"hologram"},
    {"type":"tool_search","execution":"client"}],
  "input":[
    {"role":"user","content":"hello"},
    {"type":"message","role":"user","content":[{"type":"input_text","text":"look"},
      {"type":"input_image","image_url":"https://x/y.png","detail":"auto"},
      {"type":"input_image","file_id":"file_1"},
      {"type":"input_file","file_data":"AAAA","filename":"a.pdf"},
      {"type":"input_file","file_url":"https://x/z.pdf"},
      {"type":"input_audio","input_audio":{"data":"AAA","format":"wav"}}]},
    {"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[
      {"type":"output_text","text":"said","annotations":[{"type":"url_citation","title":"T",
        "url":"https://u"}]},{"type":"refusal","refusal":"no"}]},
    {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"thought"}],
      "encrypted_content":"gAAA"},
    {"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"{\"p\":1}"},
    {"type":"function_call_output","call_id":"call_1","output":"done"},
    {"type":"custom_tool_call","call_id":"call_2","name":"c","input":"text"},
    {"type":"custom_tool_call_output","call_id":"call_2","output":[
      {"type":"input_text","text":"part"},{"type":"input_image","image_url":"data:y"}]},
    {"type":"shell_call","call_id":"call_3","action":{"commands":["ls"]}},
    {"type":"shell_call_output","call_id":"call_3","output":[{"stdout":"o","stderr":"e",
      "outcome":{"type":"exit","exit_code":0}}]},
    {"type":"local_shell_call","id":"ls_1","call_id":"call_4","action":{"type":"exec",
      "command":["id"],"env":{}}},
    {"type":"local_shell_call_output","id":"ls_1","output":"{}"},
    {"type":"apply_patch_call","call_id":"call_5","operation":{"type":"create_file","path":"p",
      "diff":"+x"}},
    {"type":"apply_patch_call_output","call_id":"call_5","status":"failed","output":"bad"},
    {"type":"computer_call","call_id":"call_6","action":{"type":"click","x":1}},
    {"type":"computer_call_output","call_id":"call_6","output":{"type":"computer_screenshot",
      "image_url":"data:z"}},
    {"type":"mcp_call","id":"mcp_1","name":"far_tool","server_label":"far","arguments":"{}",
      "output":"far result"},
    {"type":"code_interpreter_call","id":"ci_1","code":"print 1",
                           "container_id" : "c",
                           "outputs" : [ {"type" : "logs", "logs" : "printed"} ]
},
    {"type":"program","id":"p1","call_id":"call_7","code":"run","fingerprint":"zzz"},
    {"type":"program_output","id":"p2","call_id":"call_7","result":"ran","status":"completed"},
    {"type":"item_reference","id":"msg_0"},
    {"type":"compaction","encrypted_content":"gBBB"},
    {"type":"hologram","frames":["what"]},
    {"type":"hologram_output","call_id":"call_8","output":"strange"},
    {"type":"function_call_output","call_id":"call_gone","output":"late"}]
})";

// MP-27
TEST(ResponsesRequest, EachStringHasItsStage) {
  const Request request = read(kEverything);
  for (const char* const path :
       {"/instructions", "/prompt/variables/who", "/prompt/variables/say/text",
        "/tools/0/description", "/tools/0/parameters/properties/p/description",
        "/tools/5/description", "/input/0/content", "/input/1/content/0/text",
        "/input/2/content/0/text", "/input/2/content/1/refusal", "/input/4/arguments",
        "/input/6/input", "/input/8/action/commands/0", "/input/12/operation/diff",
        "/input/16/arguments", "/input/17/code", "/input/18/code"}) {
    EXPECT_EQ(kind_at(request, path), Kind::Input) << path;
  }
  for (const char* const path :
       {"/input/5/output", "/input/7/output/0/text", "/input/9/output/0/stdout",
        "/input/9/output/0/stderr", "/input/11/output", "/input/13/output", "/input/16/output",
        "/input/17/outputs/0/logs", "/input/19/result", "/input/23/output", "/input/24/output"}) {
    EXPECT_EQ(kind_at(request, path), Kind::ToolOutput) << path;
  }
  for (const char* const path :
       {"/model", "/metadata/k", "/user", "/previous_response_id", "/tools/0/name",
        "/tools/0/parameters/properties/p/enum/0", "/input/3/summary/0/text", "/input/22/frames/0",
        "/text/format/schema/description", "/tools/2/server_url"}) {
    EXPECT_EQ(kind_at(request, path), Kind::Fixed) << path;
  }
}

void all_strings(const json::value& value, const std::string& path, std::set<std::string>& out) {
  if (value.is_string()) out.insert(path);
  if (value.is_array()) {
    std::size_t index = 0;
    for (const json::value& one : value.get_array()) {
      all_strings(one, pointer_to(path, index++), out);
    }
  }
  if (value.is_object()) {
    for (const auto& [name, one] : value.get_object()) {
      all_strings(one, pointer_to(path, name), out);
    }
  }
}

// MP-27, MP-34
TEST(ResponsesRequest, EveryStringIsALeafOrUnreadAndNoneIsBoth) {
  std::set<std::string> expected;
  all_strings(json::parse(kEverything), "", expected);
  const Request request = read(kEverything);
  std::multiset<std::string> found;
  for (const Leaf& leaf : request.leaves) found.insert(leaf.path);
  for (const Unread& one : request.unread) found.insert(one.path);
  EXPECT_EQ(found, std::multiset<std::string>(expected.begin(), expected.end()));
}

// MP-34
TEST(ResponsesRequest, MediaAndOpaqueBytesAreUnread) {
  EXPECT_THAT(unread(read(kEverything)),
              UnorderedElementsAre(
                  "/prompt/id prompt", "/prompt/variables/pic/image_url image",
                  "/tools/4/environment/file_ids/0 file", "/input/1/content/1/image_url image",
                  "/input/1/content/2/file_id image", "/input/1/content/3/file_data document",
                  "/input/1/content/4/file_url url", "/input/1/content/5/input_audio/data audio",
                  "/input/3/encrypted_content encrypted", "/input/7/output/1/image_url image",
                  "/input/15/output/image_url image", "/input/18/fingerprint signature",
                  "/input/21/encrypted_content encrypted"));
  EXPECT_EQ(read(kEverything).media_parts, 7u);
}

// MP-31
TEST(ResponsesRequest, AResultHasTheNameOfItsCall) {
  const Request request = read(kEverything);
  std::vector<std::string> returns;
  for (const ToolReturn& one : request.returns) {
    returns.push_back(one.tool_call_id + " " + one.tool + (one.is_error ? " error" : ""));
  }
  EXPECT_THAT(returns,
              ElementsAre("call_1 f", "call_2 c", "call_3 shell", "ls_1 local_shell",
                          "call_5 apply_patch error", "call_6 computer", "mcp_1 far_tool",
                          "ci_1 code_interpreter", "call_7 program", "call_8 ", "call_gone "));
  EXPECT_EQ(leaf_at(request, "/input/7/output/0/text")->tool, "c");
  EXPECT_EQ(leaf_at(request, "/input/7/output/0/text")->tool_call_id, "call_2");
  EXPECT_EQ(leaf_at(request, "/input/16/output")->tool, "far_tool");
  EXPECT_EQ(leaf_at(request, "/input/24/output")->tool, "");
  EXPECT_THAT(request.call_ids,
              ElementsAre("call_1", "call_2", "call_3", "call_4", "call_5", "call_6"));
}

// MP-35
TEST(ResponsesRequest, StateOfTheProviderIsNamed) {
  std::vector<std::string> state;
  for (const StateRef& one : read(kEverything).state) {
    state.push_back(one.path + " " + one.kind + " " + one.id);
  }
  EXPECT_THAT(state, UnorderedElementsAre("/previous_response_id response resp_1",
                                          "/conversation/id conversation conv_1",
                                          "/input/1/content/2/file_id file file_1",
                                          "/tools/4/environment/file_ids/0 file file_9",
                                          "/input/20/id item msg_0"));
  EXPECT_EQ(read(R"({"model":"m","conversation":"conv_2"})").state.at(0).id, "conv_2");
  EXPECT_EQ(read(R"({"model":"m","input":[{"id":"msg_7"}]})").state.at(0).kind, "item");
}

// MP-36
TEST(ResponsesRequest, ToolsThatTheProviderRunsAreNamed) {
  std::vector<std::string> tools;
  for (const ProviderTool& one : read(kEverything).provider_tools) {
    tools.push_back(one.path + " " + one.type + " " + one.name);
  }
  EXPECT_THAT(tools, ElementsAre("/tools/1 web_search web_search", "/tools/2 mcp far",
                                 "/tools/4 shell shell", "/tools/6 hologram hologram"));
}

TEST(ResponsesRequest, SettingsAreRead) {
  const Request request = read(kEverything);
  EXPECT_EQ(request.model, "gpt-6");
  EXPECT_TRUE(request.stream);
  EXPECT_TRUE(request.json_format);
  EXPECT_TRUE(request.has_signed_blocks);
  EXPECT_EQ(request.store, false);
  EXPECT_EQ(request.output_limit, 77u);
  const Request plain = read(R"({"model":"m","input":"hi","text":{"format":{"type":"text"}}})",
                             RequestKind::InputTokens);
  EXPECT_EQ(plain.kind, RequestKind::InputTokens);
  EXPECT_FALSE(plain.stream || plain.json_format || plain.has_signed_blocks);
  EXPECT_EQ(plain.store, std::nullopt);
  EXPECT_EQ(plain.output_limit, std::nullopt);
  EXPECT_THAT(plain.unread, IsEmpty());
  EXPECT_EQ(kind_at(plain, "/input"), Kind::Input);
  EXPECT_FALSE(read_responses_request(RequestKind::Compact, json::parse(R"({"input":"hi"})")));
  EXPECT_FALSE(read_responses_request(RequestKind::Compact, json::parse(R"({"model":7})")));
}

// MP-30
TEST(ResponsesRequest, AWithheldResultHoldsItsNotice) {
  const Request request = read(kEverything);
  const json::value body = json::parse(kEverything);
  Splice splice;
  for (const ToolReturn& one : request.returns) withhold_responses(splice, one, "R", body);
  const json::value changed = json::parse(splice.applied(kEverything));
  const auto at = [&](const char* pointer) {
    boost::system::error_code error;
    const json::value* const found = changed.find_pointer(pointer, error);
    return found == nullptr ? std::string("nothing") : json::serialize(*found);
  };
  EXPECT_EQ(at("/input/5/output"), "\"R\"");
  EXPECT_EQ(at("/input/7/output"), "\"R\"");
  EXPECT_EQ(at("/input/9/output/0/stderr"), "\"R\"");
  EXPECT_EQ(at("/input/9/output/0/stdout"), "\"\"");
  EXPECT_EQ(at("/input/13/output"), "\"R\"");
  EXPECT_EQ(at("/input/13/status"), "\"failed\"");
  EXPECT_EQ(at("/input/15/output/type"), "\"computer_screenshot\"");
  EXPECT_EQ(at("/input/16/output"), "\"R\"");
  EXPECT_EQ(at("/input/17/outputs"), R"([{"type":"logs","logs":"R"}])");
  EXPECT_EQ(at("/input/19/result"), "\"R\"");
  EXPECT_EQ(at("/input/4/arguments"), R"("{\"p\":1}")");
}

std::string answered(const std::string& body, const std::vector<UnansweredCall>& calls) {
  Splice splice;
  answer_calls(splice, calls, json::parse(body));
  return splice.applied(body);
}

// MP-64
TEST(ResponsesRequest, ARefusedCallGetsAResultOfItsType) {
  EXPECT_EQ(answered(R"({"input":[{"role":"user","content":"go"}]})",
                     {{.type = "function_call", .id = "c1", .text = "no"}}),
            R"({"input":[{"role":"user","content":"go"},)"
            R"({"type":"function_call_output","call_id":"c1","output":"no"}]})");
  EXPECT_EQ(answered(R"({"input":"go"})", {{.type = "custom_tool_call", .id = "c1", .text = "no"}}),
            R"({"input":[{"type":"custom_tool_call_output","call_id":"c1","output":"no"},)"
            R"({"role":"user","content":"go"}]})");
  EXPECT_EQ(answered(R"({})", {{.type = "mcp_approval_request", .id = "a1", .text = "no"}}),
            R"({"input":[{"type":"mcp_approval_response","approval_request_id":"a1",)"
            R"("approve":false,"reason":"no"}]})");
  for (const char* const type : {"shell_call", "apply_patch_call", "local_shell_call"}) {
    const std::string body =
        answered(R"({"input":[]})", {{.type = type, .id = "c1", .text = "no"}});
    const Request request = read(R"({"model":"m",)" + body.substr(1));
    ASSERT_EQ(request.returns.size(), 1u);
    EXPECT_EQ(request.returns[0].tool_call_id, "c1");
    EXPECT_NE(body.find(std::string(type) + "_output"), std::string::npos);
    EXPECT_NE(body.find("no"), std::string::npos);
  }
}

// The text once went to the provider as it came, beside the record of its redaction.
// MP-27, MP-64
TEST(ResponsesRequest, ARedactedInputStaysRedactedBehindTheResultOfARefusedCall) {
  const std::string body = R"({"input":"a SECRET"})";
  Splice splice;
  answer_calls(splice, {{.type = "function_call", .id = "c1", .text = "no"}}, json::parse(body));
  splice.replace("/input", "\"a [redacted]\"");
  EXPECT_EQ(splice.applied(body),
            R"({"input":[{"type":"function_call_output","call_id":"c1","output":"no"},)"
            R"({"role":"user","content":"a [redacted]"}]})");
}

// MP-25: the provider found these files, and the history only repeats their ids.
TEST(ResponsesRequest, FilesOfARepeatedResultOfTheProviderAreUnreadOnly) {
  const Request request = read(
      R"({"model":"m","input":[{"type":"file_search_call","id":"fs","queries":["q"],"results":[{"file_id":"file_2","text":"t"}]},{"type":"function_call_output","call_id":"c","output":[{"type":"input_file","file_id":"file_3"}]}]})");
  ASSERT_EQ(request.state.size(), 1u);
  EXPECT_EQ(request.state[0].id, "file_3");
}

// MP-27
TEST(ResponsesRequest, OpaqueMembersOfAnotherTypeAreChecked) {
  const Request request = read(
      R"({"model":"m","input":[{"type":"reasoning","encrypted_content":{"a":"one"}},{"type":"image_generation_call","result":["two"]},{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"YQ","mood":"three"}}]}]})");
  for (const char* const word : {"one", "two", "three"}) {
    EXPECT_TRUE(std::ranges::any_of(request.leaves, [&](const Leaf& leaf) {
      return leaf.text == word && leaf.kind == Leaf::Kind::Fixed;
    })) << word;
  }
}

}  // namespace
}  // namespace sallyport::llm
