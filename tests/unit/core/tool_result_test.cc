#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "sallyport/call.h"
#include "unit/core/shape_checks.h"

namespace sallyport {
namespace {

const auto read = [](const json::value& value) { return tool_result_from_json(value); };

constexpr std::string_view kWhole =
    R"({"success":true,"output":"done","artifact":{"id":7},"data":{"rows":[1,2.5,null]},)"
    R"("documents":[{"media_type":"image/png","data":"iVBO","detail":"page 1"},)"
    R"({"media_type":"text/plain","data":"x"}],"duration_ms":12})";

// AU-18
TEST(ToolResultTest, IsReadAndWrittenAgainByteForByte) {
  expect_round_trip(kWhole, read);
  expect_round_trip(R"({"success":false,"output":"","data":null,"duration_ms":null})", read);
  expect_round_trip(R"({"success":false,"output":"x","data":[0],"duration_ms":0})", read);
}

// AU-18
TEST(ToolResultTest, EveryMemberArrives) {
  const Result<ToolResult> result = read(parsed(kWhole));
  ASSERT_TRUE(result) << result.error().message;
  const ToolResult wanted{.success = true,
                          .output = "done",
                          .data = {{"rows", {1, 2.5, nullptr}}},
                          .duration_ms = 12,
                          .artifact = 7,
                          .documents = {{"image/png", "iVBO", "page 1"}, {"text/plain", "x", {}}}};
  EXPECT_EQ(*result, wanted);
}

// AU-18
TEST(ToolResultTest, SuccessAndOutputAreEnough) {
  const Result<ToolResult> result = read(parsed(R"({"success":true,"output":"hello"})"));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(*result, (ToolResult{.success = true, .output = "hello"}));
  EXPECT_EQ(canonical_json(to_json(*result)),
            R"({"data":null,"duration_ms":null,"output":"hello","success":true})");
}

// AU-94 (partly)
TEST(ToolResultTest, AMemberThatIsMissingOrOfAnotherTypeIsNamed) {
  expect_each_member_is_checked(
      kWhole, "result",
      {.open = {"/data"},
       .optional = {"/artifact", "/data", "/documents", "/documents/0/detail", "/duration_ms"}},
      read);
  expect_refused(json::value("text"), "result", read);
}

// AU-93 (partly)
TEST(ToolResultTest, UnknownMembersAreIgnored) {
  const Result<ToolResult> result =
      read(parsed(R"({"success":true,"output":"a","_meta":{"x":1},"cost":3})"));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(*result, (ToolResult{.success = true, .output = "a"}));
}

}  // namespace
}  // namespace sallyport
