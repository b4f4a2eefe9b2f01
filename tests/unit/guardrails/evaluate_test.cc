#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/guardrails/running.h"

namespace sallyport::guardrails {

namespace {

Evaluation look(const std::shared_ptr<const Guardrails>& guardrails, std::string_view text,
                Stage stage = Stage::Output) {
  return guardrails->evaluate({.stage = stage, .text = text});
}

std::string regex(const std::string& pattern, const std::string& more = "") {
  return R"("type":"regex","stage":"output","patterns":[")" + pattern + "\"]" + more;
}

std::string words(const std::string& list, const std::string& more = "") {
  return R"("type":"blocklist","stage":"output","words":[)" + list + "]" + more;
}

bool hits(const std::string& check, std::string_view text) {
  return !look(guard({check}), text).hits.empty();
}

std::string span_of(const Evaluation& seen, std::size_t which = 0) {
  if (seen.hits.size() <= which) return "none";
  const Hit& hit = seen.hits[which];
  return std::to_string(*hit.start) + "-" + std::to_string(*hit.end) + " " + *hit.entry;
}

}  // namespace

// GR-12 GR-20
TEST(Evaluate, AllChecksOfTheStageAreLookedAtInOrder) {
  const auto guardrails =
      guard({regex("a+", R"(,"on_fail":"log")"), regex("b", R"(,"on_fail":"redact")"),
             R"("type":"regex","stage":"input","patterns":["a"])", regex("c"), regex("a|c")});
  const Evaluation seen = look(guardrails, "xxaab c");
  ASSERT_EQ(seen.hits.size(), 4u);
  EXPECT_EQ(seen.hits[0].check_index, 0u);
  EXPECT_EQ(seen.hits[1].check_index, 1u);
  EXPECT_EQ(seen.hits[2].check_index, 3u);
  EXPECT_EQ(seen.hits[3].check_index, 4u);
  EXPECT_EQ(seen.verdict, Verdict::Block);
  ASSERT_TRUE(seen.decision.has_value());
  EXPECT_EQ(seen.decision->check, "regex#3");
  EXPECT_EQ(seen.decision->replacement, "[This answer was withheld by a guardrail.]");
  EXPECT_EQ(seen.decision->reason, std::nullopt);
  EXPECT_EQ(seen.text, std::nullopt);
  EXPECT_EQ(look(guardrails, "xxb").verdict, Verdict::Redact);
  EXPECT_EQ(look(guardrails, "xx").verdict, Verdict::Allow);
}

// GR-13
TEST(Evaluate, TheFirstEntryCountsThenTheLeftmostStartThenPerl) {
  const auto two = R"("type":"regex","stage":"output","patterns":["b+?","a|ab|abc"])";
  EXPECT_EQ(span_of(look(guard({two}), "aabbb")), "2-3 b+?");
  EXPECT_EQ(span_of(look(guard({two}), "xabc")), "2-3 b+?");
  EXPECT_EQ(span_of(look(guard({regex("a|ab|abc")}), "xabc")), "1-2 a|ab|abc");
  EXPECT_EQ(span_of(look(guard({regex("a*b?a")}), "xaaba")), "1-5 a*b?a");
}

