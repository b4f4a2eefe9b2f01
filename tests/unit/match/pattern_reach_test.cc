#include "match/pattern_reach.h"

#include <gtest/gtest.h>

namespace sallyport::match {
namespace {

// WB-63: every statement about a pattern is true for every text; unproved statements are `Some`.
TEST(PatternReach, PatternsThatMatchNothingOrEverythingAreKnown) {
  const auto reach = [](const char* text) { return reach_of({.text = text}); };
  for (const char* const text : {"[^\\s\\S]", "a[^\\s\\S]b", "a\\bb", "a$b", "a\\Ab"}) {
    EXPECT_EQ(reach(text), Reach::Nothing) << text;
  }
  for (const char* const text : {"[\\s\\S]", "(?s).", "a|[\\s\\S]", "[\\w\\W]+", "\\s|\\S"}) {
    EXPECT_EQ(reach(text), Reach::Everything) << text;
  }
  for (const char* const text : {".", "a", "\\S", "^[\\s\\S]$", "a\\b", "[^a]", "a[\\s\\S]"}) {
    EXPECT_EQ(reach(text), Reach::Some) << text;
  }
}

}  // namespace
}  // namespace sallyport::match
