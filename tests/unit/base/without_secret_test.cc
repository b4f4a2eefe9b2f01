#include "base/without_secret.h"

#include <gtest/gtest.h>

namespace sallyport {
namespace {

// MP-26 (partly)
TEST(WithoutSecretTest, EveryOccurrenceOfTheSecretIsReplaced) {
  EXPECT_EQ(without_secret("sk-abcd and sk-abcd", "sk-abcd"),
            "[REDACTED:credential] and [REDACTED:credential]");
  EXPECT_EQ(without_secret("xsk-abcdsk-abcdy", "sk-abcd"),
            "x[REDACTED:credential][REDACTED:credential]y");
  EXPECT_EQ(without_secret("another text", "sk-abcd"), "another text");
  EXPECT_EQ(without_secret("", "sk-abcd"), "");
}

TEST(WithoutSecretTest, ASecretOfFewerThanFourBytesStays) {
  EXPECT_EQ(without_secret("abc abcd", "abc"), "abc abcd");
  EXPECT_EQ(without_secret("abc abcd", ""), "abc abcd");
  EXPECT_EQ(without_secret("abc abcd", "abcd"), "abc [REDACTED:credential]");
}

// A secret that is part of the mark was once found again inside the mark, endlessly.
// MP-26 (partly)
TEST(WithoutSecretTest, ASecretThatIsPartOfTheMarkIsNotFoundInsideIt) {
  EXPECT_EQ(without_secret("cred cred", "cred"), "[REDACTED:credential] [REDACTED:credential]");
  EXPECT_EQ(without_secret("[REDACTED:credential]", "[REDACTED:credential]"),
            "[REDACTED:credential]");
}

}  // namespace
}  // namespace sallyport
