#include "base/cut_text.h"

#include <gtest/gtest.h>

#include <string>

#include "sallyport/json.h"

namespace sallyport {
namespace {

// EV-7 (partly)
TEST(CutTextTest, TextWithinTheLimitStaysAsItIs) {
  EXPECT_EQ(cut_utf8_bytes("", 0), "");
  EXPECT_EQ(cut_utf8_bytes("abc", 3), "abc");
  EXPECT_EQ(cut_utf8_bytes("aé", 3), "aé");
  EXPECT_EQ(cut_code_points("", 0), "");
  EXPECT_EQ(cut_code_points("aé😀", 3), "aé😀");
}

// EV-7 (partly)
TEST(CutTextTest, ACutInBytesNeverSplitsACodePoint) {
  EXPECT_EQ(cut_utf8_bytes("abc", 2), "ab");
  EXPECT_EQ(cut_utf8_bytes("aé", 2), "a");
  EXPECT_EQ(cut_utf8_bytes("€€", 5), "€");
  EXPECT_EQ(cut_utf8_bytes("😀", 3), "");
  const std::string mixed = "a\u00e9\u20ac\U0001F600z";
  for (std::size_t limit = 0; limit <= mixed.size(); ++limit) {
    const std::string cut = cut_utf8_bytes(mixed, limit);
    EXPECT_LE(cut.size(), limit);
    EXPECT_GT(cut.size() + 4, limit);
    EXPECT_TRUE(is_utf8(cut)) << limit;
    EXPECT_TRUE(mixed.starts_with(cut));
  }
}

// EV-7 (partly)
TEST(CutTextTest, ACutInCodePointsCountsCharactersNotBytes) {
  EXPECT_EQ(cut_code_points("abc", 2), "ab");
  EXPECT_EQ(cut_code_points("é€😀z", 3), "é€😀");
  EXPECT_EQ(cut_code_points("é€😀z", 1), "é");
  EXPECT_EQ(cut_code_points("é", 0), "");
}

// EV-7 (partly)
TEST(CutTextTest, BytesThatAreNoUtf8AreCutWithoutHarm) {
  EXPECT_EQ(cut_utf8_bytes("\x80\x80\x80", 2), "");
  EXPECT_EQ(cut_utf8_bytes("\xff\xff\xff", 2), "\xff\xff");
  EXPECT_EQ(cut_code_points("\xff\xff\xff", 2), "\xff\xff");
}

// AU-84: no detector finds half a key.
TEST(CutTextTest, ACutBreaksNoWordInTwo) {
  EXPECT_EQ(cut_whole_words("say ghp_0123456789 now", 10), "say ");
  EXPECT_EQ(cut_whole_words("say ghp_0123456789 now", 18), "say ghp_0123456789");
  EXPECT_EQ(cut_whole_words("short", 10), "short");
  EXPECT_EQ(cut_whole_words("ghp_0123456789", 10), "");
}

TEST(CutTextTest, CodePointsAreCounted) {
  EXPECT_EQ(code_points(""), 0u);
  EXPECT_EQ(code_points("abc"), 3u);
  EXPECT_EQ(code_points("aé€😀"), 4u);
}

}  // namespace
}  // namespace sallyport
