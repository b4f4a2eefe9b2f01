#include "sallyport/json.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cmath>
#include <limits>

namespace sallyport {
namespace {

std::string nested(std::size_t depth, std::string_view open, std::string_view close) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += open;
  for (std::size_t i = 0; i < depth; ++i) text += close;
  return text;
}

std::string arrays(std::size_t depth) {
  return nested(depth, "[", "]");
}

std::string objects(std::size_t depth) {
  return nested(depth - 1, R"({"a":)", "").append("{}") + std::string(depth - 1, '}');
}

Error refusal(std::string_view text, const JsonLimits& limits = {}) {
  const Result<ParsedJson> parsed = parse_json(text, limits);
  EXPECT_FALSE(parsed) << text.substr(0, 200);
  if (parsed) return {};
  EXPECT_EQ(parsed.error().code, ErrorCode::InvalidInput) << text.substr(0, 200);
  return parsed.error();
}

bool accepted(std::string_view text, const JsonLimits& limits = {}) {
  return parse_json(text, limits).has_value();
}

// LE-8
TEST(JsonTest, EveryKindOfValueIsRead) {
  const Result<ParsedJson> parsed =
      parse_json(" {\"a\":[null,true,false,-7,18446744073709551615,1.5,\"\\u00e9\\n\"],\"b\":{}} ");
  ASSERT_TRUE(parsed) << parsed.error().message;
  const json::array& a = parsed->value.at("a").as_array();
  EXPECT_TRUE(a.at(0).is_null());
  EXPECT_TRUE(a.at(1).as_bool());
  EXPECT_FALSE(a.at(2).as_bool());
  EXPECT_EQ(a.at(3).as_int64(), -7);
  EXPECT_EQ(a.at(4).as_uint64(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(a.at(5).as_double(), 1.5);
  EXPECT_EQ(a.at(6).as_string(), "\u00e9\n");
  EXPECT_TRUE(parsed->value.at("b").as_object().empty());
}

// LE-8
TEST(JsonTest, UnparsableTextIsRefusedWithItsPlace) {
  struct Case {
    std::string_view text;
    std::string_view where;
  };
  for (const Case& bad : std::initializer_list<Case>{{"", "1:1"},
                                                     {"   ", "1:4"},
                                                     {"{", "1:2"},
                                                     {"[1,", "1:4"},
                                                     {"[1,]", "1:4"},
                                                     {"{\"a\" 1}", "1:6"},
                                                     {"{a:1}", "1:2"},
                                                     {"'a'", "1:1"},
                                                     {"[1\n, x]", "2:3"},
                                                     {"// c\n1", "1:1"},
                                                     {"\"a\nb\"", "1:3"},
                                                     {"\"\\x\"", "1:3"},
                                                     {"tru", "1:4"},
                                                     {"nul1", "1:1"}}) {
    const Error error = refusal(bad.text);
    EXPECT_EQ(error.where, bad.where) << bad.text;
    EXPECT_FALSE(error.message.empty()) << bad.text;
  }
}

// LE-8
TEST(JsonTest, NumbersThatAreNoJsonNumbersAreRefused) {
  for (const std::string_view text : {"NaN", "Infinity", "-Infinity", "-", "+1", "01", "-01", ".5",
                                      "1.", "1e", "1e+", "0x10", "1_000", "--1", "1.e5"}) {
    refusal(text);
  }
}

// LE-8
TEST(JsonTest, DuplicateNamesAreRefusedAlsoWhenOneIsEscaped) {
  for (const std::string_view text :
       {R"({"a":1,"a":1})", R"({"a":1,"\u0061":2})", R"({"\u00e9":1,"é":2})",
        R"({"😀":1,"\ud83d\ude00":2})", R"([{"x":{"a":1,"b":2,"a":3}}])", R"({"":1,"":2})",
        R"({"a":{},"b":1,"a":[]})", R"({"a\/b":1,"a/b":2})"}) {
    EXPECT_NE(refusal(text).message.find("occurs twice in one object"), std::string::npos) << text;
  }
  EXPECT_EQ(refusal(R"({"a":1,"\u0061":2})").message, "member `a` occurs twice in one object");
  EXPECT_EQ(refusal("{\n\"a\":1,\n\"a\":2}").where, "3:6");
}

// LE-8
TEST(JsonTest, DuplicateNamesAreFoundInLargeObjects) {
  for (const std::size_t twin : {0U, 7U, 8U, 500U, 998U}) {
    std::string text = "{";
    for (std::size_t i = 0; i < 999; ++i) text += "\"k" + std::to_string(i) + "\":0,";
    EXPECT_TRUE(accepted(text + "\"last\":0}"));
    EXPECT_NE(refusal(text + "\"k" + std::to_string(twin) + "\":0}").message.find("occurs twice"),
              std::string::npos);
  }
}

// LE-8
TEST(JsonTest, TheSameNameInDifferentObjectsIsFine) {
  EXPECT_TRUE(
      accepted(R"({"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}],"A":1,"\u00e1":2,"a\u0301":3})"));
}

// LE-8
TEST(JsonTest, InvalidUtf8IsRefusedWithItsPlace) {
  using namespace std::string_view_literals;
  for (const std::string_view text :
       {"\"\x80\""sv, "\"\xc3\""sv, "\"\xc0\xaf\""sv, "\"\xe0\x80\xaf\""sv, "\"\xed\xa0\x80\""sv,
        "\"\xf4\x90\x80\x80\""sv, "\"\xff\""sv, "{\"\xfe\":1}"sv, "1 \xa0"sv}) {
    EXPECT_EQ(refusal(text).message, "not valid UTF-8");
  }
  EXPECT_EQ(refusal("[\"ok\",\n \"a\xff\"]").where, "2:4");
  EXPECT_EQ(refusal("\"\xc3").where, "1:2");
  EXPECT_EQ(refusal("\"\u20ac\xe2\x82\"").where, "1:5");
}

// LE-8
TEST(JsonTest, LoneSurrogatesAreRefused) {
  for (const std::string_view text :
       {R"("\ud800")", R"("\udc00")", R"("\ud800x")", R"("\ud800\ud800")", R"("\udc00\ud800")",
        R"("\ud83d\u0041")", R"("\ud83d\n")", R"({"\ud800":1})", R"(["\uDFFF"])"}) {
    EXPECT_EQ(refusal(text).message, "not JSON: a lone surrogate, which is half a character")
        << text;
  }
  EXPECT_EQ(parse_json(R"("\ud83d\ude00")")->value.as_string(), "😀");
}

// LE-8
TEST(JsonTest, ARawControlCharacterIsRefusedByItsNumber) {
  const Error error = refusal("{\"a\":\"b\n\"}");
  EXPECT_EQ(error.message, "not JSON: a raw control character (U+000A); write it as an escape");
  EXPECT_EQ(error.where, "1:8");
  EXPECT_EQ(refusal(R"(["\q"])").message, "not JSON: syntax error");
}

// LE-8
TEST(JsonTest, AByteOrderMarkIsRefused) {
  const Error error = refusal("\xef\xbb\xbf{}");
  EXPECT_NE(error.message.find("byte order mark"), std::string::npos);
  EXPECT_EQ(error.where, "1:1");
  EXPECT_TRUE(accepted("\"\xef\xbb\xbf\""));
}

// LE-8
TEST(JsonTest, NumbersBeyondADoubleAreRefused) {
  for (const std::string& text :
       {std::string("1e309"), std::string("-1e309"), std::string("1.8e308"), std::string("1e99999"),
        std::string("0.1e400"), std::string(400, '9'), std::string("1e9999999999999999999999")}) {
    const Error error = refusal("{\"n\":" + text + "}");
    EXPECT_FALSE(error.where.empty());
  }
  EXPECT_EQ(refusal("[1e309]").message, "number `1e309` is out of range");
}

// LE-8
TEST(JsonTest, TextAfterTheValueIsRefused) {
  for (const std::string_view text : {"1 2", "{} {}", "null,", "[] ]", "\"a\"b"}) {
    EXPECT_EQ(refusal(text).message, "text after the value") << text;
  }
  using namespace std::string_view_literals;
  refusal("1\0"sv);
  EXPECT_EQ(refusal("{}\n\n x").where, "3:2");
  EXPECT_TRUE(accepted(" \t\r\n1 \t\r\n"));
}

// LE-8
TEST(JsonTest, NestingOf128IsTheDeepest) {
  EXPECT_TRUE(accepted(arrays(128)));
  EXPECT_TRUE(accepted(objects(128)));
  EXPECT_EQ(refusal(arrays(129)).message, "nested deeper than 128");
  EXPECT_EQ(refusal(objects(129)).message, "nested deeper than 128");
  EXPECT_EQ(refusal(arrays(129)).where, "1:129");
  EXPECT_EQ(refusal(std::string(1'000'000, '[')).message, "nested deeper than 128");
  EXPECT_TRUE(accepted(arrays(3), {.depth = 3}));
  refusal(arrays(4), {.depth = 3});
}

// LE-8, LE-78
TEST(JsonTest, TextOverTheLimitIsRefusedUnread) {
  EXPECT_TRUE(accepted("\"12345678\"", {.bytes = 10}));
  EXPECT_EQ(refusal("\"123456789\"", {.bytes = 10}).message, "11 bytes, the limit is 10");
  const std::string large = '"' + std::string(16 * 1024 * 1024, 'x') + '"';
  EXPECT_EQ(refusal(large).message, "16777218 bytes, the limit is 16777216");
}

// LE-8
TEST(JsonTest, ValuesPutTogetherByCodeAreCheckedTheSameWay) {
  EXPECT_TRUE(check_json({{"a", {1, "é", 2.5}}}));
  EXPECT_FALSE(check_json("\xff"));
  EXPECT_FALSE(check_json({{"a", {{"b", "\xc3"}}}}));
  EXPECT_FALSE(check_json({{"\xed\xa0\x80", 1}}));
  EXPECT_FALSE(check_json({{"n", std::nan("")}}));
  EXPECT_FALSE(check_json({{"n", HUGE_VAL}}));
  const json::value deep = parse_json(arrays(128))->value;
  EXPECT_TRUE(check_json(deep));
  EXPECT_FALSE(check_json(deep, 127));
  EXPECT_FALSE(check_json(json::array{deep}));
}

// LE-9
TEST(JsonTest, OurOwnDocumentsRefuseNumbersInAnotherForm) {
  for (const std::string_view text : {"9007199254740992",
                                      "-9007199254740992",
                                      "18446744073709551615",
                                      "123456789012345678901",
                                      "1.0",
                                      "1e5",
                                      "1E0",
                                      "-0",
                                      "0.0",
                                      "-0.0",
                                      "1.50",
                                      "0.10",
                                      "0.1000000000000000055",
                                      "333333333.33333329",
                                      "1e21",
                                      "1E-7",
                                      "1e-07",
                                      "0.0000001",
                                      "5e-325",
                                      "1e400"}) {
    EXPECT_FALSE(parse_own_json(text)) << text;
  }
  EXPECT_EQ(parse_own_json("{\"a\":\n 1.0}").error().where, "2:5");
  for (const std::string_view text :
       {"0", "-1", "9007199254740991", "-9007199254740991", "0.1", "1.5", "1e-7", "5e-324",
        "0.000001", "333333333.3333333", "-2.5"}) {
    const Result<json::value> value = parse_own_json(text);
    ASSERT_TRUE(value) << text;
    EXPECT_EQ(canonical_json(*value), text);
  }
}

// LE-10
TEST(JsonTest, NumbersThatADoubleDoesNotHoldAreMarked) {
  for (const std::string_view text :
       {"9007199254740992", "9007199254740993", "-9007199254740993", "12345678901234567890",
        "123456789012345678901234567890", "0.1000000000000000055", "333333333.33333329", "1e-400",
        "3.14159265358979323846", "[1,{\"id\":12345678901234567890}]", "1e21"}) {
    const Result<ParsedJson> parsed = parse_json(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_FALSE(parsed->exact) << text;
  }
  for (const std::string_view text : {"1", "1.0", "-0", "1e5", "100e-2", "0.10", "4.50", "2e-3",
                                      "9007199254740991", "1E-7", "0e5", "[0.1,\"1e999\"]"}) {
    const Result<ParsedJson> parsed = parse_json(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_TRUE(parsed->exact) << text;
  }
}

// LE-7
TEST(JsonTest, DecimalsAreReadAsTheNearestDouble) {
  struct Case {
    std::string_view text;
    double number;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"0.1", 0x1.999999999999ap-4},
           {"9007199254740993.0", 0x1p53},
           {"1.7976931348623157e308", std::numeric_limits<double>::max()},
           {"2.2250738585072011e-308", 0x0.fffffffffffffp-1022},
           {"5e-324", std::numeric_limits<double>::denorm_min()},
           {"2e-324", 0.0},
           {"1e-400", 0.0},
           {"2.2250738585072014e-308", std::numeric_limits<double>::min()},
           {"1.00000000000000011102230246251565404236316680908203125", 1.0},
           {"1.00000000000000011102230246251565404236316680908203126", 0x1.0000000000001p0},
           {"179769313486231580793e288", 0x1.fffffffffffffp1023}}) {
    const Result<ParsedJson> parsed = parse_json(c.text);
    ASSERT_TRUE(parsed) << c.text << parsed.error().message;
    ASSERT_TRUE(parsed->value.is_double()) << c.text;
    EXPECT_EQ(parsed->value.get_double(), c.number) << c.text;
  }
}

// A text of 57 MiB, an array of small numbers, once took 38 seconds and 9.7 GiB: a limit of bytes
// bounds neither.
TEST(JsonTest, ValuesAndNamesAreCountedAndBounded) {
  EXPECT_EQ(parse_json(R"({"a":[1,"x",null,true,1.5,{}],"b":2})")->values, 11u);
  for (const char* const text :
       {"[1,2,3,4]", R"(["","","",""])", "[null,true,false,null]", "[[],[],[],[]]", "[{},{},{},{}]",
        R"({"a":1,"b":2})", "[[[[[]]]]]", "[0.5,1e3,18446744073709551615,1]"}) {
    EXPECT_TRUE(accepted(text, {.values = 5})) << text;
    const Error error = refusal(text, {.values = 4});
    EXPECT_EQ(error.cause, kOverLimit) << text;
    EXPECT_EQ(error.message, "over 4 values and member names, the limit") << text;
  }
  EXPECT_TRUE(accepted("1", {.values = 1}));
  EXPECT_EQ(refusal("1", {.values = 0}).cause, kOverLimit);
  EXPECT_EQ(refusal("[[[]]]", {.depth = 2}).cause, kOverLimit);
  EXPECT_EQ(refusal("[1]", {.bytes = 2}).cause, kOverLimit);
  EXPECT_EQ(refusal("[1").cause, "");
}

TEST(JsonTest, ThereIsADefaultBoundOnValues) {
  std::string text = "[1";
  for (int i = 0; i < 1'000'000; ++i) text += ",1";
  EXPECT_EQ(refusal(text + "]").cause, kOverLimit);
  // A damaged document of our own gives no cause: a cause would mean an error of the
  // store.
  EXPECT_EQ(parse_own_json(arrays(129)).error().cause, "");
  // Every text that was written can be read again.
  EXPECT_TRUE(parse_own_json(text + "]"));
}

TEST(JsonTest, NumbersThatADoubleCannotHoldBecomeTheirTextWhereThatIsAskedFor) {
  const Result<ParsedJson> parsed =
      parse_json(R"({"n":[1,1.50,12345678901234567890123,-9007199254740993,0.1]})",
                 {.numbers = Numbers::Exact});
  ASSERT_TRUE(parsed);
  EXPECT_FALSE(parsed->exact);
  EXPECT_EQ(json::serialize(parsed->value),
            R"({"n":[1,1.5E0,"12345678901234567890123","-9007199254740993",1E-1]})");
}

}  // namespace
}  // namespace sallyport
