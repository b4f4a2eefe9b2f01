#include "core/event/topic_name.h"

#include <gtest/gtest.h>

namespace sallyport::core {
namespace {

// LG-1
TEST(TopicNameTest, ANameIsOfFewLettersAndNotLong) {
  constexpr std::string_view kAllowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  for (int c = 0; c < 256; ++c) {
    const char one = static_cast<char>(c);
    EXPECT_EQ(check_topic_name({&one, 1}).has_value(), kAllowed.contains(one)) << c;
  }
  EXPECT_FALSE(check_topic_name(""));
  EXPECT_FALSE(check_topic_name("a/b"));
  EXPECT_TRUE(check_topic_name(std::string(128, 'x')));
  EXPECT_FALSE(check_topic_name(std::string(129, 'x')));
}

}  // namespace
}  // namespace sallyport::core
