#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "unit/guardrails/running.h"
#include "unit/guardrails/spellings.h"

namespace sallyport::guardrails {

namespace {

std::string regex(const std::string& pattern, const std::string& more = "") {
  return R"("type":"regex","stage":"output","patterns":[")" + pattern + "\"]" + more;
}

double seconds(const Guardrails& guardrails, const std::string& text) {
  const auto begun = std::chrono::steady_clock::now();
  const Evaluation seen = guardrails.evaluate({.stage = Stage::Output, .text = text});
  EXPECT_EQ(seen.verdict, Verdict::Allow);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

// Four times the text may take forty times as long; non-linear code exceeds that by far.
void expect_linear(const std::string& pattern, const std::string& unit,
                   const std::string& more = "") {
  const auto guardrails = guard({regex(pattern, more)});
  const auto repeated = [&](std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += unit;
    return text + "!";
  };
  const std::size_t bytes = more.empty() ? 8'000 : 2'000;
  seconds(*guardrails, repeated(bytes));
  const double one = seconds(*guardrails, repeated(bytes));
  EXPECT_LT(seconds(*guardrails, repeated(4 * bytes)), 40 * one + 0.5) << pattern;
}

}  // namespace

// GR-20 GR-84
TEST(Hostile, PatternsThatRuinBacktrackingTakeLinearTime) {
  expect_linear("(a+)+$", "a");
  expect_linear("(?:a|a)*b", "a");
  expect_linear("(?:.*,){5}P", "a,");
  expect_linear("a.{0,50}b.{0,40}c", "ab");
  expect_linear("(?:x+x+)+y", "x");
}

// GR-20 GR-84
TEST(Hostile, ViewsOfHostileTextsTakeLinearTime) {
  const std::string views =
      R"(,"views":["strip","nfkc","confusables","percent","json","base64","hex"],"decode_depth":1)";
  expect_linear("(a+)+b", "%", views);
  expect_linear("(a+)+b", "\\u00", views);
  expect_linear("(a+)+b", "\u0301", views);
  expect_linear("(a+)+b", "6161616161616161 ", views);
  expect_linear("(a+)+b", "\U0001F3F4\U000E0061", views);
  expect_linear("(a+)+b", "\xe2\x82", views);
}

// GR-84 GR-20
TEST(Hostile, RedactingAHundredThousandLettersEnds) {
  const auto guardrails = guard({regex("a+b|a", R"(,"on_fail":"redact","replacement":"-")")});
  const std::string text(100'000, 'a');
  const Evaluation seen = guardrails->evaluate({.stage = Stage::Output, .text = text});
  EXPECT_EQ(seen.text, std::string(100'000, '-'));
}

// GR-84 GR-20
TEST(Hostile, ALineOfAMebibyteIsRead) {
  const auto guardrails = guard({regex("key=[a-z]+;", R"(,"on_fail":"redact")")});
  std::string text(1 << 20, 'x');
  text.replace(text.size() / 2, 8, "key=abc;");
  const Evaluation seen = guardrails->evaluate({.stage = Stage::Output, .text = text});
  ASSERT_EQ(seen.hits.size(), 1u);
  EXPECT_EQ(seen.hits[0].start, text.size() / 2);
  EXPECT_EQ(seen.text->size(), text.size() + 2);
}

}  // namespace sallyport::guardrails
