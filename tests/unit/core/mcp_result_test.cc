#include "core/result/mcp_result.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "unit/core/shape_checks.h"

namespace sallyport {
namespace {

ToolResult mapped(std::string_view text) {
  return tool_result_from_mcp(parsed(text).as_object());
}

// AU-19
TEST(McpResultTest, TextPartsJoinedByNewlinesAreTheOutput) {
  const ToolResult result = mapped(
      R"({"content":[{"type":"text","text":""},{"type":"text","text":"a"},{"type":"text","text":"b\nc"}]})");
  EXPECT_EQ(result, (ToolResult{.success = true, .output = "\na\nb\nc"}));
}

// AU-19
TEST(McpResultTest, StructuredContentIsTheData) {
  const ToolResult result =
      mapped(R"({"content":[{"type":"text","text":"{}"}],"structuredContent":{"n":1}})");
  EXPECT_EQ(result, (ToolResult{.success = true, .output = "{}", .data = {{"n", 1}}}));
}

// AU-19
TEST(McpResultTest, IsErrorIsTheInverseOfSuccess) {
  EXPECT_TRUE(mapped(R"({"content":[]})").success);
  EXPECT_TRUE(mapped(R"({"content":[],"isError":false})").success);
  EXPECT_FALSE(mapped(R"({"content":[],"isError":true})").success);
  for (const std::string_view odd : {"null", "0", "\"false\"", "[]"}) {
    EXPECT_FALSE(mapped(fmt::format(R"({{"content":[],"isError":{}}})", odd)).success) << odd;
  }
}

// AU-19
TEST(McpResultTest, OtherPartsAreDocuments) {
  const ToolResult result = mapped(R"({"content":[
      {"type":"image","data":"iVBO","mimeType":"image/png"},
      {"type":"text","text":"between"},
      {"type":"audio","data":"UklG","mimeType":"audio/wav"},
      {"type":"resource","resource":{"uri":"file:///a","mimeType":"text/csv","text":"1,2"}},
      {"type":"resource","resource":{"uri":"file:///b","blob":"AAEC"}},
      {"type":"resource","resource":{"uri":"file:///c","text":"plain"}},
      {"type":"resource_link","uri":"file:///d","name":"d","mimeType":"image/png"}]})");
  EXPECT_EQ(result.output, "between");
  const std::vector<Document> wanted{{"image/png", "iVBO", {}},
                                     {"audio/wav", "UklG", {}},
                                     {"text/csv", "1,2", "file:///a"},
                                     {"application/octet-stream", "AAEC", "file:///b"},
                                     {"text/plain", "plain", "file:///c"},
                                     {"text/uri-list", "file:///d", "d"}};
  EXPECT_EQ(result.documents, wanted);
}

// AU-19
TEST(McpResultTest, APartThatIsNotUnderstoodIsKeptAsItsJson) {
  for (const std::string_view part :
       {R"({"type":"hologram","x":1})", R"({"type":"text"})", R"({"text":"no type"})",
        R"({"type":"text","text":7})", R"({"type":"image","mimeType":"image/png"})",
        R"({"type":"resource"})", R"({"resource":{"blob":"AA","text":"a"},"type":"resource"})",
        R"({"name":"n","type":"resource_link"})", R"("bare")", "7", "null"}) {
    const ToolResult result = mapped(fmt::format(R"({{"content":[{}]}})", part));
    EXPECT_EQ(result.output, "") << part;
    ASSERT_EQ(result.documents.size(), 1u) << part;
    EXPECT_EQ(result.documents.front(),
              (Document{"application/json", canonical_json(parsed(part)), {}}));
  }
}

// AU-19
TEST(McpResultTest, ContentThatIsNoListIsNotLost) {
  EXPECT_EQ(mapped("{}"), (ToolResult{.success = true}));
  const ToolResult result = mapped(R"({"content":"bare"})");
  ASSERT_EQ(result.documents.size(), 1u);
  EXPECT_EQ(result.documents.front(), (Document{"application/json", R"("bare")", {}}));
}

// AU-18 AU-19
TEST(McpResultTest, WhatWasMappedIsAWholeResult) {
  const ToolResult result = mapped(
      R"({"content":[{"type":"image","data":"iVBO","mimeType":"image/png"}],"isError":true})");
  EXPECT_EQ(canonical_json(to_json(result)),
            R"({"data":null,"documents":[{"data":"iVBO","media_type":"image/png"}],)"
            R"("duration_ms":null,"output":"","success":false})");
}

}  // namespace
}  // namespace sallyport
