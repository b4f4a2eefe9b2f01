#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "sallyport/verdict.h"

namespace sallyport {
namespace {

Result<Verdict> read(const char* text) {
  return hook_verdict_from_json(json::parse(text));
}

// PI-1
TEST(HookVerdictTest, TheFourShapesAreReadAndWritten) {
  for (const char* const text : {R"({"verdict":"allow"})", R"({"reason":"no","verdict":"block"})",
                                 R"({"value":{"kind":"value","value":1},"verdict":"redact"})",
                                 R"({"message":"look","verdict":"escalate"})"}) {
    const Result<Verdict> verdict = read(text);
    ASSERT_TRUE(verdict) << text;
    EXPECT_EQ(canonical_json(*hook_verdict_to_json(*verdict)), text);
  }
}

// PI-86
TEST(HookVerdictTest, AnythingElseIsRefusedWithTheMember) {
  EXPECT_EQ(read(R"({"verdict":"maybe"})").error().where, "verdict.verdict");
  EXPECT_EQ(read(R"({"verdict":"ask"})").error().where, "verdict.verdict");
  EXPECT_EQ(read(R"({"verdict":"block"})").error().where, "verdict.reason");
  EXPECT_EQ(read(R"({"verdict":"block","reason":""})").error().where, "verdict.reason");
  EXPECT_EQ(read(R"({"verdict":"redact"})").error().where, "verdict.value");
  EXPECT_EQ(read(R"({"verdict":"escalate","message":7})").error().where, "verdict.message");
  EXPECT_FALSE(read(R"("allow")"));
  EXPECT_FALSE(hook_verdict_to_json(Verdict::ask("well?")));
}

}  // namespace
}  // namespace sallyport
