#include "base/json_writer.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "base/json_cursor.h"

namespace sallyport {
namespace {

template <class Put>
std::string written(Put put) {
  CanonicalWriter out;
  out.object([&] { put(out); });
  return std::move(out).take();
}

TEST(CanonicalWriterTest, MembersEndUpInCanonicalOrderHoweverTheyCome) {
  EXPECT_EQ(written([](CanonicalWriter& out) {
              out.put("b", 1);
              out.put("a", "x");
              out.object("0", [&] {
                out.put("z", true);
                out.put("y", nullptr);
              });
            }),
            R"({"0":{"y":null,"z":true},"a":"x","b":1})");
}

TEST(CanonicalWriterTest, ItemsOfAnArrayStayInTheirOrder) {
  EXPECT_EQ(written([](CanonicalWriter& out) {
              out.array("list", [&] {
                out.item("b");
                out.object([&] { out.put("n", 2); });
                out.item(json::value(nullptr));
              });
              out.array("none", [] {});
            }),
            R"({"list":["b",{"n":2},null],"none":[]})");
}

TEST(CanonicalWriterTest, TextIsEscapedAsCanonicalJsonEscapesIt) {
  const std::string odd = "tab\t quote\" slash\\ bell\x07 \xc3\xa9 " + std::string(3000, 'x');
  EXPECT_EQ(written([&](CanonicalWriter& out) { out.put(odd, odd); }),
            canonical_json(json::object{{odd, odd}}));
}

// LE-10
TEST(CanonicalWriterTest, AWholeNumberThatADoubleCannotHoldKeepsItsDigits) {
  EXPECT_EQ(written([](CanonicalWriter& out) {
              out.put("n", json::value(9007199254740993));
              out.put("u", std::numeric_limits<std::uint64_t>::max());
            }),
            R"({"n":9007199254740993,"u":18446744073709551615})");
}

TEST(CanonicalWriterTest, ANumberThatIsNotFiniteMakesTheTextUnreadable) {
  for (const double number : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    const std::string text =
        written([&](CanonicalWriter& out) { out.put("n", json::value(number)); });
    EXPECT_FALSE(parse_json(text)) << text;
    EXPECT_TRUE(JsonCursor(text).take_value(8).empty()) << text;
  }
}

TEST(CanonicalWriterTest, WhatIsWrittenIsWhatTheSlowWayWrites) {
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp)
  const auto name = [&] {
    return std::string(1 + random() % 3, static_cast<char>('a' + random() % 26));
  };
  for (int round = 0; round < 500; ++round) {
    json::object wanted;
    std::vector<std::string> names;
    for (std::size_t i = random() % 90; i > 0; --i) names.push_back(name());
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    std::ranges::shuffle(names, random);
    const std::string text = written([&](CanonicalWriter& out) {
      for (const std::string& one : names) {
        const std::uint64_t value = random();
        out.put(one, value);
        wanted[one] = value;
      }
    });
    EXPECT_EQ(text, canonical_json(wanted));
  }
}

TEST(ObjectWriterTest, MembersStayInTheOrderInWhichTheyCome) {
  ObjectWriter out;
  out.put("b", 1);
  out.object("o", [&] { out.put("x", std::optional<int>()); });
  out.array("a", [&] {
    out.item("i");
    out.object([&] { out.array("deep", [&] { out.item(2); }); });
  });
  EXPECT_EQ(json::serialize(std::move(out).take()),
            R"({"b":1,"o":{"x":null},"a":["i",{"deep":[2]}]})");
}

TEST(JsonCursorTest, ItTakesOneValueAndStandsBehindIt) {
  JsonCursor cursor(R"({"a":[1,-2.5e3,"x\"y",true,false,null]},"rest")");
  EXPECT_EQ(cursor.take_value(8), R"({"a":[1,-2.5e3,"x\"y",true,false,null]})");
  EXPECT_TRUE(cursor.take(','));
  EXPECT_EQ(cursor.take_string(), R"("rest")");
  EXPECT_TRUE(cursor.at_end());
}

TEST(JsonCursorTest, WhatIsNoJsonIsNotTaken) {
  for (const char* const text : {"", "{", "[1,]", "{\"a\"}", "{\"a\":}", "nul", "01x", "-", "1.",
                                 "1e", "\"\\x\"", "\"\\u12g4\"", "\"\\ud800\"",
                                 "\"\\uD83D\\uDE00\"", "\"open", "\"tab\t\"", "{a:1}", "NaN"}) {
    JsonCursor cursor(text);
    EXPECT_TRUE(cursor.take_value(8).empty() || !cursor.at_end()) << text;
  }
}

TEST(JsonCursorTest, ItGoesAsDeepAsItIsTold) {
  EXPECT_FALSE(JsonCursor("[[1]]").take_value(2).empty());
  EXPECT_TRUE(JsonCursor("[[1]]").take_value(1).empty());
  EXPECT_FALSE(JsonCursor("{\"a\":{}}").take_value(2).empty());
  EXPECT_TRUE(JsonCursor("{\"a\":{}}").take_value(1).empty());
  EXPECT_FALSE(JsonCursor("7").take_value(0).empty());
}

TEST(JsonCursorTest, NumbersAreExactUpToTheLargestThatEveryDoubleHolds) {
  for (const char* const exact :
       {"0", "-1", "9007199254740991", "-9007199254740991", "1.5e3", "1e-400"}) {
    EXPECT_TRUE(is_exact_number(exact)) << exact;
  }
  for (const char* const rounded : {"9007199254740992", "-9007199254740993", "1e300", "1e999"}) {
    EXPECT_FALSE(is_exact_number(rounded)) << rounded;
  }
  bool exact = true;
  EXPECT_FALSE(JsonCursor("[1,9007199254740993]").take_value(2, &exact).empty());
  EXPECT_FALSE(exact);
}

TEST(JsonCursorTest, AStringSaysWhatItsEscapesStandFor) {
  std::string scratch;
  EXPECT_EQ(string_in(R"("plain")", scratch), "plain");
  EXPECT_EQ(string_in(R"("a\nb\u00e9")", scratch), "a\nb\xc3\xa9");
}

TEST(JsonCursorTest, NamesRiseInTheOrderOfWhatTheySay) {
  const std::string rising[] = {R"("")",
                                R"("\n")",
                                R"(" ")",
                                R"("!")",
                                R"("\"")",
                                R"("B")",
                                R"("_")",
                                R"("a")",
                                R"("a\n")",
                                R"("aa")",
                                R"("b")",
                                "\"\xc3\xa9\"",
                                "\"\xf0\x9f\x98\x80\"",
                                "\"\xef\xbf\xbd\""};
  for (std::size_t i = 0; i < std::size(rising); ++i) {
    for (std::size_t k = 0; k < std::size(rising); ++k) {
      EXPECT_EQ(names_in_order(rising[i], rising[k]), i < k) << rising[i] << " " << rising[k];
    }
  }
}

TEST(CanonicalWriterTest, LongTextAndNamesThatNeedEscapesStandInTheirOrder) {
  const std::string text(5000, 'x');
  const std::string escaped = "a\"b";
  CanonicalWriter out;
  out.object([&] {
    out.put("z", text);
    out.put(std::string_view(escaped), 1);
    out.put("a", json::array{1, "two"});
    out.put("m", 2.5);
  });
  EXPECT_EQ(std::move(out).take(), R"({"a":[1,"two"],"a\"b":1,"m":2.5,"z":")" + text + R"("})");
}

}  // namespace
}  // namespace sallyport
