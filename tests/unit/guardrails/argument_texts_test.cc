#include "guardrails/check/argument_texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sallyport::guardrails {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

json::value value_of(std::string_view text) {
  return parse_json(text)->value;
}

// `path=text`, `null=text` for the whole.
std::vector<std::string> written(const ArgumentTexts& all) {
  std::vector<std::string> out;
  for (const ArgumentText& text : all.texts()) {
    out.push_back(all.path(text).value_or("null") + "=" + std::string(text.text));
  }
  return out;
}

std::vector<ArgumentPath> paths_of(std::initializer_list<std::string_view> texts) {
  std::vector<ArgumentPath> paths;
  for (const std::string_view text : texts) paths.push_back(*ArgumentPath::read(text));
  return paths;
}

// Returns the text that a check sees, or nothing if it is skipped.
std::optional<std::vector<std::string>> seen(std::string_view text,
                                             std::initializer_list<std::string_view> paths) {
  const json::value value = value_of(text);
  const auto some = ArgumentTexts::at(value, paths_of(paths));
  if (!some) return std::nullopt;
  return written(*some);
}

// GR-32
TEST(ArgumentTextsTest, StringLeavesComeInCanonicalOrderAndLastTheWhole) {
  const json::value value =
      value_of(R"({"z":"last","b":{"y":[1,"in",true,["deep"]]},"a":"first"})");
  EXPECT_THAT(written(ArgumentTexts::of(value)),
              ElementsAre("/a=first", "/b/y/1=in", "/b/y/3/0=deep", "/z=last",
                          R"(null={"a":"first","b":{"y":[1,"in",true,["deep"]]},"z":"last"})"));
}

// GR-32
TEST(ArgumentTextsTest, NamesAreOrderedByUtf16Units) {
  const json::value value =
      value_of("{\"\uE000\":\"1\",\"\U00010000\":\"2\",\"é\":\"3\",\"B\":\"4\",\"a\":\"5\"}");
  std::vector<std::string> order;
  const ArgumentTexts all = ArgumentTexts::of(value);
  for (const ArgumentText& text : all.texts()) order.emplace_back(text.text);
  order.pop_back();
  EXPECT_THAT(order, ElementsAre("4", "5", "3", "2", "1"));
}

// GR-32
TEST(ArgumentTextsTest, LeavesAreDecodedAndTheWholeIsNot) {
  const json::value value = value_of(R"({"sql":"drop\n\u0020table"})");
  EXPECT_THAT(written(ArgumentTexts::of(value)),
              ElementsAre("/sql=drop\n table", R"(null={"sql":"drop\n table"})"));
}

// GR-32
TEST(ArgumentTextsTest, NamesInPointersAreEscaped) {
  const json::value value = value_of(R"({"a/b~c":{"":"x"}})");
  EXPECT_THAT(written(ArgumentTexts::of(value)),
              ElementsAre("/a~1b~0c/=x", R"(null={"a/b~c":{"":"x"}})"));
}

// GR-32
TEST(ArgumentTextsTest, ValuesThatAreNoObjectHaveTextsToo) {
  EXPECT_THAT(written(ArgumentTexts::of(value_of(R"("x")"))), ElementsAre("=x", R"(null="x")"));
  EXPECT_THAT(written(ArgumentTexts::of(value_of("[]"))), ElementsAre("null=[]"));
  EXPECT_THAT(written(ArgumentTexts::of(value_of("1.50"))), ElementsAre("null=1.5"));
  const json::value list = value_of(R"(["a","b"])");
  EXPECT_THAT(written(ArgumentTexts::of(list)), ElementsAre("/0=a", "/1=b", R"(null=["a","b"])"));
}

// GR-33
TEST(ArgumentTextsTest, PathsLimitWhatIsSeenAndTheWholeIsNeverSeen) {
  EXPECT_THAT(seen(R"({"a":"x","b":"y"})", {"/b"}), testing::Optional(ElementsAre("/b=y")));
  EXPECT_THAT(seen(R"({"b":{"d":"2","c":["1"]},"a":"x"})", {"/b"}),
              testing::Optional(ElementsAre("/b/c/0=1", "/b/d=2")));
}

// GR-33
TEST(ArgumentTextsTest, OtherScalarsAtAPathAreSeenInCanonicalForm) {
  EXPECT_THAT(seen(R"({"n":1e2,"t":true,"z":null,"s":"x"})", {"/n", "/t", "/z"}),
              testing::Optional(ElementsAre("/n=100", "/t=true", "/z=null")));
}

