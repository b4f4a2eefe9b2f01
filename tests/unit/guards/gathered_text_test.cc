// The parts of an envelope that the sanitizer reads, and the parts that it reads as one text.
#include "guards/redact/gathered_text.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/encoding.h"
#include "unit/guards/sanitizing.h"

namespace sallyport::guards {
namespace {

const std::string kSecret = "AKIAIOSFODNN7EXAMPLE";

std::string one_detector(const std::string& name) {
  return R"({"categories":{"secret":false},"detectors":{")" + name + R"(":true}})";
}

// PI-53
TEST(GatheredTextTest, TextsOfMessagesAreOneText) {
  EXPECT_EQ(sanitize(R"({"messages":[{"content":{"type":"text","text":"AKIAIOSF"}},
                                     {"content":{"type":"text","text":"ODNN7EXAMPLE"}}]})")
                .text,
            R"({"messages":[{"content":{"type":"text","text":"****"}},)"
            R"({"content":{"type":"text","text":"****"}}]})");
  const std::string other = R"({"items":[{"text":"AKIAIOSF"},{"text":"ODNN7EXAMPLE"}]})";
  EXPECT_EQ(sanitize(other).text, other);
  EXPECT_EQ(sanitize(R"({"content":[{"text":7},{"text":"AKIAIOSFODNN7EXAMPLE"},"x"]})").text,
            R"({"content":[{"text":7},{"text":"****"},"x"]})");
}

// A secret that was cut over two parts once passed.
// PI-53
TEST(GatheredTextTest, PartsOfAResultOfGeminiAreOneText) {
  EXPECT_EQ(sanitize(R"({"llmContent":[{"text":"AKIAIOSF"},{"text":"ODNN7EXAMPLE"}]})").text,
            R"({"llmContent":[{"text":"****"},{"text":"****"}]})");
  EXPECT_EQ(sanitize(R"({"llmContent":["AKIAIOSF",{"n":1},"ODNN7EXAMPLE"]})").text,
            R"({"llmContent":["****",{"n":1},"****"]})");
  const std::string lines = R"({"content":["AKIAIOSF","ODNN7EXAMPLE"]})";
  EXPECT_EQ(sanitize(lines).text, lines);
}

// PI-53
TEST(GatheredTextTest, ChunksThatAreBlocksAreOneText) {
  Envelope stream{.kind = Envelope::Kind::Stream,
                  .chunks = {json::parse(R"({"type":"text","text":"AKIAIOSF"})"),
                             json::parse(R"({"type":"text","text":"ODNN7EXAMPLE"})")},
                  .complete = true};
  EXPECT_EQ(sanitize(everything(), stream).text,
            R"({"kind":"stream","stream":{"chunks":[{"type":"text","text":"****"},)"
            R"({"type":"text","text":"****"}],"complete":true}})");
}

// PI-53, PI-64
TEST(GatheredTextTest, WhatStandsInOneChunkIsCountedOnce) {
  Envelope stream{
      .kind = Envelope::Kind::Stream, .chunks = {json::value(kSecret)}, .complete = true};
  EXPECT_EQ(sanitize(everything(), stream).evidence, "aws_access_key_id=1");
  stream.chunks = {json::value{{"type", "text"}, {"text", kSecret}}};
  EXPECT_EQ(sanitize(everything(), stream).evidence, "aws_access_key_id=1");
  stream.chunks = {json::value{{"a", kSecret}}, 7};
  EXPECT_EQ(sanitize(everything(), stream).evidence, "aws_access_key_id=1");
}

// PI-54
TEST(GatheredTextTest, EachDetectorThatKnowsNamesReadsThemByItself) {
  const std::string aws = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
  const std::string text = R"({"aws_secret":")" + aws +
                           R"(","db_password":"hunter2xyz","passphrase":"six tall green oaks"})";
  const auto left = [&](const std::string& detector) {
    const json::value found = json::parse(sanitize(text, one_detector(detector)).text);
    std::string names;
    for (const auto& member : found.as_object()) {
      if (member.value() != "****") names += std::string(member.key()) + " ";
    }
    return names;
  };
  EXPECT_EQ(left("aws_secret_access_key"), "db_password passphrase ");
  EXPECT_EQ(left("password_assignment"), "passphrase ");
  EXPECT_EQ(left("passphrase_assignment"), "aws_secret db_password ");
  EXPECT_EQ(left("email"), "aws_secret db_password passphrase ");
}

