#include "sallyport/usage.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sallyport {
namespace {

constexpr std::string_view kFull =
    R"({"cache_creation_input_tokens":5,"cache_read_input_tokens":4,"input_tokens":1,)"
    R"("output_tokens":2,"reasoning_tokens":6,"thoughts_tokens":7,"tool_input_tokens":8,)"
    R"("total_tokens":9007199254740991})";

// EV-32
TEST(UsageTest, AllEightNumbersAreReadAndWritten) {
  const Result<Usage> usage = usage_from_json(*parse_own_json(kFull));
  ASSERT_TRUE(usage) << usage.error().message;
  EXPECT_EQ(usage->input_tokens, 1u);
  EXPECT_EQ(usage->output_tokens, 2u);
  EXPECT_EQ(usage->total_tokens, 9007199254740991u);
  EXPECT_EQ(usage->cache_read_input_tokens, 4u);
  EXPECT_EQ(usage->cache_creation_input_tokens, 5u);
  EXPECT_EQ(usage->reasoning_tokens, 6u);
  EXPECT_EQ(usage->thoughts_tokens, 7u);
  EXPECT_EQ(usage->tool_input_tokens, 8u);
  EXPECT_EQ(canonical_json(to_json(*usage)), kFull);
}

// EV-2 EV-32
TEST(UsageTest, WhatTheProviderDidNotSayIsNullAndAbsentIsReadAsNull) {
  const Result<Usage> empty = usage_from_json(json::object{{"another_count", "ignored"}});
  ASSERT_TRUE(empty);
  EXPECT_EQ(*empty, Usage{});
  const json::object written = to_json(*empty);
  EXPECT_EQ(written.size(), 8u);
  for (const auto& member : written) EXPECT_TRUE(member.value().is_null()) << member.key();
  EXPECT_EQ(*usage_from_json(written), *empty);
}

// EV-109 EV-110
TEST(UsageTest, EachNumberOfAWrongTypeOrSizeIsRefusedByName) {
  const json::object good = parse_own_json(kFull)->as_object();
  for (const auto& member : good) {
    for (const json::value& bad : std::initializer_list<json::value>{
             "1", true, -1, 1.5, 9007199254740992, json::array{}, json::object{}}) {
      json::object broken = good;
      broken[member.key()] = bad;
      const Result<Usage> usage = usage_from_json(broken, "event.usage");
      ASSERT_FALSE(usage) << member.key() << json::serialize(bad);
      EXPECT_EQ(usage.error().where, "event.usage." + std::string(member.key()));
    }
  }
  EXPECT_EQ(usage_from_json(json::array{}).error().where, "usage");
}

}  // namespace
}  // namespace sallyport