// GR-33
TEST(ArgumentTextsTest, AStarIsOneWholeSegment) {
  const char* const text = R"({"items":[{"sql":"a"},{"sql":"b","x":{"sql":"no"}},{"n":1}]})";
  EXPECT_THAT(seen(text, {"/items/*/sql"}),
              testing::Optional(ElementsAre("/items/0/sql=a", "/items/1/sql=b")));
  EXPECT_THAT(seen(R"({"a":{"k":"1"},"b":{"k":"2"}})", {"/*/k"}),
              testing::Optional(ElementsAre("/a/k=1", "/b/k=2")));
  EXPECT_THAT(seen(R"({"a*":"1","ab":"2"})", {"/a*"}), testing::Optional(ElementsAre("/a*=1")));
}

// GR-33
TEST(ArgumentTextsTest, ALeafUnderSeveralPathsIsSeenOnceAndInCanonicalOrder) {
  EXPECT_THAT(seen(R"({"b":"2","a":{"c":"1"}})", {"/b", "/a/c", "/a", "/*"}),
              testing::Optional(ElementsAre("/a/c=1", "/b=2")));
}

// GR-33
TEST(ArgumentTextsTest, NothingIsSeenWhereNoPathExists) {
  EXPECT_EQ(seen(R"({"a":"x"})", {"/b", "/a/b", "/a/0"}), std::nullopt);
  EXPECT_EQ(seen(R"({"a":["x"]})", {"/a/1", "/a/-", "/a/00", "/"}), std::nullopt);
  EXPECT_EQ(seen(R"("x")", {"/*"}), std::nullopt);
}

// GR-33
TEST(ArgumentTextsTest, APathToAnEmptyContainerExists) {
  EXPECT_THAT(seen(R"({"a":[]})", {"/a"}), testing::Optional(IsEmpty()));
  EXPECT_THAT(seen(R"({"":"x"})", {"/"}), testing::Optional(ElementsAre("/=x")));
}

// GR-33
TEST(ArgumentPathTest, APathIsAPointerThatBeginsWithASlash) {
  for (const char* const text : {"/a", "/", "/a//b", "/a~0b", "/a~1b", "/*", "/a*", "/é"}) {
    EXPECT_TRUE(ArgumentPath::read(text)) << text;
  }
  for (const char* const text : {"", "a", "*", "#/a", "/a~", "/a~2", "/~/b", " /a"}) {
    EXPECT_FALSE(ArgumentPath::read(text)) << text;
  }
  EXPECT_EQ(ArgumentPath::read("/a~1b/*/~01")->segments,
            (std::vector<std::optional<std::string>>{"a/b", std::nullopt, "~1"}));
}

// GR-36 (partly)
TEST(ArgumentTextsTest, LeavesAreReplacedByTheirNumberWhateverTheOrderOfMembers) {
  const json::value value = value_of(R"({"z":"3","b":{"y":[1,"2"]},"a":"1"})");
  const auto some = ArgumentTexts::at(value, paths_of({"/b"}));
  ASSERT_EQ(some->texts().size(), 2u);
  EXPECT_EQ(some->texts()[0].string_leaf, std::nullopt);
  EXPECT_EQ(some->texts()[1].string_leaf, 1u);
  EXPECT_EQ(canonical_json(with_leaves(value, {{1, "two"}, {2, "three"}})),
            R"({"a":"1","b":{"y":[1,"two"]},"z":"three"})");
  EXPECT_EQ(with_leaves(value, {}), value);
}

// A name of a megabyte above many leaves: pointers for all of them would take gigabytes.
// GR-84 (partly)
TEST(ArgumentTextsTest, ALongNameAboveManyLeavesCostsNoMorePlaceThanTheValue) {
  json::array leaves;
  for (int i = 0; i < 100'000; ++i) leaves.emplace_back("x");
  const json::value value = json::object{{std::string(1 << 20, 'n'), leaves}};
  const ArgumentTexts all = ArgumentTexts::of(value);
  ASSERT_EQ(all.texts().size(), 100'001u);
  EXPECT_EQ(all.path(all.texts()[99'999])->size(), (1u << 20) + 7);
}

}  // namespace
}  // namespace sallyport::guardrails
