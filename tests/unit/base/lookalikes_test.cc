#include <fmt/format.h>
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

// AP-40: letters that no list of scripts contained.
TEST(LookalikesTest, LettersOfEveryScriptAreCompared) {
  for (const char* const letter :
       {"\u0581", "\u13A2", "\u1D0F", "\uA4E2", "\u0261", "\u02BC", "\u2044", "\u2215",
        "\U00010415", "\U000118C1", "\uAB32", "\u0585", "\u00A0", "\u2010", "\uFB00"}) {
    EXPECT_NE(with_lookalikes(letter), letter) << letter;
  }
}

// AP-39
TEST(VisibleTextTest, WhatHasNoShapeIsShownByItsNumber) {
  for (const char32_t point :
       {0x00ADu,  0x200Bu,  0x202Eu,  0x2066u,  0x2800u, 0xFFFCu,   0x13430u, 0x13440u,
        0x1345Fu, 0x110BDu, 0x1BCA0u, 0xE0041u, 0xE000u, 0x10FFFFu, 0x0378u,  0xFDD0u,
        0x1FFFEu, 0x3164u,  0xFE0Fu,  0x2028u,  0x0085u, 0x001Bu}) {
    std::string text;
    if (point < 0x80) {
      text += static_cast<char>(point);
    } else if (point < 0x800) {
      text += static_cast<char>(0xC0 | point >> 6);
      text += static_cast<char>(0x80 | (point & 0x3F));
    } else {
      if (point >= 0x10000) {
        text += static_cast<char>(0xF0 | point >> 18);
        text += static_cast<char>(0x80 | (point >> 12 & 0x3F));
      } else {
        text += static_cast<char>(0xE0 | point >> 12);
      }
      text += static_cast<char>(0x80 | (point >> 6 & 0x3F));
      text += static_cast<char>(0x80 | (point & 0x3F));
    }
    EXPECT_EQ(visible("a" + text + "b"),
              fmt::format("a\\u{{{:04X}}}b", static_cast<unsigned>(point)));
  }
}

// AP-39
TEST(VisibleTextTest, LettersOfAllScriptsAndEmojiStay) {
  for (const char* const text : {"na\u00EFve", "\u6F22\u5B57", "\U0001F600\U0001F44D\U0001F3FD",
                                 "\u0645\u0631\u062D\u0628\u0627",
                                 "\u0928\u092E\u0938\u094D\u0924\u0947", "\u00A9 \u2122 \u20AC"}) {
    EXPECT_EQ(visible(text), text);
  }
}

TEST(LookalikesTest, OtherTextStaysAsItIs) {
  for (const char* const text : {"", "write_file", "na\u00EFve", "\u6F22\u5B57", "\U0001F600",
                                 "\u201Cquoted\u201D \u2013 it\u2019s\u2026"}) {
    EXPECT_EQ(with_lookalikes(text), text);
  }
}

}  // namespace
}  // namespace sallyport
