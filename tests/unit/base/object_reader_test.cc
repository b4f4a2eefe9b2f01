#include "base/object_reader.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cmath>
#include <functional>

namespace sallyport {
namespace {

using Read = std::function<void(ObjectReader&)>;

Error refusal(const json::value& value, const Read& read, std::string where = "event") {
  ObjectReader in(value, std::move(where));
  read(in);
  EXPECT_FALSE(in.ok()) << json::serialize(value);
  return in.ok() ? Error{} : in.error();
}

struct Reader {
  std::string_view name;
  std::string_view wanted;
  Read read;
  json::value good;
};

const std::vector<Reader>& readers() {
  static const std::vector<Reader> all = {
      {"text", "a string", [](ObjectReader& in) { in.text("f"); }, "x"},
      {"number", "a whole number", [](ObjectReader& in) { in.number("f"); }, 7},
      {"boolean", "true or false", [](ObjectReader& in) { in.boolean("f"); }, true},
      {"array", "an array", [](ObjectReader& in) { in.array("f"); }, json::array{1}},
      {"object", "an object", [](ObjectReader& in) { in.object("f"); }, json::object{{"a", 1}}},
      {"word", "a string", [](ObjectReader& in) { in.word("f", {"a", "b"}); }, "b"},
      {"time", "a string", [](ObjectReader& in) { in.time("f"); }, "2026-01-02T03:04:05.000006Z"},
  };
  return all;
}

// EV-109 (partly)
TEST(ObjectReaderTest, FieldsOfTheRightTypeAreReadAndOthersIgnored) {
  const json::value value{{"t", "é"},    {"n", 9007199254740991}, {"b", true},
                          {"a", {1, 2}}, {"o", {{"x", 1}}},       {"extra", "ignored"}};
  ObjectReader in(value);
  EXPECT_EQ(in.text("t"), "é");
  EXPECT_EQ(in.number("n"), 9007199254740991u);
  EXPECT_TRUE(in.boolean("b"));
  EXPECT_EQ(in.array("a").size(), 2u);
  EXPECT_EQ(in.object("o").at("x"), json::value(1));
  EXPECT_EQ(in.any("o"), value.at("o"));
  EXPECT_TRUE(in.ok());
}

// EV-109 (partly)
TEST(ObjectReaderTest, AMissingFieldIsNamedWithWhatItMustBe) {
  for (const Reader& reader : readers()) {
    const Error error = refusal(json::object{{"g", 1}}, reader.read);
    EXPECT_EQ(error.code, ErrorCode::InvalidInput) << reader.name;
    EXPECT_EQ(error.where, "event.f") << reader.name;
    EXPECT_EQ(error.message, "`event.f` is missing, it must be " + std::string(reader.wanted));
  }
  EXPECT_EQ(refusal(json::object{}, [](ObjectReader& in) { in.any("f"); }).where, "event.f");
}

// EV-109 (partly)
TEST(ObjectReaderTest, AFieldOfAnotherTypeIsNamed) {
  const std::vector<json::value> values = {
      nullptr, true, 7, -7, 1.5, "x", "b", json::array{1}, json::object{{"a", 1}}};
  for (const Reader& reader : readers()) {
    for (const json::value& value : values) {
      if (value.kind() == reader.good.kind()) continue;
      const Error error = refusal(json::object{{"f", value}}, reader.read);
      EXPECT_EQ(error.where, "event.f") << reader.name << json::serialize(value);
      EXPECT_TRUE(error.message.starts_with("`event.f` must be")) << error.message;
    }
    const json::value good{{"f", reader.good}};
    ObjectReader in(good, "event");
    reader.read(in);
    EXPECT_TRUE(in.ok()) << reader.name;
  }
}

// EV-110 (partly)
TEST(ObjectReaderTest, NumbersAreWholeAndAtMostTwoToThe53Less1) {
  const Read read = [](ObjectReader& in) { in.number("n"); };
  for (const json::value& bad : std::initializer_list<json::value>{
           -1, 9007199254740992, std::uint64_t{18446744073709551615u}, 1.0, "1"}) {
    EXPECT_EQ(refusal(json::object{{"n", bad}}, read).where, "event.n") << json::serialize(bad);
  }
}

// EV-110 (partly)
TEST(ObjectReaderTest, TextThatIsNoUtf8IsRefusedAtAnyDepth) {
  const json::value lone_surrogate{{"f", "\xed\xa0\x80"}};
  EXPECT_EQ(refusal(lone_surrogate, [](ObjectReader& in) { in.text("f"); }).message,
            "`event.f` is not UTF-8");
  const json::value deep{{"f", {{"a", {"ok", "\xff"}}}}};
  EXPECT_EQ(refusal(deep, [](ObjectReader& in) { in.any("f"); }).where, "event.f");
  const json::value infinite{{"f", HUGE_VAL}};
  EXPECT_EQ(refusal(infinite, [](ObjectReader& in) { in.any("f"); }).where, "event.f");
}

// EV-109 (partly)
TEST(ObjectReaderTest, AWordOutsideItsListIsRefusedWithTheList) {
  const Error error =
      refusal(json::object{{"f", "c"}}, [](ObjectReader& in) { in.word("f", {"a", "b"}); });
  EXPECT_EQ(error.message, "`event.f` is `c`, it must be one of `a`, `b`");
}

// EV-109 (partly)
TEST(ObjectReaderTest, ATimeIsRfc3339) {
  for (const std::string_view bad : {"", "2026-01-02", "yesterday", "2026-13-02T03:04:05Z"}) {
    const Error error = refusal(json::object{{"f", bad}}, [](ObjectReader& in) { in.time("f"); });
    EXPECT_EQ(error.where, "event.f") << bad;
  }
}

// EV-2 (partly)
TEST(ObjectReaderTest, AbsentAndNullAreTheSameForAnOptionalField) {
  const json::value value{{"null", nullptr}, {"t", "x"}, {"n", 3}, {"wrong", json::array{}}};
  ObjectReader in(value);
  for (const std::string_view name : {"null", "absent"}) {
    EXPECT_FALSE(in.has(name));
    EXPECT_EQ(in.optional_text(name), std::nullopt);
    EXPECT_EQ(in.optional_number(name), std::nullopt);
    EXPECT_TRUE(in.optional_any(name).is_null());
  }
  EXPECT_EQ(in.optional_text("t"), "x");
  EXPECT_EQ(in.optional_number("n"), 3u);
  EXPECT_EQ(in.optional_any("t"), json::value("x"));
  EXPECT_TRUE(in.ok());
  EXPECT_EQ(in.optional_text("wrong"), "");
  EXPECT_EQ(in.error().where, "wrong");
}

// EV-109 (partly)
TEST(ObjectReaderTest, TheFirstFaultIsKeptAndLaterReadsAreEmpty) {
  const json::value value{{"good", "x"}};
  ObjectReader in(value);
  in.text("first");
  EXPECT_EQ(in.text("good"), "");
  EXPECT_EQ(in.number("second"), 0u);
  EXPECT_FALSE(in.has("good"));
  in.refuse("third", "is odd");
  in.take(Error{ErrorCode::Internal, "fourth", ""});
  EXPECT_EQ(in.error().where, "first");
}

// EV-109 (partly)
TEST(ObjectReaderTest, WhatIsNoObjectIsRefusedByItsPlace) {
  const Read read = [](ObjectReader& in) { in.text("f"); };
  EXPECT_EQ(refusal(json::array{}, read).message, "`event` is not an object");
  EXPECT_EQ(refusal(nullptr, read, "").message, "`value` is not an object");
}

// EV-109 (partly)
TEST(ObjectReaderTest, FaultsOfNestedShapesAreTakenOver) {
  const json::value value{{"a", 1}};
  ObjectReader in(value, "outer");
  EXPECT_EQ(in.take(Result<int>(3)), 3);
  EXPECT_TRUE(in.ok());
  EXPECT_EQ(in.place("a"), "outer.a");
  const Result<int> nested = fail(ErrorCode::InvalidInput, "`outer.a.b` is odd", "outer.a.b");
  EXPECT_EQ(in.take(nested), 0);
  EXPECT_EQ(in.error().where, "outer.a.b");
}

}  // namespace
}  // namespace sallyport
