#include "mcp/message/json_text.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

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

// The parts of a value are where a parser finds them.
void agrees(std::string_view text) {
  const json::value value = parse_json(text)->value;
  const auto found = members(text);
  const auto listed = elements(text);
  const json::object* const object = value.if_object();
  const json::array* const array = value.if_array();
  ASSERT_EQ(found.size(), object ? object->size() : 0) << text;
  ASSERT_EQ(listed.size(), array ? array->size() : 0) << text;
  for (const auto& [name, part] : found) {
    EXPECT_EQ(parse_json(part)->value, object->at(name)) << text;
    EXPECT_EQ(find(text, {name}), part);
    EXPECT_EQ(parse_json(without_member(text, name))->value.get_object().size(), found.size() - 1);
    agrees(part);
  }
  for (std::size_t i = 0; i < listed.size(); ++i) {
    EXPECT_EQ(parse_json(listed[i])->value, array->at(i)) << text;
    agrees(listed[i]);
  }
}

TEST(JsonTextTest, BlanksStandAnywhereBetweenTheParts) {
  for (const std::string blank : {"", " ", "\t", "\n", "\r", " \r\n\t"}) {
    std::string text;
    for (const char* const part : {"{",
                                   "\"a\"",
                                   ":",
                                   "[",
                                   "1",
                                   ",",
                                   "{",
                                   "}",
                                   ",",
                                   "[",
                                   "]",
                                   ",",
                                   "\"]\\\"\\\\\"",
                                   ",",
                                   "{",
                                   "\"b c\"",
                                   ":",
                                   "true",
                                   "}",
                                   "]",
                                   ",",
                                   "\"\\u00e9\"",
                                   ":",
                                   "-1.5e3",
                                   ",",
                                   "\"d\"",
                                   ":",
                                   "{",
                                   "\"e\"",
                                   ":",
                                   "null",
                                   ",",
                                   "\"f\"",
                                   ":",
                                   "\"\"",
                                   "}",
                                   "}"}) {
      text += blank + part;
    }
    agrees(text + blank);
    EXPECT_EQ(find(with_member(text, "a", "7"), {"a"}), "7");
    EXPECT_EQ(find(with_member(text, "new", "7"), {"new"}), "7");
    EXPECT_EQ(members(with_member(text, "new", "7")).size(), 4u);
  }
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

TEST(JsonTextTest, NamesAreFoundHoweverTheyAreWritten) {
  EXPECT_EQ(find(R"({"\u0069\u0064":1})", {"id"}), "1");
  EXPECT_EQ(find(R"({"i\u0064x":1,"id":2})", {"id"}), "2");
  EXPECT_EQ(find(R"({"\u0069\u0064\u0020":1})", {"id"}), std::nullopt);
  EXPECT_EQ(without_member(R"({"\u0069d":1,"a":2})", "id"), R"({"a":2})");
  EXPECT_EQ(values_named("a", R"({"a":1,"b":2,"\u0061":3})", 10).size(), 2u);
  EXPECT_EQ(values_named("a", R"({"a":1,"b":2,"\u0061":3})", 2).size(), 1u);
}

// Each level of nesting once caused one more pass over the whole text.
TEST(JsonTextTest, ExactValuesAreReadInOnePass) {
  const std::string deep =
      std::string(100, '[') + "12345678901234567890123" + std::string(100, ']');
  const json::value* value = nullptr;
  const json::value whole = exact_value(deep);
  for (value = &whole; value->is_array(); value = &value->get_array().front()) {
  }
  EXPECT_EQ(value->get_string(), "12345678901234567890123");
  EXPECT_EQ(json::serialize(exact_value(R"( {"a":[1.0,"x",{"b":1e400}]})")), "null");
}

}  // namespace
}  // namespace sallyport::mcp
