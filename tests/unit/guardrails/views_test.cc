#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/guardrails/running.h"
#include "unit/guardrails/spellings.h"

namespace sallyport::guardrails {

namespace {

std::string words(const std::string& words, const std::string& views,
                  const std::string& more = "") {
  return R"("type":"blocklist","stage":"output","words":[)" + words + R"(],"views":[)" + views +
         "]" + more;
}

// Returns the one hit in a text, or a hit without a check if there is none.
Hit hit_in(const std::shared_ptr<const Guardrails>& guardrails, std::string_view text) {
  const Evaluation seen = guardrails->evaluate({.stage = Stage::Output, .text = text});
  const SeenOfStream streamed = stream(*guardrails, text);
  EXPECT_EQ(streamed.block.has_value(), seen.verdict == Verdict::Block) << text;
  if (streamed.block && seen.hits.size() == 1) {
    EXPECT_EQ(streamed.block->view, seen.hits[0].view) << text;
    EXPECT_EQ(streamed.block->matched, seen.hits[0].matched) << text;
    EXPECT_EQ(streamed.block->start, seen.hits[0].start) << text;
    EXPECT_EQ(streamed.block->end, seen.hits[0].end) << text;
  }
  return seen.hits.empty() ? Hit{} : seen.hits[0];
}

std::string span_of(const Hit& hit) {
  if (!hit.start) return "none";
  return std::to_string(*hit.start) + "-" + std::to_string(*hit.end) + " " + *hit.matched + " " +
         *hit.view;
}

}  // namespace

// GR-38 GR-41 GR-42
TEST(Views, StripFindsWordsThatInvisibleCharactersCutUp) {
  const auto guardrails = guard({words(R"("secret")", R"("strip")")});
  const std::vector<std::string> invisible = {
      "\u200b", "\u200c", "\u200d", "\u2060",     "\ufeff",     "\u00ad", "\u202e",
      "\u2066", "\u034f", "\ufe0f", "\U000E0061", "\U000E0100", "\u180e", "\u3164"};
  for (const std::string& between : invisible) {
    const std::string text = "my " + interleaved("secret", between) + "!";
    const Hit hit = hit_in(guardrails, text);
    EXPECT_EQ(span_of(hit), "3-" + std::to_string(text.size() - 1) + " secret strip")
        << testing::PrintToString(between);
  }
  EXPECT_EQ(span_of(hit_in(guardrails, "a secret")), "2-8 secret raw");
  EXPECT_EQ(hit_in(guardrails, "s e c r e t").check, "");
}

// GR-38
TEST(Views, StripLeavesEmojiWhole) {
  const std::vector<std::string> whole = {
      "👨‍👩‍👧‍👦",  // family: joined by ZWJ
      "❤️",                          // a selector after an emoji
      "❤️‍🔥",              // and a joiner behind it
      "👩🏽‍💻",            // with a skin tone
      "🏴‍☠️",              // pirate flag
      "\U0001F3F4\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F"};  // England
  for (const std::string& emoji : whole) {
    // The stripped text is the same, so the emoji itself is found in the raw text.
    const auto found = guard({words("\"x" + emoji + "x\"", R"("strip")")});
    EXPECT_EQ(span_of(hit_in(found, "x" + emoji + "x")),
              "0-" + std::to_string(emoji.size() + 2) + " x" + emoji + "x raw");
    const auto stripped = guard({R"("type":"regex","stage":"output","patterns":["x[^x]+\\z"],)"
                                 R"("views":["strip"])"});
    const Hit hit = hit_in(stripped, "x\u200b" + emoji);
    EXPECT_EQ(*hit.view, "raw");
  }
}

// GR-38
TEST(Views, NoTextIsSmuggledInTheGuiseOfAnEmoji) {
  const auto guardrails = guard({words(R"("secret")", R"("strip")")});
  // Tags that name no region of a flag, or too many of them, or none that ends.
  std::string message = "\U0001F3F4";
  for (int i = 0; i < 9; ++i) message += "\U000E0061";
  for (const std::string& between :
       {message + "\U000E007F", std::string("\U000E0061\U000E007F"), std::string("\u200d\ufe0f")}) {
    const bool keeps_flag = between.starts_with("\U0001F3F4");
    const Hit hit = hit_in(guardrails, "sec" + between + "ret");
    EXPECT_EQ(hit.check.empty(), keeps_flag) << testing::PrintToString(between);
  }
  const auto flag = guard({words("\"\U0001F3F4x\"", R"("strip")")});
  EXPECT_EQ(*hit_in(flag, message + "\U000E007Fx").view, "strip");
  EXPECT_EQ(*hit_in(flag, message + "x").view, "strip");
  const auto digits = guard({words(R"("1234")", R"("strip")")});
  EXPECT_EQ(*hit_in(digits, interleaved("1234", "\ufe0f")).view, "strip");
}

// GR-38 GR-42 GR-19
TEST(Views, NfkcFindsCompatibilityForms) {
  const auto guardrails = guard({words(R"("secret","ﬁle","é","ｋａ")", R"("nfkc")")});
  EXPECT_EQ(span_of(hit_in(guardrails, "x ｓｅｃｒｅｔ")), "2-20 secret nfkc");
  EXPECT_EQ(span_of(hit_in(guardrails, "𝓼𝓮𝓬𝓻𝓮𝓽")), "0-24 secret nfkc");
  EXPECT_EQ(span_of(hit_in(guardrails, "the file")), "4-8 file nfkc");
  EXPECT_EQ(span_of(hit_in(guardrails, "the ﬁle")), "4-9 ﬁle raw");
  EXPECT_EQ(span_of(hit_in(guardrails, "cafe\u0301s")), "3-6 é nfkc");
  EXPECT_EQ(span_of(hit_in(guardrails, "ka")), "0-2 ka nfkc");
  EXPECT_EQ(hit_in(guardrails, "e\u0301\u0302").check.empty(), false);
}

// GR-38
TEST(Views, ConfusablesFindLookAlikes) {
  const auto guardrails = guard(
      {words(R"("scope","Ignore","PAYPAL")", R"("confusables")", R"(,"case_sensitive":true)")});
  EXPECT_EQ(span_of(hit_in(guardrails, "ѕсоре")), "0-10 scope confusables");
  EXPECT_EQ(span_of(hit_in(guardrails, "Іgnore")), "0-7 Ignore confusables");  // U+0406
  EXPECT_EQ(span_of(hit_in(guardrails, "РАУРАL")), "0-11 PAYPAL confusables");
  EXPECT_EQ(hit_in(guardrails, "sc0pe").check, "");  // ASCII is never changed
}

// GR-39 GR-41 GR-42
TEST(Views, DecodersFindEncodedText) {
  const auto guardrails = guard({words(R"("secret")", R"("percent","json","base64","hex")")});
  EXPECT_EQ(span_of(hit_in(guardrails, "a=s%65cret")), "2-10 secret percent");
  EXPECT_EQ(span_of(hit_in(guardrails, "a=" + percent_encoded("secret"))), "2-20 secret percent");
  EXPECT_EQ(span_of(hit_in(guardrails, percent_encoded(percent_encoded("secret")))),
            "0-54 secret percent>percent");
  EXPECT_EQ(span_of(hit_in(guardrails, "\\u0073\\u0065cret")), "0-16 secret json");
  const std::string encoded = base64_of("the secret here");
  EXPECT_EQ(span_of(hit_in(guardrails, "x: " + encoded)), "7-19 secret base64");
  EXPECT_EQ(span_of(hit_in(guardrails, "x: " + percent_encoded(encoded))),
            "15-51 secret percent>base64");
  EXPECT_EQ(span_of(hit_in(guardrails, "x " + hex_of("a secret"))), "6-18 secret hex");
  EXPECT_EQ(span_of(hit_in(guardrails, base64_of(base64_of("the secret here")))),
            "4-24 secret base64>base64");
  EXPECT_EQ(hit_in(guardrails, percent_encoded(percent_encoded(percent_encoded("secret")))).check,
            "");
}

// GR-39
TEST(Views, PercentLeavesPlusAndUnfinishedEscapes) {
  const auto guardrails =
      guard({R"("type":"regex","stage":"output","patterns":["^a\\+b%é%4$"],"views":["percent"])"});
  EXPECT_EQ(*hit_in(guardrails, "a+b%%C3%A9%4").view, "percent");
  const auto broken =
      guard({R"("type":"regex","stage":"output","patterns":["^\\x{FFFD}x$"],"views":["percent"])"});
  EXPECT_EQ(*hit_in(broken, "%C3x").view, "percent");
  EXPECT_EQ(*hit_in(broken, "%E2%82x").view, "percent");
  EXPECT_EQ(hit_in(broken, "%E2%FFx").check, "");
}

// GR-39 GR-86
TEST(Views, JsonJoinsPairsAndLeavesOtherBackslashes) {
  const auto look = [](const std::string& pattern, const std::string& text) {
    const auto guardrails = guard({R"("type":"regex","stage":"output","patterns":[")" + pattern +
                                   R"("],"views":["json"],"decode_depth":1)"});
    return hit_in(guardrails, text).view.value_or("none");
  };
  EXPECT_EQ(look("^😀$", "\\uD83D\\uDE00"), "json");
  EXPECT_EQ(look("^\\\\x{FFFD}a$", "\\uD83Da"), "json");
  EXPECT_EQ(look("^\\\\x{FFFD}A$", "\\uD83D\\u0041"), "json");
  EXPECT_EQ(look("^\\\\x{FFFD}$", "\\uDE00"), "json");
  EXPECT_EQ(look("^\\\\x{FFFD}$", "\\uD83D"), "json");
  EXPECT_EQ(look("^\\\\\\\\xa$", "\\x\\u0061"), "json");
  EXPECT_EQ(look("^\\\\\\\\u00a$", "\\u00\\u0061"), "json");
  EXPECT_EQ(look("^a/\\\\\\\\\\n\\t\\\"b$", "a\\/\\\\\\n\\t\\\"b"), "json");
}

