#include <gtest/gtest.h>

#include "base/visible_text.h"

namespace sallyport {
namespace {

// AP-40
TEST(LookalikesTest, LettersThatPassForAsciiAreFollowedByTheirNumbers) {
  EXPECT_EQ(with_lookalikes("p\u0430ypal"), "p\u0430\\u{0430}ypal");
  EXPECT_EQ(with_lookalikes("\u03BFk"), "\u03BF\\u{03BF}k");
  EXPECT_EQ(with_lookalikes("\uFF52m"), "\uFF52\\u{FF52}m");
  EXPECT_EQ(with_lookalikes("\U0001D4EAb"), "\U0001D4EA\\u{1D4EA}b");
}

TEST(LookalikesTest, OtherTextStaysAsItIs) {
  for (const char* const text : {"", "write_file", "na\u00EFve", "\u6F22\u5B57", "\U0001F600"}) {
    EXPECT_EQ(with_lookalikes(text), text);
  }
}

}  // namespace
}  // namespace sallyport