// GR-14 GR-62
TEST(Evaluate, SkippedChecksGiveNoHit) {
  const auto guardrails = guard({regex("a"), regex("a"), R"("type":"regex","stage":"tool_output",
      "patterns":["a"],"tools":["fetch*"])"});
  Evaluation seen = guardrails->evaluate(
      {.stage = Stage::Output, .text = "a", .skip = [](std::size_t index) { return index == 0; }});
  ASSERT_EQ(seen.hits.size(), 1u);
  EXPECT_EQ(seen.hits[0].check_index, 1u);
  ASSERT_EQ(seen.coverage.size(), 3u);
  EXPECT_EQ(seen.coverage[0].skipped, "caller");
  EXPECT_EQ(seen.coverage[1].skipped, std::nullopt);
  EXPECT_EQ(seen.coverage[2].skipped, "stage");
  const auto result = [&](std::optional<std::string_view> tool) {
    return guardrails->evaluate({.stage = Stage::ToolOutput, .text = "a", .tool = tool});
  };
  EXPECT_EQ(result(std::nullopt).coverage[2].skipped, "no_tool");
  EXPECT_EQ(result("read").coverage[2].skipped, "tool");
  EXPECT_EQ(result("read").verdict, Verdict::Allow);
  EXPECT_EQ(result("fetch_url").coverage[2].skipped, std::nullopt);
  EXPECT_EQ(result("fetch_url").verdict, Verdict::Block);
}

// GR-15
TEST(Evaluate, AdvisoryModeOnlyReports) {
  const auto guardrails = guard({regex("a", R"(,"severity":"high","replacement":"no")"),
                                 regex("b", R"(,"on_fail":"redact")")},
                                R"("mode":"advisory",)");
  const Evaluation seen = look(guardrails, "a b");
  ASSERT_EQ(seen.hits.size(), 2u);
  EXPECT_EQ(seen.verdict, Verdict::Allow);
  EXPECT_EQ(seen.text, std::nullopt);
  EXPECT_EQ(seen.hits[0].action, Action::Log);
  EXPECT_EQ(seen.hits[0].on_fail, Action::Block);
  EXPECT_EQ(seen.hits[0].severity, Severity::High);
  EXPECT_EQ(seen.hits[0].replacement, "no");
  EXPECT_EQ(seen.hits[1].start, 2u);
}

// GR-16 GR-17 GR-18
TEST(Evaluate, AHitHasItsMembersAndADecisionItsReplacement) {
  const auto guardrails = guard({words(R"("Bad")", R"(,"id":"w","replacement":"")")});
  const Evaluation seen = look(guardrails, "so bad");
  ASSERT_EQ(seen.hits.size(), 1u);
  const Hit expected{.check_index = 0,
                     .check = "w",
                     .check_id = "w",
                     .stage = Stage::Output,
                     .rule_type = CheckType::Blocklist,
                     .action = Action::Block,
                     .on_fail = Action::Block,
                     .severity = Severity::Medium,
                     .reason_code = "guardrail.blocklist",
                     .replacement = "",
                     .entry = "Bad",
                     .matched = "bad",
                     .start = 3,
                     .end = 6,
                     .view = "raw"};
  EXPECT_EQ(seen.hits[0], expected);
  EXPECT_EQ(seen.decision->replacement, "");
  EXPECT_EQ(seen.decision->reason_code, "guardrail.blocklist");
}

// GR-19
TEST(Evaluate, MatchedIsCutButOffsetsAreNot) {
  const auto guardrails = guard({regex("xé+")});
  std::string text = "x";
  for (int i = 0; i < 500; ++i) text += "é";
  const Evaluation seen = look(guardrails, text);
  EXPECT_EQ(seen.hits[0].matched->size(), 199u);
  EXPECT_EQ(*seen.hits[0].matched, text.substr(0, 199));
  EXPECT_EQ(seen.hits[0].end, 1001u);
}

// GR-21
TEST(Evaluate, IllFormedPartsAreOneReplacementCharacterEach) {
  const auto guardrails = guard({regex("a\\\\x{FFFD}{2}b", R"(,"on_fail":"redact")")});
  const std::string text =
      "\xff x a\xe2\x82\xc0 a\xe2\x82\xc0"
      "b \xf0\x9f";
  const Evaluation seen = look(guardrails, text);
  EXPECT_EQ(seen.invalid_utf8, 6u);
  EXPECT_EQ(span_of(seen), "9-14 a\\x{FFFD}{2}b");
  EXPECT_EQ(*seen.hits[0].matched, "a\uFFFD\uFFFDb");
  EXPECT_EQ(*seen.text, "\uFFFD x a\uFFFD\uFFFD [redacted] \uFFFD");
}

// GR-22 GR-23
TEST(Evaluate, PatternsAreReadAsPromised) {
  EXPECT_FALSE(hits(regex("abc"), "ABC"));
  EXPECT_TRUE(hits(regex("(?i)abc"), "ABC"));
  EXPECT_FALSE(hits(regex("a.b"), "a\nb"));
  EXPECT_TRUE(hits(regex("(?s)a.b"), "a\nb"));
  EXPECT_FALSE(hits(regex("^b"), "a\nb"));
  EXPECT_TRUE(hits(regex("(?m)^b"), "a\nb"));
  EXPECT_TRUE(hits(regex("b$"), "ab\n"));
  EXPECT_TRUE(hits(regex("b\\\\Z"), "ab\n"));
  EXPECT_FALSE(hits(regex("b\\\\z"), "ab\n"));
  EXPECT_TRUE(hits(regex("(?i)σ"), "ς"));
  EXPECT_TRUE(hits(regex("^[a&&b]{4}$"), "a&&b"));
  EXPECT_TRUE(hits(regex("a{,3}"), "a{,3}"));
}

// GR-26 GR-27
TEST(Evaluate, WordsAreFoldedCharacterByCharacter) {
  EXPECT_TRUE(hits(words(R"("ΟΔΟΣ")"), "οδος"));
  EXPECT_TRUE(hits(words(R"("ask")"), "aſ\u212a"));
  EXPECT_TRUE(hits(words(R"("stra\u1e9ee")"), "Straße"));
  EXPECT_FALSE(hits(words(R"("strasse")"), "straße"));
  EXPECT_FALSE(hits(words(R"("istanbul")"), "İstanbul"));
  EXPECT_TRUE(hits(words(R"("İ")"), "İ"));
  EXPECT_FALSE(hits(words(R"("Bad")", R"(,"case_sensitive":true)"), "bad"));
}

// GR-28
TEST(Evaluate, WholeWordsStandAlone) {
  const std::string whole = R"(,"whole_word":true)";
  EXPECT_FALSE(hits(words(R"("ass")", whole), "class"));
  EXPECT_FALSE(hits(words(R"("ass")", whole), "ass_1 assé ass\u0301"));
  EXPECT_TRUE(hits(words(R"("ass")", whole), "an ass."));
  EXPECT_TRUE(hits(words(R"("c++")", whole), "c++11"));
  EXPECT_FALSE(hits(words(R"("c++")", whole), "abc++"));
}

// GR-30
TEST(Evaluate, AMatchInsideAnExceptionDoesNotCount) {
  const auto guardrails = guard({regex("[a-z]+@x\\\\.org", R"(,"except":["info@x\\.org"])")});
  EXPECT_EQ(span_of(look(guardrails, "info@x.org")), "none");
  EXPECT_EQ(span_of(look(guardrails, "info@x.org me@x.org")), "11-19 [a-z]+@x\\.org");
  EXPECT_EQ(span_of(look(guardrails, "myinfo@x.org")), "0-12 [a-z]+@x\\.org");
  // Exceptions are never whole words.
  EXPECT_FALSE(
      hits(words(R"("ass")", R"(,"whole_word":true,"except":["smart ass"])"), "a smart ass"));
  EXPECT_TRUE(hits(words(R"("ass")", R"(,"except":["class"])"), "CLASS ass"));
  EXPECT_FALSE(hits(words(R"("ass")", R"(,"except":["class"])"), "xCLASSx"));
}

// GR-35
TEST(Evaluate, RedactionReplacesRegions) {
  const auto guardrails = guard({regex("bc", R"(,"on_fail":"redact","replacement":"<bc>")"),
                                 regex("ab|cd|e{2}", R"(,"on_fail":"redact")"),
                                 regex("x", R"(,"on_fail":"redact","replacement":"")")});
  EXPECT_EQ(*look(guardrails, "-abcd-").text, "-<bc>-");
  EXPECT_EQ(*look(guardrails, "-ab-cd-").text, "-[redacted]-[redacted]-");
  EXPECT_EQ(*look(guardrails, "abab").text, "[redacted][redacted]");
  EXPECT_EQ(*look(guardrails, "eee").text, "[redacted]");  // from every start
  EXPECT_EQ(*look(guardrails, "axb").text, "ab");
  EXPECT_EQ(look(guardrails, "a-b").text, std::nullopt);
}

// GR-9 GR-43
TEST(Evaluate, NoChecksMeanThatNothingIsTouched) {
  for (const char* text : {"null", "{}", R"({"checks":[]})"}) {
    const auto guardrails = compiled(text);
    for (const Stage stage : {Stage::Input, Stage::Output, Stage::ToolUse, Stage::ToolOutput}) {
      EXPECT_FALSE(guardrails->armed(stage));
      EXPECT_EQ(guardrails->arm(stage, "x"), nullptr);
      EXPECT_EQ(look(guardrails, "abc", stage).verdict, Verdict::Allow);
    }
  }
}

// GR-85
TEST(Evaluate, ControlCharactersAndByteOrderMarksAreCharacters) {
  EXPECT_TRUE(hits(regex("^a\\\\x00\\\\x01b$"), std::string_view("a\0\1b", 4)));
  EXPECT_TRUE(hits(regex("^\\\\x{FEFF}a"), "\ufeffa"));
}

// GR-68 GR-45: the whole text was once reported as a hit on a span that a stream does not redact.
TEST(Evaluate, ARedactCheckWhosePreferredSpansAreExceptedDoesNotHit) {
  const auto guardrails = guard(
      {R"("type":"regex","stage":"output","patterns":["ab*?"],"on_fail":"redact","except":["a"])"});
  const Evaluation seen = look(guardrails, "xabbx");
  EXPECT_TRUE(seen.hits.empty());
  EXPECT_EQ(seen.verdict, Verdict::Allow);
  EXPECT_EQ(seen.text, std::nullopt);
  const SeenOfStream streamed = stream(*guardrails, "xabbx");
  EXPECT_EQ(streamed.text, "xabbx");
  EXPECT_TRUE(streamed.regions.empty());
}

}  // namespace sallyport::guardrails
