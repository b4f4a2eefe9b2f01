#include "mcp/switchboard/merged_answers.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/encoding.h"
#include "mcp/message/json_text.h"

namespace sallyport::mcp {
namespace {

TEST(MergedAnswersTest, CapabilitiesOfAllAreJoined) {
  const std::vector<PartAnswer> parts{
      {"a",
       R"({"protocolVersion":"2025-11-25","instructions":"first",)"
       R"("capabilities":{"tools":{},"resources":{"subscribe":false},"x":{"deep":{"one":1}},"odd":1}})"},
      {"b",
       R"({"protocolVersion":"2025-06-18","instructions":"second",)"
       R"("capabilities":{"resources":{"subscribe":true},"x":{"deep":{"two":2}},"odd":{"y":1}}})"},
  };
  const json::object merged = json::parse(merged_opening(parts, true)).as_object();
  EXPECT_EQ(merged.at("protocolVersion"), "2025-06-18") << "the oldest, which all of them speak";
  EXPECT_EQ(merged.at("instructions"), "a: first\n\nb: second");
  EXPECT_EQ(merged.at("capabilities"), json::parse(R"({"tools":{"listChanged":true},"resources":
      {"subscribe":true,"listChanged":true},"x":{"deep":{"one":1,"two":2}},"odd":1})"));
  const json::object early = json::parse(merged_opening(parts, false)).as_object();
  EXPECT_TRUE(early.at("capabilities").as_object().contains("prompts"))
      << "what is not there yet may come";
  const json::object none = json::parse(merged_opening({}, true)).as_object();
  EXPECT_EQ(none.at("protocolVersion"), "2025-11-25");
  EXPECT_FALSE(none.contains("instructions"));
  EXPECT_EQ(json::parse(merged_discovery(parts, true)).at("supportedVersions"),
            json::value(json::array{"2026-07-28"}));
}

TEST(MergedAnswersTest, ListsKnowTheirMembersAndTheirChanges) {
  const struct {
    std::string_view method, member, notification, subscription;
  } kCases[] = {
      {"tools/list", "tools", "notifications/tools/list_changed", "toolsListChanged"},
      {"prompts/list", "prompts", "notifications/prompts/list_changed", "promptsListChanged"},
      {"resources/list", "resources", "notifications/resources/list_changed",
       "resourcesListChanged"},
      {"resources/templates/list", "resourceTemplates", "notifications/resources/list_changed",
       "resourcesListChanged"},
      {"tasks/list", "tasks", "", ""},
      {"resources/read", "", "", ""},
      {"ping", "", "", ""},
  };
  for (const auto& one : kCases) {
    EXPECT_EQ(list_member(one.method), one.member);
    EXPECT_EQ(change_of(one.method).notification, one.notification) << one.method;
    EXPECT_EQ(change_of(one.method).subscription, one.subscription) << one.method;
  }
}

TEST(MergedAnswersTest, NamesAreQualifiedAndResourcesStandOnce) {
  const auto merged = [](std::string_view method, std::string one, std::string two) {
    return merged_list(method, {{"a", std::move(one)}, {"b", std::move(two)}});
  };
  EXPECT_EQ(merged("tools/list", R"({"tools":[{"name":"x"}]})", R"({"tools":[{"name":"x"}]})"),
            R"({"tools":[{"name":"a.x"},{"name":"b.x"}]})");
  EXPECT_EQ(merged("prompts/list", R"({"prompts":[{"name":"x"}]})", "{}"),
            R"({"prompts":[{"name":"a.x"}]})");
  EXPECT_EQ(merged("tasks/list", R"({"tasks":[{"taskId":"x"}]})", R"({"tasks":[]})"),
            R"({"tasks":[{"taskId":"a.x"}]})");
  EXPECT_EQ(merged("resources/list", R"({"resources":[{"uri":"u"}]})",
                   R"({"resources":[{"uri":"u"},{"uri":"v"}]})"),
            R"({"resources":[{"uri":"u"},{"uri":"v"}]})");
  EXPECT_EQ(merged("resources/templates/list", R"({"resourceTemplates":[{"uriTemplate":"u"}]})",
                   R"({"resourceTemplates":[{"uriTemplate":"u"},{"uriTemplate":"v"}]})"),
            R"({"resourceTemplates":[{"uriTemplate":"u"},{"uriTemplate":"v"}]})");
}

TEST(MergedAnswersTest, ACursorHoldsThatOfEachServer) {
  const std::string merged = merged_list(
      "tools/list", {{"a", R"({"tools":[],"nextCursor":"c1"})"}, {"b", R"({"tools":[]})"}});
  const std::string cursor(find(merged, {"nextCursor"}).value_or("\"\""));
  const auto split = split_cursor(std::string_view(cursor).substr(1, cursor.size() - 2));
  ASSERT_TRUE(split);
  EXPECT_EQ(*split, (std::map<std::string, std::string>{{"a", "c1"}}));
  EXPECT_FALSE(split_cursor("not base64!"));
  EXPECT_FALSE(split_cursor(base64(as_bytes(std::string_view("{}")))));
  EXPECT_FALSE(split_cursor(base64(as_bytes(std::string_view(R"({"a":1})")))));
}

}  // namespace
}  // namespace sallyport::mcp
