#include "guards/detect/encoded_text.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/encoding.h"

namespace sallyport::guards {
namespace {

TEST(EncodedTextTest, TextIsReadInEitherAlphabetWithAndWithoutPadding) {
  const std::string said = "key=AKIAIOSFODNN7EXAMPLE \xc3\xa4\n?_?>";
  std::string text = base64(as_bytes(said));
  EXPECT_EQ(text_in_base64(text), said);
  while (text.back() == '=') text.pop_back();
  EXPECT_EQ(text_in_base64(text), said);
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
  EXPECT_EQ(text_in_base64(text), said);
  text.insert(8, "\r\n");
  EXPECT_EQ(text_in_base64(text + "\n"), said);
}

TEST(EncodedTextTest, OfControlCharactersOnlyThoseOfLinesAreText) {
  for (int c = 1; c < 0x80; ++c) {
    const std::string said = std::string("a quite long text") + static_cast<char>(c) + "and more";
    const bool text = c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c < 0x7f);
    EXPECT_EQ(text_in_base64(base64(as_bytes(said))).has_value(), text) << c;
  }
}

TEST(EncodedTextTest, WhatIsNoBase64OfTextIsNothing) {
  EXPECT_FALSE(text_in_base64("short"));
  EXPECT_FALSE(text_in_base64("words with blanks between them"));
  EXPECT_FALSE(text_in_base64(base64(as_bytes("\x89PNG\r\n\x1a\n and so on and on"))));
  EXPECT_FALSE(text_in_base64(base64(as_bytes("not UTF-8 \xff\xfe at all, no"))));
  EXPECT_FALSE(text_in_base64("AAAAAAAAAAAAAAAAAAAAA"));
}

TEST(EncodedTextTest, TextIsReadFromSixteenDigitsOn) {
  const std::string twelve = "twelve chars";
  EXPECT_EQ(text_in_base64(base64(as_bytes(twelve))), twelve);
  EXPECT_FALSE(text_in_base64(base64(as_bytes("eleven char")))) << "its padding does not count";
  EXPECT_FALSE(text_in_base64(base64(as_bytes("a lone continuation \x80 byte"))));
}

}  // namespace
}  // namespace sallyport::guards
