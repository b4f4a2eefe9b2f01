#include <gtest/gtest.h>

#include <ctime>
#include <string>
#include <vector>

#include "match/stream.h"

namespace sallyport::match {

namespace {

std::shared_ptr<const PatternSet> blocking(const std::vector<std::string>& patterns,
                                           Effect effect = Effect::Block) {
  Rule rule{.effect = effect};
  for (const std::string& pattern : patterns) rule.entries.push_back({.text = pattern});
  auto set = PatternSet::compile(std::vector{rule});
  if (!set) ADD_FAILURE() << set.error().message;
  return set ? *set : nullptr;
}

}  // namespace

// These patterns take backtracking engines forever; here the test only has to end.
// GR-20 (partly) GR-84 (partly)
TEST(MatchLimits, PatternsThatRuinBacktrackingAreDecidedInOnePass) {
  const std::string text(100'000, 'a');
  const auto set = blocking({"(?:a+)+$b", "(?:a|a)*c", "(?:a|aa)+d", "(?:a*)*e", "(?:.*a){20}f"});
  EXPECT_TRUE(set->find(text).empty());
  const auto ending = blocking({"(?:a+)+$"});
  EXPECT_EQ(ending->find(text), (std::vector<Match>{{0, 0, 0, 100'000}}));
  EXPECT_TRUE(ending->find(text + "!").empty());
}

// GR-57 (partly) GR-84 (partly)
TEST(MatchLimits, AStreamOfOneLetterStopsAtTheHoldLimit) {
  for (const Effect effect : {Effect::Block, Effect::Redact}) {
    Stream stream(blocking({"(?:a+)+b", "a(?:.*z)?"}, effect));
    std::optional<Hit> block;
    for (int i = 0; i < 100 && !block; ++i) block = stream.push(std::string(1000, 'a'))->block;
    ASSERT_TRUE(block);
    if (effect == Effect::Redact) EXPECT_EQ(block->at, 65537u);
  }
}

// Counting by 2, 3, 5, 7, 11 and 13 at once gives 30,030 different states.
// GR-58 (partly) GR-75 (partly)
TEST(MatchLimits, FuturesWithoutNumberAreMergedForBlockRulesAndRefusedForRedactRules) {
  const std::string counting = "(?:(?:a{2})*|(?:a{3})*|(?:a{5})*|(?:a{7})*|(?:a{11})*|(?:a{13})*)b";
  Stream log(blocking({"x" + counting, "(?:a|x)" + counting}, Effect::Log));
  EXPECT_TRUE(log.push("x" + std::string(2'000, 'a'))->logs.empty());
  EXPECT_LT(log.state_bytes(), 64u << 10);
  const Output hit = *log.push("b");
  ASSERT_EQ(hit.logs.size(), 1u);
  EXPECT_EQ(hit.logs[0].entry, 0u);
  EXPECT_EQ(hit.logs[0].start, 0u);
  EXPECT_EQ(hit.logs[0].end, 2002u);
  Stream redact(blocking({"a" + counting}, Effect::Redact));
  const Output output = *redact.push(std::string(20'000, 'a'));
  ASSERT_TRUE(output.block);
  EXPECT_EQ(output.block->why, Hit::Why::Overflow);
  EXPECT_EQ(output.block->start, 0u);
}

// GR-4 (partly) GR-83 (partly)
TEST(MatchLimits, FourThousandPatternsWorkTogether) {
  std::vector<Rule> rules;
  for (int rule = 0; rule < 64; ++rule) {
    rules.push_back({.effect = Effect::Block});
    for (int entry = 0; entry < 64; ++entry) {
      rules.back().entries.push_back({.kind = Expression::Kind::Word,
                                      .text = "word" + std::to_string(rule * 64 + entry) + "!",
                                      .caseless = true});
    }
  }
  const auto set = PatternSet::compile(rules);
  ASSERT_TRUE(set);
  Stream stream(*set);
  EXPECT_EQ(stream.push("WORD409 word4096! Word40")->text(), "WORD409 word4096! ");
  const Output output = *stream.push("95! word1!");
  ASSERT_TRUE(output.block);
  EXPECT_EQ(output.block->rule, 63u);
  EXPECT_EQ(output.block->entry, 63u);
}

// GR-4 (partly) GR-87 (partly)
TEST(MatchLimits, APatternThatIsTooLargeWhenCompiledIsRefused) {
  const std::string part(400, 'a');
  const auto set =
      PatternSet::compile(std::vector<Rule>{{.entries = {{.text = "(?:" + part + "){1000}"}}}});
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().cause, "too_large");
  EXPECT_EQ(set.error().where, "/0/entries/0");
}

// GR-58
TEST(MatchLimits, MemoryDoesNotGrowWithTheText) {
  Stream stream(blocking({"AKIA[A-Z0-9]{16}", "\\w+@\\w+\\.com"}));
  std::size_t most = 0;
  for (int i = 0; i < 2000; ++i) {
    ASSERT_FALSE(stream.push("plain words, user at example, AKIA and so on. ")->block);
    if (i == 20) most = stream.state_bytes();
  }
  EXPECT_EQ(stream.state_bytes(), most);
  EXPECT_LT(most, 4096u);
}

namespace {

// Log or block rules with these entries, and one exception.
std::shared_ptr<const PatternSet> excepting(const std::vector<std::string>& patterns,
                                            const std::string& exception, Effect effect) {
  Rule rule{.effect = effect, .exceptions = {{.text = exception}}};
  for (const std::string& pattern : patterns) rule.entries.push_back({.text = pattern});
  auto set = PatternSet::compile(std::vector{rule});
  if (!set) ADD_FAILURE() << set.error().message;
  return set ? *set : nullptr;
}

std::string repeated(std::size_t count, const std::string& unit) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += unit;
  return text;
}

double processor_seconds(const PatternSet& set, const std::string& text) {
  const std::clock_t begun = std::clock();
  EXPECT_TRUE(set.find(text).empty());
  return static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
}

}  // namespace

// Each new match was compared with all those that waited for the same exception, so the time grew
// with the square of the text. 32 times the text would take 1,024 times as long.
// GR-20 GR-84
TEST(MatchLimits, ManyMatchesThatWaitForAnExceptionTakeLinearTime) {
  const auto scripts = excepting({"<script.*?>"}, "(?s)```.*```", Effect::Block);
  const auto nested = excepting({"(?s)a.*b"}, "(?s)c.*d", Effect::Block);
  const auto scripts_in_code = [](std::size_t count) {
    return "```" + repeated(count, "<script>") + "```";
  };
  const auto ends_of_one = [](std::size_t count) {
    return "c" + std::string(count, 'a') + std::string(count, 'b') + "d";
  };
  constexpr std::size_t kFew = 1'000;
  const double few = processor_seconds(*scripts, scripts_in_code(kFew));
  EXPECT_LT(processor_seconds(*scripts, scripts_in_code(32 * kFew)), 150 * few + 1);
  const double few_ends = processor_seconds(*nested, ends_of_one(kFew));
  EXPECT_LT(processor_seconds(*nested, ends_of_one(32 * kFew)), 150 * few_ends + 1);
}

// Matches of exceptions were kept as long as any match was open.
// GR-58
TEST(MatchLimits, MatchesOfExceptionsDoNotPileUp) {
  Stream stream(excepting({"(?s)a.*b"}, "c", Effect::Log));
  ASSERT_TRUE(stream.push("a" + std::string(1'000, 'c')));
  const std::size_t before = stream.state_bytes();
  ASSERT_TRUE(stream.push(std::string(100'000, 'c')));
  EXPECT_EQ(stream.state_bytes(), before);
}

// A log match that no exception could cover was lost if 1,024 others waited for an exception.
// GR-50 GR-68
TEST(MatchLimits, ALogMatchIsReportedHoweverManyOthersWait) {
  const auto set = excepting({"a", "(?s)xc.*y"}, "(?s)c.*d", Effect::Log);
  for (const std::size_t count : {std::size_t{100}, std::size_t{1'024}, std::size_t{5'000}}) {
    const std::string text = "xc" + std::string(count, 'a') + "yd";
    EXPECT_EQ(set->find(text), (std::vector<Match>{{0, 1, 0, count + 3}}));
    Stream stream(set);
    const Output output = *stream.push(text);
    ASSERT_EQ(output.logs.size(), 1u) << count;
    EXPECT_EQ(output.logs[0].entry, 1u);
    EXPECT_EQ(output.logs[0].start, 0u);
    EXPECT_EQ(output.logs[0].at, count + 3);
    EXPECT_TRUE(stream.finish()->logs.empty());
  }
}

// GR-48 GR-50 GR-58
TEST(MatchLimits, OfManyWaitingMatchesTheFirstEntryAndEndIsReported) {
  // The longer match begins earlier and is found later.
  const auto set = excepting({"a", "(?s)b.*z"}, "(?s)c.*d", Effect::Log);
  Stream stream(set, {.most_held = 1 << 20});
  ASSERT_TRUE(stream.push("cb" + std::string(10'000, 'a'))->logs.empty());
  ASSERT_TRUE(stream.push("z" + std::string(10'000, 'a'))->logs.empty());
  EXPECT_LT(stream.state_bytes(), 64u << 10);
  const Output output = *stream.finish();
  ASSERT_EQ(output.logs.size(), 1u);
  EXPECT_EQ(output.logs[0].entry, 0u);
  EXPECT_EQ(output.logs[0].start, 2u);
  EXPECT_EQ(output.logs[0].end, 3u);
}

}  // namespace sallyport::match
