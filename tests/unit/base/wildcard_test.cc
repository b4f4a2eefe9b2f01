#include "base/wildcard.h"

#include <gtest/gtest.h>

#include <string>

namespace sallyport {
namespace {

// GR-29
TEST(WildcardTest, TheWholeNameMustMatch) {
  EXPECT_TRUE(fits_wildcard("bash", "bash"));
  EXPECT_FALSE(fits_wildcard("bash", "bashkit"));
  EXPECT_FALSE(fits_wildcard("bash", "xbash"));
  EXPECT_TRUE(fits_wildcard("bash*", "bash"));
  EXPECT_TRUE(fits_wildcard("bash*", "bashkit_exec"));
  EXPECT_FALSE(fits_wildcard("bash*", "xbash"));
  EXPECT_TRUE(fits_wildcard("*bash", "xbash"));
  EXPECT_FALSE(fits_wildcard("*bash", "bashx"));
}

// GR-29
TEST(WildcardTest, CaseCounts) {
  EXPECT_FALSE(fits_wildcard("bash", "Bash"));
  EXPECT_FALSE(fits_wildcard("BASH*", "bashkit"));
}

// GR-29
TEST(WildcardTest, AStarIsAnyRunAndAlsoNone) {
  EXPECT_TRUE(fits_wildcard("mcp_*_read", "mcp_fs_read"));
  EXPECT_TRUE(fits_wildcard("mcp_*_read", "mcp__read"));
  EXPECT_FALSE(fits_wildcard("mcp_*_read", "mcp_read"));
  EXPECT_TRUE(fits_wildcard("a*a", "aa"));
  EXPECT_TRUE(fits_wildcard("a*a", "aba"));
  EXPECT_FALSE(fits_wildcard("a*a", "a"));
  EXPECT_TRUE(fits_wildcard("a*b*c", "abc"));
  EXPECT_TRUE(fits_wildcard("a*b*c", "aXbYc"));
  EXPECT_TRUE(fits_wildcard("a*b*c", "abcbc"));
  EXPECT_FALSE(fits_wildcard("a*b*c", "acb"));
  EXPECT_FALSE(fits_wildcard("a*b*c", "ac"));
  EXPECT_TRUE(fits_wildcard("*ab*ab*", "abab"));
  EXPECT_FALSE(fits_wildcard("*aba*aba*", "ababa"));
}

// GR-29
TEST(WildcardTest, StarsAloneMatchEveryName) {
  for (const char* const name : {"", "a", "a*b", "界"}) {
    EXPECT_TRUE(fits_wildcard("*", name)) << name;
    EXPECT_TRUE(fits_wildcard("**", name)) << name;
  }
}

// GR-29
TEST(WildcardTest, EverythingElseStandsForItself) {
  EXPECT_TRUE(fits_wildcard("a?c", "a?c"));
  EXPECT_FALSE(fits_wildcard("a?c", "abc"));
  EXPECT_TRUE(fits_wildcard("[ab]x", "[ab]x"));
  EXPECT_FALSE(fits_wildcard("[ab]x", "ax"));
  EXPECT_TRUE(fits_wildcard("a\\*", "a\\"));
  EXPECT_TRUE(fits_wildcard("a\\*", "a\\b"));
  EXPECT_FALSE(fits_wildcard("a\\*", "a*"));
  EXPECT_TRUE(fits_wildcard("é*界", "é界"));
  EXPECT_TRUE(fits_wildcard("é*界", "éx世界"));
  EXPECT_FALSE(fits_wildcard("é*界", "e界"));
}

// Trying every place for every star would take far too long.
// GR-29 GR-84 (partly)
TEST(WildcardTest, ManyStarsOverALongNameEnd) {
  std::string stars;
  for (int i = 0; i < 250; ++i) stars += "a*";
  EXPECT_FALSE(fits_wildcard(stars + "b", std::string(100'000, 'a')));
  EXPECT_TRUE(fits_wildcard(stars, std::string(100'000, 'a')));
}

}  // namespace
}  // namespace sallyport