// GR-39
TEST(Views, RunsHaveAtLeastSixteenCharacters) {
  const auto guardrails = guard({words(R"("abc")", R"("base64","hex")", R"(,"decode_depth":1)")});
  EXPECT_EQ(base64_of("abc123456789").size(), 16u);
  EXPECT_EQ(*hit_in(guardrails, base64_of("abc123456789")).view, "base64");
  EXPECT_EQ(hit_in(guardrails, base64_of("abc123456")).check, "");
  EXPECT_EQ(hit_in(guardrails, base64_of("abc12345678").substr(0, 15)).check, "");
  EXPECT_EQ(*hit_in(guardrails, hex_of("abc45678")).view, "hex");
  EXPECT_EQ(hit_in(guardrails, hex_of("abc4567")).check, "");
  // Each run is a separate text.
  EXPECT_EQ(hit_in(guardrails, base64_of("123456789012ab") + " " + base64_of("c12345678901")).check,
            "");
  // Both alphabets, and the characters before the padding.
  const auto question = guard({words(R"("ÿ?>")", R"("base64")")});
  const std::string text = base64_of("123456789012ÿ?>a");
  EXPECT_EQ(span_of(hit_in(question, text)), "16-24 ÿ?> base64");
  std::string other = text;
  for (char& c : other) c = c == '+' ? '-' : c == '/' ? '_' : c;
  EXPECT_NE(other, text);
  EXPECT_EQ(span_of(hit_in(question, other)), "16-24 ÿ?> base64");
}

