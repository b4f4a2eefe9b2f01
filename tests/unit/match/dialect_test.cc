#include <gtest/gtest.h>
#include <unicode/uchar.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "match/expression.h"
#include "match/pattern_set.h"
#include "match/utf8.h"
#include "unit/match/naive_pattern.h"

namespace sallyport::match {

namespace {

std::string cause_of(const std::string& pattern, std::optional<bool> unicode = std::nullopt) {
  const auto parsed = parse({.text = pattern, .unicode = unicode});
  return parsed ? "accepted" : parsed.error().cause;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> first_match(const std::string& pattern,
                                                                 const std::string& text) {
  const std::vector<Rule> rules = {{.entries = {{.text = pattern}}}};
  const auto set = PatternSet::compile(rules);
  if (!set) {
    ADD_FAILURE() << set.error().message;
    return {};
  }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> spans;
  for (const Match& match : (*set)->find(text)) spans.emplace_back(match.start, match.end);
  return spans;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> first_match_of_pcre2(
    const std::string& pattern, const std::string& text) {
  const bool edge = pattern.contains("\\b") || pattern.contains("\\B");
  const Pcre2 judge(pattern, edge ? PCRE2_UTF : PCRE2_UTF | PCRE2_UCP);
  for (std::size_t start = 0; start < text.size(); ++start) {
    if ((static_cast<unsigned char>(text[start]) & 0xC0) == 0x80) continue;
    if (const auto end = judge.end_from(text, start)) return {{start, *end}};
  }
  return {};
}

const std::vector<std::string> kPatterns = {"(?i)\xCF\x83",
                                            "(?i)straSSe",
                                            "(?i)k",
                                            "(?i)[j-l]",
                                            "(?i)[^k]",
                                            "(?s)a.b",
                                            "a.b",
                                            "(?m)^b",
                                            "(?m)a$",
                                            "a$",
                                            "a\\Z",
                                            "a\\z",
                                            "\\Aa",
                                            "a(?i)b|c",
                                            "a((?i)b)c",
                                            "(?i:a)b",
                                            "(?x)a b [ ] #c\n d",
                                            "a(?#b)c",
                                            "\\Qa.b\\E+",
                                            "[\\Q]\\E]",
                                            "[a&&b]+",
                                            "a{,3}",
                                            "x{2,3}?",
                                            "(?:a|ab)(?:c|bcd)",
                                            "(a|ab)(c|bcd)(d*)",
                                            "(?:a*)+b",
                                            "(?:|a)+b",
                                            "(?:a|b|)*?c",
                                            "\\x41\\x{42}\\x43",
                                            "[\\x{400}-\\x{4ff}]+",
                                            "\\d+",
                                            "\\w+",
                                            "\\W",
                                            "\\s+",
                                            "\\h\\v",
                                            "\\bfoo\\b",
                                            "\\Boo",
                                            "[[:alpha:]]+",
                                            "[[:^digit:]]",
                                            "(?i)[[:upper:]]+",
                                            "[[:punct:]]",
                                            "\\p{L}+",
                                            "\\p{Lu}",
                                            "\\p{^L}",
                                            "\\P{L}",
                                            "\\pN",
                                            "\\p{Cyrillic}+",
                                            "\\p{L&}",
                                            "[^\\W\\d]+",
                                            "[\\d\\-x]",
                                            "[a-c-e]"};

const std::vector<std::string> kTexts = {"",
                                         "a",
                                         "ab",
                                         "abcd",
                                         "aab",
                                         "abab\n",
                                         "b\na\n",
                                         "a\n",
                                         "a\nb",
                                         "ba",
                                         "aBC",
                                         "ABC",
                                         "xxxxx",
                                         "a{,3}",
                                         "a.b..",
                                         "a.bbb",
                                         "]a",
                                         "&&ab",
                                         "foo",
                                         "afoo foo_ foo.",
                                         std::string("\xC3\xA9") + "foo",
                                         "K \xE2\x84\xAA k",
                                         "\xCF\x82\xCE\xA3",
                                         std::string("STRA\xC5\xBF\xC5\xBF") + "E",
                                         "\xD0\xB6\xD1\x87 42",
                                         "\xD9\xA3\xD9\xA4",
                                         "a \t\x0B",
                                         "x-9",
                                         "c-e",
                                         "ABC d",
                                         "a b  d",
                                         "ab d",
                                         "\xF0\x9F\x98\x80!",
                                         "aaa]]",
                                         "\xC4\xB0i",
                                         "\xE1\xBA\x9E\xC3\x9F"};

}  // namespace

// GR-24
TEST(Dialect, RefusesWhatAnAutomatonCannotDecideAndSaysWhy) {
  const std::pair<const char*, const char*> table[] = {{"a(", "syntax"},
                                                       {"[z-a]", "syntax"},
                                                       {"\\u{41}", "syntax"},
                                                       {"*a", "syntax"},
                                                       {"[[:no:]]", "syntax"},
                                                       {"\\p{Nothing}x", "syntax"},
                                                       {"a(?=b)", "look_around"},
                                                       {"a(?!b)", "look_around"},
                                                       {"(?<=a)b", "look_around"},
                                                       {"(?<!a)b", "look_around"},
                                                       {"(a)\\1", "back_reference"},
                                                       {"(?<n>a)\\k<n>", "back_reference"},
                                                       {"(?P<n>a)(?P=n)", "back_reference"},
                                                       {"(a)\\g{1}", "back_reference"},
                                                       {"(?>a)", "atomic"},
                                                       {"a++", "atomic"},
                                                       {"a{2}+", "atomic"},
                                                       {"a\\R", "unsupported"},
                                                       {"a\\X", "unsupported"},
                                                       {"a\\Kb", "unsupported"},
                                                       {"\\Ga", "unsupported"},
                                                       {"a\\C", "unsupported"},
                                                       {"a\\N", "unsupported"},
                                                       {"a(?R)?", "unsupported"},
                                                       {"(?|a|b)", "unsupported"},
                                                       {"a(?C1)", "unsupported"},
                                                       {"(?U)a+", "unsupported"},
                                                       {"(?J)a", "unsupported"},
                                                       {"(*UCP)a", "unsupported"},
                                                       {"a(*SKIP)b", "unsupported"},
                                                       {"(a)(?1)", "unsupported"},
                                                       {"(a)(?(1)a|b)", "unsupported"},
                                                       {"[[:<:]]a", "unsupported"},
                                                       {"a[[:>:]]", "unsupported"},
                                                       {"[b[:<:]]a", "syntax"},
                                                       {"a*", "empty_match"},
                                                       {"a|", "empty_match"},
                                                       {"^", "empty_match"},
                                                       {"\\b", "empty_match"},
                                                       {"(?:a?){3}", "empty_match"},
                                                       {"", "empty_match"},
                                                       {"a{1001}", "too_large"},
                                                       {"(?:a{10}){101}", "too_large"},
                                                       {"(\\w{1,50}){1,50}x", "too_large"},
                                                       {"x.{0,16000}y", "too_large"}};
  for (const auto& [pattern, cause] : table) EXPECT_EQ(cause_of(pattern), cause) << pattern;
  EXPECT_EQ(cause_of("\\bfoo", true), "unicode_boundary");
  EXPECT_EQ(cause_of("foo\\B.", true), "unicode_boundary");
}

// GR-4 (partly) GR-23 (partly)
TEST(Dialect, AcceptsTheRestAndTheLimitsThemselves) {
  for (const char* pattern : {"a{1000}",
                              "(?:a{10}){100}",
                              "(?:a{2,5}){200}",
                              "(?:a+){1000}",
                              "\\Q.*\\E",
                              "[a&&b]",
                              "a{,3}",
                              "(?<n>a)",
                              "(?'n'a)",
                              "(?P<n>a)",
                              "(?#note)a",
                              "(?x) a b # c",
                              "\\p{Greek}",
                              "\\p{^Lu}",
                              "\\PL",
                              "\\x{1F600}",
                              "\\012",
                              "[\\1]",
                              "\\cA",
                              "\\o{101}",
                              "[]a]",
                              "[^]a]",
                              "[a-]",
                              "[\\Qa-z\\E]",
                              "]",
                              "{",
                              "a{x"}) {
    EXPECT_EQ(cause_of(pattern), "accepted") << pattern;
  }
}

// GR-6 (partly)
TEST(Dialect, AnErrorNamesThePatternAndThePlace) {
  const std::vector<Rule> rules = {
      {.entries = {{.text = "good"}}},
      {.entries = {{.text = "fine"}}, .exceptions = {{.text = "a(?=b)"}}}};
  const auto set = PatternSet::compile(rules);
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().where, "/1/exceptions/0");
  EXPECT_EQ(set.error().message,
            "pattern `a(?=b)` uses look-around (byte 3), which is not supported");
}

// GR-22 GR-23 GR-25
TEST(Dialect, MatchesAsPcre2Does) {
  for (const std::string& pattern : kPatterns) {
    ASSERT_EQ(cause_of(pattern), "accepted") << pattern;
    for (const std::string& text : kTexts) {
      EXPECT_EQ(first_match(pattern, text), first_match_of_pcre2(pattern, text))
          << pattern << " in " << testing::PrintToString(text);
    }
  }
}

// Our Unicode tables are newer than PCRE2's, so younger characters are left out.
// GR-25
TEST(Dialect, ClassesHoldTheCharactersThatPcre2SaysTheyHold) {
  const std::vector<std::string> classes = {
      "\\d",           "\\w",          "\\s",
      "\\h",           "\\v",          "\\p{L}",
      "\\p{Lu}",       "\\p{N}",       "\\p{Greek}",
      "\\p{Latin}",    "\\p{Han}",     "[[:alpha:]]",
      "[[:lower:]]",   "[[:upper:]]",  "[[:alnum:]]",
      "[[:blank:]]",   "[[:cntrl:]]",  "[[:digit:]]",
      "[[:graph:]]",   "[[:print:]]",  "[[:punct:]]",
      "[[:space:]]",   "[[:word:]]",   "[[:xdigit:]]",
      "[[:ascii:]]",   "(?i)[a-z]",    "(?i)[\\x{370}-\\x{3ff}]",
      "(?i)\\x{1e9e}", "(?i)\\x{130}", "(?i)[[:lower:]]"};
  for (const bool unicode : {false, true}) {
    for (const std::string& pattern : classes) {
      const auto parsed = parse({.text = pattern, .unicode = unicode});
      ASSERT_TRUE(parsed) << pattern;
      const Tree* tree = &parsed->tree;
      while (tree->kind != Tree::Kind::Characters) tree = &tree->parts.back();
      const Pcre2 judge(pattern, PCRE2_UTF | (unicode ? PCRE2_UCP : 0));
      for (char32_t c = 0; c < 0x12000; ++c) {
        if (c >= 0xD800 && c <= 0xDFFF) continue;
        UVersionInfo age;
        u_charAge(static_cast<UChar32>(c), age);
        if (age[0] >= 14 || age[0] == 0) continue;
        std::string text;
        append_utf8(text, c);
        ASSERT_EQ(tree->characters.contains(c), judge.end_from(text, 0).has_value())
            << pattern << (unicode ? " Unicode " : " ASCII ") << static_cast<std::uint32_t>(c);
      }
    }
  }
}

// GR-10 (partly) GR-25
TEST(Dialect, TheReportTellsBoundsAndAsciiClasses) {
  const std::vector<Rule> rules = {{.entries = {{.text = "a{3,5}"},
                                                {.text = "\\w+@"},
                                                {.text = "\\bfoo"},
                                                {.text = "\xC3\xA9|\xE2\x82\xAC"}}}};
  const auto set = PatternSet::compile(rules);
  ASSERT_TRUE(set);
  const auto& report = (*set)->report();
  ASSERT_EQ(report.size(), 4u);
  EXPECT_EQ(report[0].longest, 5u);
  EXPECT_EQ(report[1].longest, std::nullopt);
  EXPECT_FALSE(report[1].ascii_classes);
  EXPECT_EQ(report[2].longest, 3u);
  EXPECT_TRUE(report[2].ascii_classes);
  EXPECT_EQ(report[3].longest, 3u);
}

}  // namespace sallyport::match
