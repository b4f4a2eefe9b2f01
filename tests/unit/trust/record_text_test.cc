#include "trust/record_text.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sallyport::trust {
namespace {

std::string hashed(std::string_view text) {
  RecordText record;
  const Result<void> read = record.read(text);
  return read ? std::string(record.hashed()) : "refused: " + read.error().message;
}

// TR-2
TEST(RecordTextTest, KeysAreSortedByBytesAtEveryLevelAndBlanksGo) {
  EXPECT_EQ(hashed(" { \"b\" : 1 , \"a\" : { \"z\":[ 1 , {\"y\":2,\"x\":3} ], \"B\":null } } "),
            R"({"a":{"B":null,"z":[1,{"x":3,"y":2}]},"b":1})");
  // U+FFFD sorts before U+10000 by bytes, and after it by UTF-16.
  EXPECT_EQ(hashed("{\"\xf0\x90\x80\x80\":1,\"\xef\xbf\xbd\":2}"),
            "{\"\xef\xbf\xbd\":2,\"\xf0\x90\x80\x80\":1}");
  EXPECT_EQ(hashed("{}"), "{}");
}

// TR-2
TEST(RecordTextTest, ItsOwnHashIsLeftOutAtTheTopOnly) {
  EXPECT_EQ(hashed(R"({"entry_hash":"x","metadata":{"entry_hash":"y"}})"),
            R"({"metadata":{"entry_hash":"y"}})");
}

// TR-2
TEST(RecordTextTest, OnlyWhatMustBeIsEscaped) {
  EXPECT_EQ(hashed(R"({"a":"\u00e9\/\u0041\ud83d\ude00\u2028\u007f"})"),
            "{\"a\":\"\xc3\xa9/A\xf0\x9f\x98\x80\xe2\x80\xa8\x7f\"}");
  EXPECT_EQ(hashed(R"({"a":"\u0080\u07ff\u0800\uffff\ud800\udc00\udbff\udfff"})"),
            "{\"a\":\"\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"}")
      << "each length of UTF-8 at its limits";
  EXPECT_EQ(hashed(R"({"a":"\u000A\u0001\"\\\b\f\r\t"})"), R"({"a":"\n\u0001\"\\\b\f\r\t"})");
}

// TR-21
TEST(RecordTextTest, NumbersStayAsTheyAreWritten) {
  EXPECT_EQ(hashed(R"({"a":1.0,"b":0.10,"c":-0,"d":1e2,"e":12345678901234567890})"),
            R"({"a":1.0,"b":0.10,"c":-0,"d":1e2,"e":12345678901234567890})");
  EXPECT_EQ(hashed(R"({"a":1e+2,"b":1E-2,"c":1.5E2,"d":0})"),
            R"({"a":1e+2,"b":1E-2,"c":1.5E2,"d":0})");
  for (const char* const number : {"1e", "1e+", "1e-", "1.", ".5", "-", "+1", "1e+-2"}) {
    EXPECT_TRUE(hashed(R"({"a":)" + std::string(number) + "}").starts_with("refused")) << number;
  }
}

// TR-21
TEST(RecordTextTest, MembersCanBeAskedFor) {
  RecordText record;
  ASSERT_TRUE(record.read(R"({"n":17,"m":{"k":[1]},"s":"text","e":"a\"b","z":null})"));
  EXPECT_EQ(record.number("n"), 17u);
  EXPECT_EQ(record.number("s"), std::nullopt);
  EXPECT_EQ(record.text("n"), std::nullopt);
  EXPECT_EQ(record.text("m"), std::nullopt);
  EXPECT_EQ(record.text("none"), std::nullopt);
  EXPECT_EQ(record.member("m"), R"({"k":[1]})");
  EXPECT_EQ(record.text("s"), "text");
  EXPECT_EQ(record.text("e"), std::nullopt);
  EXPECT_EQ(record.member("z"), "null");
  EXPECT_EQ(record.member("k"), "");
  ASSERT_TRUE(record.read(R"({"other":1})"));
  EXPECT_EQ(record.member("n"), "");
}

// TR-2 TR-21 (partly): each variant of a record is valid exactly if it is JSON of the same meaning.
TEST(RecordTextTest, EveryNearbyTextIsReadAsJsonIs) {
  const std::string good = R"( {"b":[1,-0.5e+3,{}],"a":{"x":"\u00aF\\\"\ud83d\uDE00","y":true},)"
                           "\r\n\t"
                           R"("c":null,"d":false , "e":[ ],"f":1E-2} )";
  const auto check = [](const std::string& text) {
    const Result<ParsedJson> parsed = parse_json(text);
    const bool is_object = parsed && parsed->value.is_object();
    RecordText record;
    ASSERT_EQ(record.read(text).has_value(), is_object) << text;
    if (!is_object) return;
    const std::string written(record.hashed());
    ASSERT_EQ(parse_json(written)->value, parsed->value) << text;
    ASSERT_EQ(hashed(written), written);
  };
  check(good);
  constexpr std::string_view kOthers = "{}[]\",:\\/utnfFgGaA09.-+eE \r\n\t\x01\x1f\x7f\xc3";
  for (std::size_t at = 0; at < good.size(); ++at) {
    check(good.substr(0, at) + good.substr(at + 1));
    for (const char other : kOthers) {
      check(good.substr(0, at) + other + good.substr(at));
      check(good.substr(0, at) + other + good.substr(at + 1));
    }
  }
}

// TR-21 (partly)
TEST(RecordTextTest, WhatIsNoRecordIsRefused) {
  const std::string deep = R"({"a":)" + std::string(70, '[') + std::string(70, ']') + "}";
  const std::string large = R"({"a":")" + std::string(RecordText::kMaxBytes, 'x') + R"("})";
  for (const std::string& text : {std::string(),
                                  std::string("[]"),
                                  std::string("{"),
                                  std::string(R"({"a":1,})"),
                                  std::string(R"({"a" 1})"),
                                  std::string(R"({"a":01})"),
                                  std::string(R"({"a":.5})"),
                                  std::string(R"({"a":1.})"),
                                  std::string(R"({"a":+1})"),
                                  std::string(R"({"a":tru})"),
                                  std::string(R"({"a":1}x)"),
                                  std::string(R"({"a":"\x"})"),
                                  std::string(R"({"a":"\ud800"})"),
                                  std::string(R"({"a":"\udc00\ud800"})"),
                                  std::string("{\"a\":\"\n\"}"),
                                  std::string("{\"a\":\"\xff\"}"),
                                  std::string(R"({"a":1,"a":2})"),
                                  std::string(R"({"m":{"b":1,"a":2,"b":3}})"),
                                  std::string(R"({"a":"x)"),
                                  std::string(R"({"a":"\})"),
                                  std::string(R"({"a":"\,"b":1})"),
                                  std::string(R"({"a":["\]})"),
                                  deep,
                                  large}) {
    EXPECT_TRUE(hashed(text).starts_with("refused: ")) << text.substr(0, 60);
  }
}

}  // namespace
}  // namespace sallyport::trust
