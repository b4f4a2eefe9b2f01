#include "mcp/json_text.h"

#include <gtest/gtest.h>

namespace sallyport::mcp {
namespace {

TEST(JsonTextTest, ValuesAreFoundWhereTheyStand) {
  const std::string text = R"( { "id" : 7 , "params":{"a":[1,{"x":2}],"n":1.50,"s":"}\"," } } )";
  EXPECT_EQ(find(text, {"id"}), "7");
  EXPECT_EQ(find(text, {"params", "n"}), "1.50");
  EXPECT_EQ(find(text, {"params", "s"}), R"("}\",")");
  EXPECT_EQ(find(text, {"params", "a"}), R"([1,{"x":2}])");
  EXPECT_EQ(find(text, {"params", "b"}), std::nullopt);
  EXPECT_EQ(find(text, {"id", "x"}), std::nullopt);
}

TEST(JsonTextTest, NamesMayBeWrittenWithEscapes) {
  EXPECT_EQ(find(R"({"\u0069d":1})", {"id"}), "1");
}

TEST(JsonTextTest, EditsLeaveEveryOtherByteAlone) {
  const std::string text = R"({"b":1.0, "id":7,"a":12345678901234567890123})";
  EXPECT_EQ(with_member(text, "id", "8"), R"({"b":1.0, "id":8,"a":12345678901234567890123})");
  EXPECT_EQ(with_member("{}", "id", "8"), R"({"id":8})");
  EXPECT_EQ(with_member(R"({"a":1})", "id", "8"), R"({"id":8,"a":1})");
  EXPECT_EQ(without_member(R"({"a":1,"id":7,"b":2.50})", "id"), R"({"a":1,"b":2.50})");
  EXPECT_EQ(without_member(R"({"id":7})", "id"), "{}");
}

TEST(JsonTextTest, ElementsAndMembersKeepTheirOrder) {
  EXPECT_EQ(elements(R"([1, [2,3] ,"x"])"), (std::vector<std::string_view>{"1", "[2,3]", "\"x\""}));
  EXPECT_TRUE(elements("[]").empty());
  const auto found = members(R"({"z":1,"a":{}})");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].first, "z");
  EXPECT_EQ(found[1].second, "{}");
}

TEST(JsonTextTest, WhatIsNoJsonIsReadNoFurtherThanItGoes) {
  for (const char* const text :
       {"", "{", "{\"", "{\"id", "{\"id\"", "{\"id\":", "{\"id\":\"", "{\"id\":\"\\", "[", "{{{{",
        "{\"a\":[[[[", "{\"a\":1,", "}", "{\"a\":}", "{\"a\" 1}", "nonsense"}) {
    EXPECT_EQ(find(text, {"id"}), std::nullopt) << text;
    (void)members(text);
    (void)elements(text);
  }
  EXPECT_EQ(find(R"({"id":5,"result":{"cut off)", {"id"}), "5");
}

}  // namespace
}  // namespace sallyport::mcp
