#include "match/pattern_cover.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "match/pattern_set.h"

namespace sallyport::match {
namespace {

Cover covers(const std::vector<std::string>& wide, const std::string& narrow) {
  std::vector<Expression> all;
  for (const std::string& text : wide) all.push_back({.text = text});
  return covered_by({.text = narrow}, all);
}

// WB-63
TEST(PatternCover, APatternIsCoveredWhereEveryTextOfItIsFoundAnyway) {
  for (const auto& [wide, narrow] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"ab"}, "xabx"},
           {{"[a-z]"}, "abc"},
           {{"a+"}, "a{3,}"},
           {{"key"}, "\\bkey\\b"},
           {{"x$"}, "ax\\z"},
           {{"(?m)^a"}, "^ab"},
           {{"a", "b"}, "a|b"},
           {{"a[0-4]", "a[5-9]"}, "a[0-9]"},
           {{"AKIA"}, "AKIA[A-Z0-9]{16}"}}) {
    EXPECT_EQ(covers(wide, narrow), Cover::Yes) << narrow;
  }
  for (const auto& [wide, narrow] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{{{"xabx"}, "ab"},
                                                                     {{"\\bkey\\b"}, "key"},
                                                                     {{"ax\\z"}, "x$"},
                                                                     {{"x\\z"}, "x$"},
                                                                     {{"^a"}, "(?m)^a"},
                                                                     {{"a"}, "a|b"},
                                                                     {{"a[0-4]"}, "a[0-9]"},
                                                                     {{"(?i)A"}, "[ab]"}}) {
    EXPECT_EQ(covers(wide, narrow), Cover::No) << narrow;
  }
  EXPECT_EQ(covered_by({.text = "a"}, {}), Cover::No);
}

// All texts of the letters up to this length.
std::vector<std::string> texts(std::string_view letters, std::size_t length) {
  std::vector<std::string> all = {""};
  for (std::size_t begin = 0, i = 0; i < length; ++i) {
    const std::size_t end = all.size();
    for (; begin < end; ++begin) {
      for (const char c : letters) all.push_back(all[begin] + c);
    }
  }
  return all;
}

std::shared_ptr<const PatternSet> finder(const std::string& pattern) {
  const std::vector<Rule> rules = {{.entries = {{.text = pattern}}}};
  return *PatternSet::compile(rules);
}

// WB-63: every statement about a random pattern is true for all short texts.
TEST(PatternCover, AgreesWithTryingAllShortTexts) {
  std::mt19937 random(7);
  const auto pick = [&](const std::vector<std::string>& all) { return all[random() % all.size()]; };
  const auto pattern = [&] {
    std::string text;
    for (unsigned i = 0, n = 1 + random() % 3; i < n; ++i) {
      text += pick({"a", "b", "[ab]", "a+", "b?a", "(?:ab|ba)", "\\ba", "a\\b", " "});
    }
    return text + (random() % 6 == 0 ? "$" : "");
  };
  const std::vector<std::string> all = texts("ab \n", 5);
  for (int i = 0; i < 60; ++i) {
    const std::string wide = pattern();
    const std::string narrow = pattern();
    const Cover said = covers({wide}, narrow);
    if (said == Cover::NotDecided) continue;
    const auto of_narrow = finder(narrow);
    const auto of_wide = finder(wide);
    const bool parts = std::ranges::any_of(all, [&](const std::string& text) {
      return !of_narrow->find(text).empty() && of_wide->find(text).empty();
    });
    EXPECT_EQ(said == Cover::No, parts) << wide << " and " << narrow;
  }
}

}  // namespace
}  // namespace sallyport::match
