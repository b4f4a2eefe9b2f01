#include "base/trimmed.h"

#include <gtest/gtest.h>

namespace sallyport {
namespace {

TEST(TrimmedTest, BlanksAndControlCharactersAroundATextAreRemoved) {
  EXPECT_EQ(trimmed("\x01\t a b\r\n "), "a b");
  EXPECT_EQ(trimmed(" \n"), "");
  EXPECT_EQ(trimmed("\u00a0a"), "\u00a0a");
}

TEST(TrimmedTest, OfAFieldOnlyBlanksAndTabsAreRemoved) {
  EXPECT_EQ(trimmed_field("\t a b "), "a b");
  EXPECT_EQ(trimmed_field("a\n "), "a\n");
  EXPECT_EQ(trimmed_field(""), "");
}

}  // namespace
}  // namespace sallyport
