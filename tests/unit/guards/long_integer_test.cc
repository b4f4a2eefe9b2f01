#include "guards/detect/long_integer.h"

#include <gtest/gtest.h>

#include "guards/redact/redaction_mark.h"

namespace sallyport::guards {
namespace {

// PI-51
TEST(LongIntegerTest, NineDigitsAreLong) {
  const std::pair<json::value, bool> kValues[] = {
      {99'999'999, false},
      {100'000'000, true},
      {-99'999'999, false},
      {-100'000'000, true},
      {99'999'999.0, false},
      {100'000'000.0, true},
      {-100'000'000.0, true},
      {0, false},
      {"100000000", false},
      {true, false},
      {std::uint64_t{1} << 63, true},
  };
  for (const auto& [value, is_long] : kValues) {
    EXPECT_EQ(may_be_long_integer(value), is_long) << value;
  }
  for (const char* const text : {"123456789", "-123456789", "0000000000"}) {
    EXPECT_TRUE(is_long_integer(text)) << text;
  }
  for (const char* const text :
       {"12345678", "-12345678", "", "-", "12345678.0", "1234567:9", "12345678/"}) {
    EXPECT_FALSE(is_long_integer(text)) << text;
  }
}

// PI-67
TEST(RedactionMarkTest, AMarkIsAWordInItsBrackets) {
  for (const std::string& mark :
       {std::string("****"), std::string("[REDACTED:secret]"), std::string("[FP:a-b:c_1]"),
        redaction_mark(Category::Secret), "[REDACTED:" + std::string(64, 'x') + "]"}) {
    EXPECT_TRUE(is_redaction_mark(mark)) << mark;
  }
  for (const std::string& text :
       {std::string("***"), std::string("*****"), std::string("[REDACTED:]"),
        std::string("[REDACTED:secret"), std::string("[OTHER:secret]"), std::string("]"),
        std::string("[REDACTED:two words]"), std::string("x[FP:a]"), std::string("[FP:a]x"),
        "[REDACTED:" + std::string(65, 'x') + "]"}) {
    EXPECT_FALSE(is_redaction_mark(text)) << text;
  }
}

}  // namespace
}  // namespace sallyport::guards