// GR-40 GR-41
TEST(Views, TheFirstViewThatMatchesIsNamed) {
  const auto guardrails = guard({words(R"("secret")", R"("strip","nfkc","base64")")});
  EXPECT_EQ(*hit_in(guardrails, "secret ｓecret").view, "raw");
  EXPECT_EQ(*hit_in(guardrails, base64_of("the secret here")).view, "base64");
  EXPECT_EQ(*hit_in(guardrails, base64_of("the ｓecret here")).view, "base64>strip+nfkc");
  // Normalised before the decoder too.
  EXPECT_EQ(*hit_in(guardrails, interleaved(base64_of("the secret here"), "\u200b")).view,
            "base64>strip+nfkc");
}

// GR-37
TEST(Views, WordsAreNormalisedAndPatternsAreNot) {
  const auto guardrails = guard({words(R"("ｓecret","\u200b")", R"("strip","nfkc")")});
  EXPECT_EQ(span_of(hit_in(guardrails, "secret")), "0-6 secret strip+nfkc");
  EXPECT_EQ(*hit_in(guardrails, "x\u200by").entry, "\u200b");
  EXPECT_EQ(*hit_in(guardrails, "x\u200by").view, "raw");
  const auto pattern =
      guard({R"("type":"regex","stage":"output","patterns":["ｓecret"],"views":["nfkc"])"});
  EXPECT_EQ(hit_in(pattern, "secret").check, "");
  const auto except = guard({words(R"("secret")", R"("nfkc")", R"(,"except":["ｍy secret"])")});
  EXPECT_EQ(hit_in(except, "my ｓecret").check, "");
  EXPECT_EQ(*hit_in(except, "a ｓecret").view, "nfkc");
}

// An exception for one letter of a ligature once also covered the other, which has the same source.
// GR-30 GR-42
TEST(Views, AnExceptionCoversCharactersOfTheViewNotOfTheSource) {
  const auto guardrails = guard({words(R"("f")", R"("nfkc")", R"(,"except":["i"])")});
  EXPECT_EQ(span_of(hit_in(guardrails, "ﬁ")), "0-3 f nfkc");
}

// GR-40 GR-62
TEST(Views, AWholeTextIsLookedAtUpToTheLimitOfARun) {
  const auto guardrails = guard({words(R"("secret")", R"("hex")", R"(,"decode_depth":1)"),
                                 words(R"("other")", R"("strip")")});
  const std::string fits = hex_of(std::string((1 << 20) - 6, 'x') + "secret");
  Evaluation seen = guardrails->evaluate({.stage = Stage::Output, .text = fits});
  EXPECT_EQ(seen.verdict, Verdict::Block);
  EXPECT_FALSE(seen.coverage[0].decode_truncated);
  const std::string over = hex_of(std::string((1 << 20) - 5, 'x') + "secret");
  seen = guardrails->evaluate({.stage = Stage::Output, .text = over});
  EXPECT_EQ(seen.verdict, Verdict::Allow);
  EXPECT_TRUE(seen.coverage[0].decode_truncated);
  EXPECT_FALSE(seen.coverage[1].decode_truncated);
}

}  // namespace sallyport::guardrails
