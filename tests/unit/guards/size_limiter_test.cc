#include "guards/size_limiter.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "core/plan/protocol_frame.h"
#include "support/governed.h"

namespace sallyport::guards {
namespace {

std::string limited(std::string_view limits, const Envelope& envelope) {
  const SizeLimiter guard(size_limits_from_json(json::parse(limits)).value());
  const Verdict verdict = *test::run_now(guard.judge(envelope, {}));
  if (verdict.kind == Verdict::Kind::Allow) return "allowed";
  if (verdict.kind == Verdict::Kind::Deny) return "blocked: " + verdict.reason;
  EXPECT_TRUE(Envelope::from_json(verdict.value));
  return json::serialize(verdict.value);
}

std::string limited(std::string_view limits, std::string_view value) {
  return limited(limits, Envelope::of(json::parse(value)));
}

// PI-69
TEST(SizeLimiterTest, ALongStringIsCutOnACharacterBoundary) {
  EXPECT_EQ(limited(R"({"max_string_bytes":4})", R"({"a":"abcéf"})"),
            R"({"kind":"value","value":{"a":"abc[TRUNCATED: kept 3 of 6 bytes]"}})");
  EXPECT_EQ(limited(R"({"max_string_bytes":4})", R"(["abcd"])"), "allowed");
  const std::string limit(65'536, 'x');
  EXPECT_EQ(limited("{}", "\"" + limit + "\""), "allowed");
  EXPECT_NE(limited("{}", "\"" + limit + "x\"").find("[TRUNCATED: kept 65536 of 65537 bytes]"),
            std::string::npos);
}

// PI-70
TEST(SizeLimiterTest, ALongArrayKeepsItsFirstItems) {
  EXPECT_EQ(limited(R"({"max_items":2})", "[[1,2,3]]"),
            R"({"kind":"value","value":[[1,2,"[TRUNCATED: kept 2 of 3 items]"]]})");
  EXPECT_EQ(limited(R"({"max_items":2})", "[1,2]"), "allowed");
  Envelope stream{.kind = Envelope::Kind::Stream, .chunks = {1, 2, 3}, .complete = true};
  EXPECT_EQ(limited(R"({"max_items":2})", stream),
            R"({"kind":"stream","stream":{"chunks":[1,2,"[TRUNCATED: kept 2 of 3 items]"],)"
            R"("complete":true}})");
}

// PI-71
TEST(SizeLimiterTest, ContentThatIsStillTooLargeBecomesOneStringOrIsBlocked) {
  EXPECT_EQ(limited(R"({"max_total_bytes":8})", R"(["abcde"])"),
            R"({"kind":"value","value":"[OUTPUT TOO LARGE: 9 bytes]"})");
  EXPECT_EQ(limited(R"({"max_total_bytes":9})", R"(["abcde"])"), "allowed");
  EXPECT_EQ(limited(R"({"max_total_bytes":8,"over":"block"})", R"(["abcde"])"),
            "blocked: output too large: 9 bytes");
  EXPECT_EQ(limited(R"({"max_total_bytes":8})", Envelope::error("abcdefgh", 1)),
            R"({"kind":"error","error":{"message":"[OUTPUT TOO LARGE: 10 bytes]","code":1}})");
}

// PI-70 PI-71: a bare string in place of a result, or among its blocks, is no MCP
TEST(SizeLimiterTest, AnMcpResultStaysOne) {
  EXPECT_EQ(limited(R"({"max_total_bytes":40})",
                    R"({"content":[{"type":"text","text":"abcdefgh"}],"isError":true})"),
            R"({"kind":"value","value":{"content":[{"type":"text",)"
            R"("text":"[OUTPUT TOO LARGE: 62 bytes]"}],"isError":true}})");
  EXPECT_EQ(limited(R"({"max_items":1})",
                    R"({"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]})"),
            R"({"kind":"value","value":{"content":[{"type":"text","text":"a"},)"
            R"({"type":"text","text":"[TRUNCATED: kept 1 of 2 items]"}]}})");
}

// PI-70 PI-71
TEST(SizeLimiterTest, OnlyAListOfBlocksIsMcp) {
  EXPECT_EQ(limited(R"({"max_total_bytes":8})", R"({"content":"abcdefgh"})"),
            R"({"kind":"value","value":"[OUTPUT TOO LARGE: 22 bytes]"})");
  EXPECT_EQ(limited(R"({"max_total_bytes":8})", R"({"content":[]})"),
            R"({"kind":"value","value":{"content":[{"type":"text",)"
            R"("text":"[OUTPUT TOO LARGE: 14 bytes]"}]}})");
  EXPECT_EQ(limited(R"({"max_items":1,"max_string_bytes":2})",
                    R"({"content":[{"type":"text"}],"note":"abc"})"),
            R"({"kind":"value","value":{"content":[{"type":"te[TRUNCATED: kept 2 of 4 bytes]"}],)"
            R"("note":"ab[TRUNCATED: kept 2 of 3 bytes]"}})");
}

// PI-71
TEST(SizeLimiterTest, TheSizeOfAnErrorIsThatOfItsMessageAndData) {
  Envelope error = Envelope::error("abcd", 1);
  EXPECT_EQ(limited(R"({"max_total_bytes":6})", error), "allowed");
  error.data = json::array{1};
  EXPECT_EQ(limited(R"({"max_total_bytes":9})", error), "allowed");
  EXPECT_EQ(limited(R"({"max_total_bytes":8,"over":"replace"})", error),
            R"({"kind":"error","error":{"message":"[OUTPUT TOO LARGE: 9 bytes]","code":1}})");
  const Envelope stream{.kind = Envelope::Kind::Stream, .chunks = {"abcd"}, .complete = true};
  EXPECT_EQ(limited(R"({"max_total_bytes":7})", stream),
            R"({"kind":"stream","stream":{"chunks":["[OUTPUT TOO LARGE: 8 bytes]"],)"
            R"("complete":true}})");
}

// PI-69: a truncated frame of the protocol is no longer a frame.
TEST(SizeLimiterTest, FramesOfTheProtocolAreNotCut) {
  const SizeLimiter guard(size_limits_from_json(json::parse(R"({"max_string_bytes":1})")).value());
  const Envelope envelope = Envelope::of("abc");
  EXPECT_EQ(
      test::run_now(guard.judge(envelope, {.effect_class = std::string(core::kProtocolFrame)}))
          ->kind,
      Verdict::Kind::Allow);
  EXPECT_EQ(test::run_now(guard.judge(envelope, {.effect_class = "none"}))->kind,
            Verdict::Kind::Rewrite);
}

// PI-71 (partly)
TEST(SizeLimiterTest, SettingsThatCannotBeMeantAreRefusedWithTheirPlace) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"max_items":0})", "max_items"},
      {R"({"max_total_bytes":"1"})", "max_total_bytes"},
      {R"({"over":"cut"})", "over"},
      {R"({"limit":1})", "limit"}};
  for (const auto& [settings, place] : cases) {
    const auto read = size_limits_from_json(json::parse(settings));
    ASSERT_FALSE(read) << settings;
    EXPECT_EQ(read.error().where, place);
  }
}

}  // namespace
}  // namespace sallyport::guards
