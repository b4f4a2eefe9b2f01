#include "base/uuid.h"

#include <gtest/gtest.h>

#include <set>

#include "support/test_clock.h"

namespace sallyport {
namespace {

// Gives the same byte again and again.
class FixedEntropy final : public Entropy {
 public:
  explicit FixedEntropy(std::uint8_t byte) : byte_(byte) {}
  void fill(std::span<std::uint8_t> out) override { std::ranges::fill(out, byte_); }

 private:
  std::uint8_t byte_;
};

// LE-1, RFC 9562 section 5.7
TEST(UuidTest, Version7IsTimeThenRandomBits) {
  const test::TestClock clock;  // 1763172000000 ms is 0x019a853da100
  FixedEntropy ones(0xff);
  FixedEntropy zeros(0x00);
  EXPECT_EQ(uuid7_text(clock, ones), "019a853d-a100-7fff-bfff-ffffffffffff");
  EXPECT_EQ(uuid7_text(clock, zeros), "019a853d-a100-7000-8000-000000000000");
}

// LE-1
TEST(UuidTest, LaterIdsAreGreater) {
  test::TestClock clock;
  FixedEntropy ones(0xff);
  FixedEntropy zeros(0x00);
  const std::string first = uuid7_text(clock, ones);
  clock.advance(std::chrono::microseconds{999});
  EXPECT_EQ(uuid7_text(clock, ones), first);
  clock.advance(std::chrono::microseconds{1});
  EXPECT_GT(uuid7_text(clock, zeros), first);
}

// LE-1
TEST(UuidTest, IdsDiffer) {
  const SystemClock clock;
  SystemEntropy entropy;
  std::set<Uuid> seen;
  for (int i = 0; i < 10'000; ++i) seen.insert(uuid7(clock, entropy));
  EXPECT_EQ(seen.size(), 10'000U);
}

// LE-15
TEST(UuidTest, RandomBytesAreNeverHandedOutTwice) {
  SystemEntropy entropy;
  std::set<std::array<std::uint8_t, 32>> seen;
  for (int i = 0; i < 1000; ++i) {
    std::array<std::uint8_t, 32> salt{};
    entropy.fill(salt);
    seen.insert(salt);
  }
  EXPECT_EQ(seen.size(), 1000U);
  std::vector<std::uint8_t> large(5000);
  entropy.fill(large);
  EXPECT_GT(std::set(large.begin(), large.end()).size(), 200U);
}

// LE-1
TEST(UuidTest, TextIsReadBack) {
  const std::string text = "01966f4c-2000-7000-8000-0123456789ab";
  const std::optional<Uuid> uuid = parse_uuid(text);
  ASSERT_TRUE(uuid);
  EXPECT_EQ((*uuid)[0], 0x01);
  EXPECT_EQ((*uuid)[15], 0xab);
  EXPECT_EQ(to_string(*uuid), text);
}

// LE-82
TEST(UuidTest, MalformedIdsAreNoIds) {
  for (const std::string_view text :
       {"", "01966f4c", "01966f4c20007000800000000000000a", "01966F4C-2000-7000-8000-00000000000A",
        "{1966f4c-2000-7000-8000-00000000000a", "01966f4c-2000-7000-8000-00000000000",
        "01966f4c-2000-7000-8000-00000000000ab", "01966f4c-2000-7000-80000-0000000000a",
        "01966f4c-2000-7000_8000-00000000000a", "01966f4c-2000-7000-8000-00000000000g",
        "-1966f4c-2000-7000-8000-00000000000a", "01966f4c-2000-7000-8000-0000000000 a"}) {
    EXPECT_EQ(parse_uuid(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace sallyport
