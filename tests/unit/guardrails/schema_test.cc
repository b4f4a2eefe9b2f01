#include "guardrails/document/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "guardrails/document/document.h"

namespace sallyport::guardrails {
namespace {

using testing::HasSubstr;

const json::value& at(const json::value& schema, std::string_view pointer) {
  return schema.at_pointer(pointer);
}

std::string description(const json::value& schema, std::string_view pointer) {
  return std::string(at(schema, std::string(pointer) + "/description").as_string());
}

// GR-71 (partly)
TEST(SchemaTest, UnknownKeysAreRefusedAtBothLevels) {
  const json::value schema = document_schema();
  EXPECT_EQ(at(schema, "/$schema"), json::value("https://json-schema.org/draft/2020-12/schema"));
  EXPECT_EQ(at(schema, "/additionalProperties"), json::value(false));
  EXPECT_EQ(at(schema, "/$defs/check/additionalProperties"), json::value(false));
}

// The schema is compared with the reader: the reader would refuse a key that only the schema has as
// unknown, and the other way round.
// GR-3 GR-71 (partly)
TEST(SchemaTest, TheSchemaKnowsTheKeysThatTheReaderKnows) {
  const json::value schema = document_schema();
  const json::object& keys = at(schema, "/$defs/check/properties").as_object();
  for (const json::key_value_pair& key : keys) {
    const json::value document = {
        {"checks", json::array{json::object{{key.key(), json::object()}}}}};
    const auto read = read_document(document);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, "shape") << key.key();
  }
  const auto unknown = read_document(R"({"checks":[{"bogus":1}]})");
  for (const json::key_value_pair& key : keys) {
    EXPECT_THAT(unknown.error().message, HasSubstr(std::string(key.key())));
  }
  EXPECT_EQ(keys.size(), 16u);
  EXPECT_EQ(at(schema, "/properties").as_object().size(), 3u);
}

// GR-71 (partly)
TEST(SchemaTest, EveryLimitSaysWhatItCounts) {
  const json::value schema = document_schema();
  EXPECT_THAT(description(schema, ""), HasSubstr("8388608 bytes"));
  EXPECT_THAT(description(schema, ""), HasSubstr("32 levels"));
  EXPECT_THAT(description(schema, "/properties/checks"), HasSubstr("64 checks"));
  EXPECT_THAT(description(schema, "/properties/max_hold_bytes"), HasSubstr("bytes"));
  const std::string keys = "/$defs/check/properties";
  EXPECT_THAT(description(schema, keys + "/id"), HasSubstr("64 characters, not bytes"));
  EXPECT_THAT(description(schema, keys + "/replacement"),
              HasSubstr("2000 bytes of UTF-8, not characters"));
  EXPECT_THAT(description(schema, keys + "/patterns"), HasSubstr("1000 repeats"));
  for (const char* const list : {"patterns", "words", "tools", "args", "except"}) {
    EXPECT_THAT(description(schema, keys + "/" + list), HasSubstr("64 entries"));
    EXPECT_THAT(description(schema, keys + "/" + list + "/items"),
                HasSubstr("512 bytes of UTF-8, not characters"));
  }
}

}  // namespace
}  // namespace sallyport::guardrails
