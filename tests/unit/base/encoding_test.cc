#include "base/encoding.h"

#include <gtest/gtest.h>

#include <random>

namespace sallyport {
namespace {

// LE-29, RFC 4648 section 10
TEST(EncodingTest, Base64HasTheFormOfTheStandard) {
  struct Case {
    std::string_view plain;
    std::string_view encoded;
  };
  for (const Case& c : std::initializer_list<Case>{{"", ""},
                                                   {"f", "Zg=="},
                                                   {"fo", "Zm8="},
                                                   {"foo", "Zm9v"},
                                                   {"foob", "Zm9vYg=="},
                                                   {"fooba", "Zm9vYmE="},
                                                   {"foobar", "Zm9vYmFy"},
                                                   {"\xfb\xff\xfe", "+//+"}}) {
    EXPECT_EQ(base64(as_bytes(c.plain)), c.encoded);
    EXPECT_EQ(from_base64(c.encoded), c.plain);
  }
  std::string out = "before ";
  append_base64(out, as_bytes("foo"));
  EXPECT_EQ(out, "before Zm9v");
}

// LE-78
TEST(EncodingTest, Base64ThatAnotherEncoderWouldNotHaveWrittenIsRefused) {
  using namespace std::string_view_literals;
  for (const std::string_view text :
       {"Zg"sv, "Zg="sv, "Zg==="sv, "Zh=="sv, "Zm9="sv, "Zm8"sv, "Zm9v\n"sv, " Zm9v"sv, "Zm 9v"sv,
        "Zm9v="sv, "="sv, "===="sv, "A"sv, "Zm9v_"sv, "-__-"sv, "Zg==Zg=="sv, "Zm9\0"sv,
        "Zm9\xc3"sv}) {
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
  }
}

// LE-78
TEST(EncodingTest, EachByteStringHasExactlyOneBase64) {
  std::mt19937 random(7);
  for (std::size_t length = 0; length < 80; ++length) {
    std::string bytes(length, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    const std::string text = base64(as_bytes(bytes));
    EXPECT_EQ(from_base64(text), bytes);
    for (std::size_t i = 0; i < text.size(); ++i) {
      for (const char c : {'A', '/', '=', '\n'}) {
        std::string other = text;
        if (std::exchange(other[i], c) == c) continue;
        EXPECT_NE(from_base64(other), bytes) << text << ' ' << other;
      }
    }
  }
}

// LE-13
TEST(EncodingTest, HexIsLowerCaseOnly) {
  EXPECT_EQ(hex(as_bytes(std::string_view("\x00\x1f\xab\xff", 4))), "001fabff");
  EXPECT_EQ(from_hex("001fabff"), std::string("\x00\x1f\xab\xff", 4));
  EXPECT_EQ(from_hex(""), "");
  for (const std::string_view text :
       {"0", "0F", "0g", "g0", "0x00", " 00", "0 0", "00\n", "/0", ":0"}) {
    EXPECT_EQ(from_hex(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace sallyport
