#include "mcp/server/tool_definition.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "mcp/server/server_name.h"

namespace sallyport::mcp {
namespace {

ToolDefinition only(const std::string& tool) {
  const json::value list = json::parse("{\"tools\":[" + tool + "]}");
  return definitions_in(list.as_object()).at(0);
}

// Members beside six known ones could once change unnoticed.
TEST(ToolDefinitionTest, TheHashCoversAllThatTheServerSays) {
  const ToolDefinition base = only(R"({"name":"t","description":"d","inputSchema":{"a":1}})");
  EXPECT_EQ(only(R"({"inputSchema":{"a":1.0},"description":"d","name":"t"})").hash, base.hash);
  for (
      const char* const other :
      {R"({"name":"u","description":"d","inputSchema":{"a":1}})",
       R"({"name":"t","description":"D","inputSchema":{"a":1}})",
       R"({"name":"t","description":"d","inputSchema":{"a":2}})",
       R"({"name":"t","description":"d","inputSchema":{"a":1},"outputSchema":{}})",
       R"({"name":"t","description":"d","inputSchema":{"a":1},"annotations":{"readOnlyHint":true}})",
       R"({"name":"t","title":"T","description":"d","inputSchema":{"a":1}})",
       R"({"name":"t","description":"d","inputSchema":{"a":1},"_meta":{"x":1}})",
       R"({"name":"t","description":"d","inputSchema":{"a":1},"icons":[{"src":"x"}]})",
       R"({"name":"t","description":"d","inputSchema":{"a":1},"execution":{"taskSupport":"required"}})",
       R"({"name":"t","description":"d","inputSchema":{"a":1},"x-unknown":1})"}) {
    EXPECT_NE(only(other).hash, base.hash) << other;
  }
  EXPECT_EQ(
      only(R"({"name":"t","description":"d","inputSchema":{"a":1},"_meta":{"x":1}})").first_hash,
      base.first_hash);
}

TEST(ToolDefinitionTest, OfTwoToolsWithOneNameNoneIsLeft) {
  const json::value list =
      json::parse(R"({"tools":[{"name":"a"},{"name":"b"},{"name":"a","x":1}]})");
  std::vector<ToolDefinition> tools = definitions_in(list.as_object());
  EXPECT_EQ(take_duplicates(tools), std::set<std::string>{"a"});
  ASSERT_EQ(tools.size(), 1u);
  EXPECT_EQ(tools[0].name, "b");
}

// AT-25 (partly)
TEST(ToolDefinitionTest, HintsOnlyRaiseCaution) {
  EXPECT_TRUE(only(R"({"name":"t","annotations":{"destructiveHint":true}})").raises_caution);
  EXPECT_TRUE(only(R"({"name":"t","annotations":{"readOnlyHint":false}})").raises_caution);
  EXPECT_FALSE(only(R"({"name":"t","annotations":{"readOnlyHint":true}})").raises_caution);
  EXPECT_FALSE(only(R"({"name":"t","annotations":{"destructiveHint":false}})").raises_caution);
  EXPECT_FALSE(only(R"({"name":"t"})").raises_caution);
}

TEST(ToolDefinitionTest, ToolsAreTakenOutOfTheTextAndTheRestStays) {
  const std::string list =
      R"({"nextCursor":"c","tools":[{"name":"a","n":1.0},{"name":"b"},{"name":"c","big":12345678901234567890123}]})";
  EXPECT_EQ(
      without_tools(list, {"b"}),
      R"({"nextCursor":"c","tools":[{"name":"a","n":1.0},{"name":"c","big":12345678901234567890123}]})");
  EXPECT_EQ(without_tools(list, {"a", "b", "c"}), R"({"nextCursor":"c","tools":[]})");
}

TEST(ServerNameTest, ItIsWhatAPersonWouldCallTheServer) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(
      name_of_command(Words{"npx", "-y", "@modelcontextprotocol/server-filesystem@1.2", "/tmp"}),
      "server-filesystem");
  EXPECT_EQ(name_of_command(Words{"python3", "-m", "weather"}), "weather");
  EXPECT_EQ(name_of_command(Words{"node", "/opt/server-memory/dist/index.js"}), "server-memory");
  EXPECT_EQ(name_of_command(Words{"uvx", "mcp-server-git"}), "mcp-server-git");
  EXPECT_EQ(name_of_command(Words{"./weird name"}), "weird-name");
  EXPECT_EQ(name_of_command(Words{"npx"}), "server");
  EXPECT_EQ(name_of_command(Words{"azAZ09-_.x"}), "azAZ09-_.x");
  EXPECT_EQ(name_of_command(Words{"a`{@[/:b"}), "-b") << "the last part of a path";
  EXPECT_EQ(name_of_command(Words{"a`{"}), "a--");
  EXPECT_EQ(name_of_command(Words{"", "A=1", "--flag", "files"}), "files");
  EXPECT_EQ(name_of_command(Words{std::string(80, 'x')}), std::string(64, 'x'));
  for (const char* const folder : {"main", "dist", "build", "server", "src", "index"}) {
    EXPECT_EQ(name_of_command(Words{"node", "/opt/files/" + std::string(folder) + ".js"}), "files");
  }
  EXPECT_EQ(name_of_command(Words{"main.py"}), "main") << "there is no folder";
}

}  // namespace
}  // namespace sallyport::mcp