// PI-54, PI-61
TEST(GatheredTextTest, AServiceAccountThatIsKeptIsReadInside) {
  const std::string account =
      R"({"type":"service_account","private_key":"x","client_id":"AKIAIOSFODNN7EXAMPLE"})";
  const Sanitized kept = sanitize(account, R"({"strategies":{"gcp_service_account":"keep"}})");
  EXPECT_EQ(kept.text, R"({"type":"service_account","private_key":"x","client_id":"****"})");
  EXPECT_EQ(kept.evidence, "aws_access_key_id=1;gcp_service_account=1");
  EXPECT_EQ(sanitize(account, one_detector("email")).text, account);
}

// PI-51
TEST(GatheredTextTest, ACodeThatIsACardIsTakenAway) {
  EXPECT_EQ(sanitize(everything(), Envelope::error("no", 4111111111111111)).text,
            R"({"kind":"error","error":{"message":"no"}})");
  EXPECT_EQ(sanitize(everything(), Envelope::error("no", 4111111111111112)).text,
            R"({"kind":"error","error":{"message":"no","code":4111111111111112}})");
}

// PI-66: two strings of ten bytes with their quotes, each one value
TEST(GatheredTextTest, ContentMayHaveJustTheBytesOfTheLimit) {
  const std::string text = R"(["0123456789","0123456789"])";
  EXPECT_EQ(sanitize(text, R"({"max_total_bytes":26})").text, text);
  EXPECT_EQ(sanitize(text, R"({"max_total_bytes":25})").text, "blocked: content is over 25 bytes");
}

// PI-51, PI-65
TEST(GatheredTextTest, OnlyBase64ThatWasReadWholeIsDecoded) {
  const std::string encoded = base64(as_bytes("key=AKIAIOSFODNN7EXAMPLE, and so on"));
  const auto cleaned = [&](std::size_t limit) {
    return sanitize("[\"" + encoded + "\"]",
                    R"({"max_string_bytes":)" + std::to_string(limit) + "}")
        .text;
  };
  EXPECT_EQ(cleaned(encoded.size()), "[\"" + base64(as_bytes("key=****, and so on")) + "\"]");
  EXPECT_EQ(cleaned(encoded.size() - 1),
            "[\"" + encoded.substr(0, encoded.size() - 1) + "[TRUNCATED_UNSCANNED_OUTPUT]\"]");
}

// PI-65
TEST(GatheredTextTest, ACutNeverSplitsACharacter) {
  EXPECT_EQ(cut_at_character("aé", 3), "aé");
  EXPECT_EQ(cut_at_character("aé", 2), "a");
  EXPECT_EQ(cut_at_character("aé", 1), "a");
  EXPECT_EQ(cut_at_character("é", 1), "");
  EXPECT_EQ(cut_at_character("\x80\x80", 1), "");
}

class SteppedClock final : public Clock {
 public:
  explicit SteppedClock(std::chrono::milliseconds step) : step_(step) {}
  WallTime wall() const override { return {}; }
  SteadyTime steady() const override { return now_ += step_; }

 private:
  std::chrono::milliseconds step_;
  mutable SteadyTime now_{};
};

// PI-66
TEST(GatheredTextTest, AScanMayTakeAllOfItsTime) {
  for (const int step : {1000, 1001}) {
    const SteppedClock clock{std::chrono::milliseconds(step)};
    const auto guard = *OutputSanitizer::build({}, "key", clock);
    EXPECT_EQ(guard->sanitize(Envelope::of("clean")).kind == Verdict::Kind::Allow, step == 1000);
  }
}

}  // namespace
}  // namespace sallyport::guards
