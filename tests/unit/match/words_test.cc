#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "match/pattern_set.h"

namespace sallyport::match {

namespace {

struct Word {
  bool caseless = true;
  bool whole = false;
};

bool finds(const std::string& word, const std::string& text, Word how = {}) {
  const std::vector<Rule> rules = {{.entries = {{.kind = Expression::Kind::Word,
                                                 .text = word,
                                                 .caseless = how.caseless,
                                                 .whole_word = how.whole}}}};
  const auto set = PatternSet::compile(rules);
  if (!set) ADD_FAILURE() << set.error().message;
  return set && !(*set)->find(text).empty();
}

}  // namespace

// GR-26
TEST(Words, AreSubstringsAndFoldedUnlessToldOtherwise) {
  EXPECT_TRUE(finds("ass", "cLASSic"));
  EXPECT_FALSE(finds("ass", "cLASSic", {.caseless = false}));
  EXPECT_TRUE(finds("ASS", "cLASSic", {.caseless = false}));
  EXPECT_TRUE(finds("a.c*", "xA.C*x"));
  EXPECT_FALSE(finds("a.c", "abc"));
}

// GR-27
TEST(Words, FoldingIsOneCharacterToOneCharacter) {
  EXPECT_TRUE(finds("\xCE\xBF\xCF\x82", "\xCE\x9F\xCE\xA3\xCE\x9F"));  // ος in ΟΣΟ
  EXPECT_TRUE(finds("s", "\xC5\xBF"));                                 // ſ
  EXPECT_TRUE(finds("k", "\xE2\x84\xAA"));                             // Kelvin
  EXPECT_TRUE(finds("\xC3\x9F", "\xE1\xBA\x9E"));                      // ß, ẞ
  EXPECT_FALSE(finds("\xC3\x9F", "ss"));
  EXPECT_FALSE(finds("i", "\xC4\xB0"));  // İ
  EXPECT_FALSE(finds("\xC4\xB0", "i\xCC\x87"));
  EXPECT_TRUE(finds("\xC4\xB0", "\xC4\xB0"));
}

// GR-28
TEST(Words, WholeWordsAreGluedToNoLetterMarkNumberOrUnderscore) {
  const Word whole{.whole = true};
  EXPECT_FALSE(finds("ass", "class", whole));
  EXPECT_TRUE(finds("ass", "an ass.", whole));
  EXPECT_TRUE(finds("ass", "ass", whole));
  EXPECT_FALSE(finds("ass", "ass_", whole));
  EXPECT_FALSE(finds("ass", "ass\xCC\x81", whole));  // combining mark
  EXPECT_FALSE(finds("ass",
                     "\xD0\xB6"
                     "ass",
                     whole));                        // ж
  EXPECT_FALSE(finds("ass", "ass\xD9\xA3", whole));  // Arabic digit
  EXPECT_TRUE(finds("c++", "c++11", whole));
  EXPECT_FALSE(finds("c++", "abc++", whole));
}

}  // namespace sallyport::match
