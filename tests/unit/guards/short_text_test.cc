#include "guards/detect/short_text.h"

#include <gtest/gtest.h>

#include <string>

namespace sallyport::guards {
namespace {

struct Edge {
  std::string text;
  bool searched;
};

void expect_edges(std::initializer_list<Edge> edges) {
  for (const auto& [text, searched] : edges) {
    EXPECT_EQ(may_match(text, default_detectors()), searched) << text;
  }
}

std::string letters(std::size_t count) {
  return std::string(count, 'a');
}

// PI-52
TEST(ShortTextTest, OnlyTextsThatFitTheirCountersAreJudged) {
  EXPECT_FALSE(may_match(letters(63), default_detectors()));
  EXPECT_TRUE(may_match(letters(64), default_detectors()));
  EXPECT_FALSE(may_match("", default_detectors()));
}

// PI-52
TEST(ShortTextTest, AnAssignmentIsSearchedWhenAValueFitsBehindIt) {
  expect_edges({{"pwd=abcdefg1", true},
                {"pwd:abcdefg1", true},
                {"pwd=abcdef1", false},
                {"pwd=abcdefgh", false},
                {"pwd_abcdefg1", false},
                {"pwdabcdefghi", false}});
  expect_edges({{"password:abcdefgh ij", true},
                {"password:abcdefgh i", false},
                {"password:abcdefghijk", false},
                {"password abcdefgh ij", false}});
  expect_edges({{"secret=" + letters(43), true},
                {"secret=" + letters(42), false},
                {"secrets" + letters(43), false}});
}

// PI-52
TEST(ShortTextTest, ATokenIsSearchedFromTheLengthOfTheShortestOne) {
  expect_edges({{"xoxa-" + letters(10), true},
                {"xoxa-" + letters(9), false},
                {"xoxa" + letters(11), false}});
  expect_edges({{"sk_live_" + letters(16), true},
                {"sk_live_" + letters(15), false},
                {"sklive" + letters(18), false}});
  expect_edges({{"bearer 1" + letters(15), true},
                {"bearer 1" + letters(14), false},
                {"bearer " + letters(16), false},
                {"bearer1" + letters(16), false}});
  expect_edges({{"eyJ.eyJ.a", true},
                {"eyJ.eyj.a", false},
                {"eyJ.eyJa", false},
                {"a.b.c", false},
                {"a:b.c.d", true},
                {"a:b.cd", false}});
  expect_edges({{"AKIA" + letters(16), true},
                {"AKIA" + letters(15), false},
                {"AKIa" + letters(16), false},
                {"AI" + letters(37), true},
                {"AI" + letters(36), false},
                {"Ai" + letters(37), false}});
}

// PI-52
TEST(ShortTextTest, WhatNamesAPersonIsSearchedByItsDigitsAndSigns) {
  expect_edges({{"4222222222222", true}, {"422222222222", false}});
  expect_edges({{"123-45-6789", true}, {"123-45-678", false}, {"12345-6789", false}});
  expect_edges({{"a@b.c", true}, {"a@bc", false}, {"ab.c", false}});
  expect_edges({{"+12345678", true}, {"+1234567", false}, {"12345678", false}});
  expect_edges({{"NO93" + letters(11), true},
                {"NO93" + letters(10), false},
                {"No93" + letters(11), false},
                {"NO9" + letters(12), false}});
}

// PI-52
TEST(ShortTextTest, AnAddressIsSearchedByItsColonsOrItsDotsAndDigits) {
  expect_edges({{"::1", true}, {":1", false}});
  expect_edges({{"1.1.1.1", true}, {"1.1.11", false}, {"1.1.1.a", false}});
}

// PI-52, PI-54
TEST(ShortTextTest, EntropyIsMeasuredOnlyWhereItWasAskedFor) {
  const DetectorSet entropy = DetectorSet().set(index_of(Detector::HighEntropy));
  EXPECT_TRUE(may_match("1" + letters(23), entropy));
  EXPECT_FALSE(may_match("1" + letters(22), entropy));
  EXPECT_FALSE(may_match(letters(24), entropy));
  EXPECT_FALSE(may_match("1" + letters(23), default_detectors()));
}

}  // namespace
}  // namespace sallyport::guards
