#include "guards/wording.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sallyport::guards {
namespace {

std::string found(const std::vector<Wording>& wordings, std::string_view text,
                  WordingSet::Mode mode = WordingSet::Mode::Anywhere) {
  const auto set = WordingSet::build(wordings, mode);
  if (!set) return "refused: " + set.error().where;
  std::string all;
  std::vector<WordingSet::Match> matches = (*set)->find(text);
  std::ranges::sort(matches, {},
                    [](const auto& match) { return std::pair(match.begin, match.end); });
  for (const WordingSet::Match& match : matches) {
    all += std::to_string(match.begin) + "-" + std::to_string(match.end) + "=" +
           std::to_string(match.wording) + " ";
  }
  return all;
}

TEST(WordingTest, WhatIsNoTextOrNoPatternIsRefusedWithItsPlace) {
  const struct {
    Wording wording;
    bool taken;
  } kCases[] = {
      {{.text = "plain"}, true},
      {{.text = ""}, false},
      {{.text = "", .is_pattern = true}, false},
      {{.text = "\xff"}, false},
      {{.text = "\xff", .is_pattern = true}, false},
      {{.text = "a)(b"}, true},
      {{.text = "a)(b", .is_pattern = true}, false},
      {{.text = "[0-9]+", .is_pattern = true}, true},
      {{.text = "x*", .is_pattern = true}, true},
  };
  for (auto [wording, taken] : kCases) {
    wording.place = "here";
    const Result<void> checked = check_wording(wording);
    EXPECT_EQ(checked.has_value(), taken)
        << wording.text << (checked ? "" : checked.error().message);
    if (!checked) EXPECT_EQ(checked.error().where, "here");
  }
}

TEST(WordingTest, OfEachPlaceTheLongestIsFound) {
  EXPECT_EQ(found({{.text = "a+", .is_pattern = true}}, "xaaa-a"), "1-4=0 5-6=0 ");
  EXPECT_EQ(found({{.text = "a+", .is_pattern = true}, {.text = "b"}}, "ab"), "0-1=0 1-2=1 ");
  EXPECT_EQ(found({{.text = "ab"}, {.text = "a"}}, "xab"), "1-2=1 1-3=0 ")
      << "two that begin at one place are two";
  EXPECT_EQ(found({{.text = "a.c"}}, "abc a.c"), "4-7=0 ") << "text is no pattern";
  EXPECT_EQ(found({{.text = "x*", .is_pattern = true, .place = "here"}}, "x"), "refused: here")
      << "it matches the empty text";
  EXPECT_EQ(found({}, "abc"), "");
  EXPECT_TRUE((*WordingSet::build({}, WordingSet::Mode::Anywhere))->empty());
}

TEST(WordingTest, AWholeTextIsOneOfTheWordingsOrNot) {
  const auto whole = [](std::string_view text) {
    return !found({{.text = "yes"}, {.text = "n[a-z]+", .is_pattern = true}}, text,
                  WordingSet::Mode::Whole)
                .empty();
  };
  EXPECT_TRUE(whole("yes"));
  EXPECT_TRUE(whole("nein"));
  EXPECT_FALSE(whole("yes "));
  EXPECT_FALSE(whole("oh yes"));
  EXPECT_FALSE(whole("no1"));
  EXPECT_FALSE(whole(""));
}

TEST(WordingTest, BytesThatAreNoTextAreNotSearched) {
  EXPECT_THROW(found({{.text = "a"}}, "a\xff"), std::runtime_error);
}

}  // namespace
}  // namespace sallyport::guards
