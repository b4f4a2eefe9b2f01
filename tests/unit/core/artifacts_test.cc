#include "core/record/artifacts.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sallyport::core {
namespace {

// Counts up.
class CountingEntropy final : public Entropy {
 public:
  void fill(std::span<std::uint8_t> bytes) override {
    std::ranges::fill(bytes, std::uint8_t{0});
    bytes.back() = ++drawn;
  }
  std::uint8_t drawn = 0;
};

// Treats ids below `least` as card numbers, and removes `secret` from outputs.
class Picky final : public Redactor {
 public:
  explicit Picky(std::uint64_t least) : least_(least) {}
  std::vector<Removal> redact(std::string_view name, json::value& value) const override {
    if (name == "id" && value.to_number<std::uint64_t>() < least_) return {{"", "card", ""}};
    if (name != "output" || !value.get_string().starts_with("secret")) return {};
    value.get_string().replace(0, 6, "[REDACTED:secret]");
    return {{"", "secret", "secret"}};
  }
  bool redact_identifier(std::string&) const override { return false; }

 private:
  std::uint64_t least_;
};

class ArtifactsTest : public testing::Test {
 protected:
  std::optional<Draft> move_out(ToolResult& result, std::uint64_t least = 0) {
    const Picky redactor(least);
    return Artifacts{redactor, entropy, digest}.move_out(result, Subject{.call_id = "c"},
                                                         redactions);
  }

  CountingEntropy entropy;
  KeyedDigest digest{"k"};
  json::array redactions;
};

// AU-20
TEST_F(ArtifactsTest, AnOutputAtTheLimitStaysInItsRecord) {
  std::string lines;
  for (int i = 0; i < 1999; ++i) lines += "x\n";
  for (const std::string& output : {std::string(50 * 1024, 'x'), lines + "x"}) {
    ToolResult fits{.output = output};
    EXPECT_FALSE(move_out(fits));
    EXPECT_EQ(fits.output, output);
    ToolResult beyond{.output = output + "\n"};
    ASSERT_TRUE(move_out(beyond));
    EXPECT_EQ(beyond.output, output);
  }
}

// AU-20: a card number as an id would be redacted and identify nothing.
TEST_F(ArtifactsTest, AnIdThatADetectorWouldTakeIsDrawnAgain) {
  ToolResult result{.output = std::string(60'000, 'x')};
  const std::optional<Draft> artifact = move_out(result, 5);
  ASSERT_TRUE(artifact);
  EXPECT_EQ(result.artifact, 5u);
  EXPECT_EQ(artifact->body.at("artifact_id"), 5u);
  EXPECT_EQ(artifact->subject->call_id, "c");
}

TEST_F(ArtifactsTest, ADetectorThatTakesEveryIdGetsOneAfterAll) {
  ToolResult result{.output = std::string(60'000, 'x')};
  ASSERT_TRUE(move_out(result, 1000));
  EXPECT_EQ(result.artifact, 64u);
}

// AU-20 LE-56
TEST_F(ArtifactsTest, SecretsGoBeforeTheOutputIsCut) {
  ToolResult result{.output = "secret" + std::string(60'000, 'x')};
  const std::optional<Draft> artifact = move_out(result);
  ASSERT_TRUE(artifact);
  EXPECT_TRUE(artifact->body.at("text").as_string().starts_with("[REDACTED:secret]x"));
  EXPECT_TRUE(result.output.starts_with("[REDACTED:secret]x"));
  ASSERT_EQ(redactions.size(), 1u);
  EXPECT_EQ(redactions[0].at("path"), "/outcome/result/output");
}

}  // namespace
}  // namespace sallyport::core
