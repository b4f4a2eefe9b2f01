#include "llm/json_splice.h"

#include <gtest/gtest.h>

namespace sallyport::llm {
namespace {

// MP-5
TEST(JsonSplice, ReplacesOneValueAndLeavesEveryOtherByte) {
  Splice splice;
  splice.replace("/a/1/b~1c", "\"new\"");
  EXPECT_EQ(splice.applied("{ \"x\" : 1.00,\n\"a\":[ 7 ,{\"b/c\": \"old\\u0041\" , \"z\":1e3}] }"),
            "{ \"x\" : 1.00,\n\"a\":[ 7 ,{\"b/c\": \"new\" , \"z\":1e3}] }");
}

// MP-5
TEST(JsonSplice, FindsMembersByTheirNameWhateverItsEscapes) {
  Splice splice;
  splice.replace("/ab", "2");
  EXPECT_EQ(splice.applied(R"({"\u0061b":1,"ab-c":{"x":1}})"), R"({"\u0061b":2,"ab-c":{"x":1}})");
}

TEST(JsonSplice, RemovesMembersAndElementsWithOneComma) {
  const auto without = [](const std::string& text, const std::vector<std::string>& pointers) {
    Splice splice;
    for (const std::string& pointer : pointers) splice.remove(pointer);
    return splice.applied(text);
  };
  EXPECT_EQ(without("[1,2,3]", {"/0"}), "[2,3]");
  EXPECT_EQ(without("[1, 2, 3]", {"/1"}), "[1, 3]");
  EXPECT_EQ(without("[1,2,3]", {"/2"}), "[1,2]");
  EXPECT_EQ(without("[1,2,3]", {"/0", "/1", "/2"}), "[]");
  EXPECT_EQ(without(R"({"a":{"b":[]},"c":"}"})", {"/a"}), R"({"c":"}"})");
  EXPECT_EQ(without(R"({"a":1,"c":"]"})", {"/c"}), R"({"a":1})");
}

TEST(JsonSplice, AppendsBehindTheLastChild) {
  Splice splice;
  splice.append("", "\"stream_options\":{\"include_usage\":true}");
  splice.append("/in", "4");
  EXPECT_EQ(splice.applied("{\"in\":[ ]}"),
            "{\"in\":[ 4],\"stream_options\":{\"include_usage\":true}}");
  EXPECT_EQ(splice.applied("{}"), "{\"stream_options\":{\"include_usage\":true}}");
}

TEST(JsonSplice, APointerThatLeadsNowhereChangesNothing) {
  Splice splice;
  splice.replace("/a/0/b", "1");
  EXPECT_EQ(splice.applied(R"({"a":{"x":[1,"\"",{}]},"b":null})"),
            R"({"a":{"x":[1,"\"",{}]},"b":null})");
}

// MP-5, MP-27
TEST(JsonSplice, KnowsWhetherEachReplacementHasAPlace) {
  const std::string text = R"({"a":[{"b":1},2],"c":3})";
  const auto fits = [&](const std::vector<std::string>& replaced, const std::string& removed) {
    Splice splice;
    for (const std::string& pointer : replaced) splice.replace(pointer, "0");
    if (!removed.empty()) splice.remove(removed);
    return splice.fits(text);
  };
  EXPECT_TRUE(fits({"/a/0/b", "/c"}, "/x"));
  EXPECT_TRUE(fits({"/a/0/b"}, "/a/0"));
  EXPECT_TRUE(fits({"/a", "/a/0/b", "/a/1"}, ""));
  EXPECT_FALSE(fits({"/a/0/x"}, ""));
  EXPECT_FALSE(fits({"/a/2"}, ""));
  EXPECT_FALSE(fits({"/c", "/d"}, ""));
}

// MP-5
TEST(JsonSplice, AWrappedValueKeepsItsOtherEdits) {
  Splice splice;
  splice.wrap("/in", "[0,", "]");
  EXPECT_EQ(splice.applied(R"({"in": "a" })"), R"({"in": [0,"a"] })");
  splice.replace("/in", "\"b\"");
  EXPECT_EQ(splice.applied(R"({"in": "a" })"), R"({"in": [0,"b"] })");
}

TEST(JsonSplice, GivesTheTextOfAValueAsItStands) {
  const std::string text = " {\"a\" : [ 1.50 ,{\"b/c\":\"\\u0041]\"} ], \"\\u0064\":null } ";
  EXPECT_EQ(value_at(text, "/a/0"), "1.50");
  EXPECT_EQ(value_at(text, "/a/1/b~1c"), "\"\\u0041]\"");
  EXPECT_EQ(value_at(text, "/d"), "null");
  EXPECT_EQ(value_at(text, "/a/2"), "");
  EXPECT_EQ(value_at(text, "/x/0"), "");
  EXPECT_EQ(elements_of(value_at(text, "/a")),
            (std::vector<std::string_view>{"1.50", "{\"b/c\":\"\\u0041]\"}"}));
  EXPECT_TRUE(elements_of("[ ]").empty());
  EXPECT_TRUE(elements_of("{}").empty());
}

// The edit was once counted but not made, because the name was read in another way.
// MP-5, MP-13, MP-41
TEST(JsonSplice, FindsMembersWhoseNamesHaveALoneSurrogate) {
  const std::string text = R"({"\ud800":{"a\udc01":"x SECRET"}})";
  Splice splice;
  splice.replace("/\xEF\xBF\xBD/a\xEF\xBF\xBD", "\"[redacted]\"");
  EXPECT_EQ(splice.applied(text), R"({"\ud800":{"a\udc01":"[redacted]"}})");
  EXPECT_EQ(value_at(text, "/\xEF\xBF\xBD/a\xEF\xBF\xBD"), "\"x SECRET\"");
}

}  // namespace
}  // namespace sallyport::llm
