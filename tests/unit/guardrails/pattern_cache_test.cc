#include <gtest/gtest.h>

#include <map>
#include <string>

#include "guardrails/check/pattern_store.h"
#include "support/effort.h"
#include "unit/guardrails/random_document.h"
#include "unit/guardrails/running.h"

namespace sallyport::guardrails {

namespace {

class Kept final : public PatternStore {
 public:
  std::optional<std::string> load(const std::string& digest) const override {
    if (planted) return planted;
    const auto found = images.find(digest);
    if (found == images.end()) return std::nullopt;
    return found->second;
  }
  void keep(const std::string& digest, std::string_view bytes) const override {
    ++compiled;
    images[digest] = std::string(bytes);
  }

  mutable std::map<std::string, std::string> images;
  mutable int compiled = 0;
  std::optional<std::string> planted{};  // under every name
};

std::shared_ptr<const Guardrails> made(const std::string& text, const PatternStore& store) {
  auto made = Guardrails::compile(*read_document(text), 1, &store);
  EXPECT_TRUE(made);
  return made ? *made : nullptr;
}

constexpr const char* kDocument =
    R"({"checks":[{"type":"regex","stage":"output","patterns":["AKIA[A-Z0-9]{16}","\\bkey\\b.*"]},
                  {"type":"blocklist","stage":"output","on_fail":"redact","words":["secret","​"],
                   "whole_word":true,"except":["open secret"],"views":["strip","base64"]},
                  {"type":"regex","stage":"tool_output","tools":["fetch"],"patterns":["(?i)pass+"]},
                  {"type":"regex","stage":"tool_output","patterns":["word$"]},
                  {"type":"tool_pattern","stage":"tool_use","tools":["bash*"]}]})";

}  // namespace

// GR-11
TEST(PatternCache, WhatWasKeptDecidesLikeWhatIsCompiled) {
  Random random(4711);
  for (int round = 0; round < 60; ++round) {
    const std::string document = document_of(random_checks(random, {}));
    const Kept kept;
    const auto anew = made(document, kept);
    const auto again = made(document, kept);
    ASSERT_EQ(kept.compiled, 1) << document;
    EXPECT_EQ(again->report(), anew->report());
    EXPECT_EQ(again->document(), anew->document());
    for (int texts = 0; texts < 8; ++texts) {
      const std::string text = random_text(random, 10);
      const auto context = document + "\n" + testing::PrintToString(text);
      ASSERT_EQ(stream(*again, text), stream(*anew, text)) << context;
      const Request request{.stage = Stage::Output, .text = text};
      ASSERT_EQ(again->evaluate(request).hits, anew->evaluate(request).hits) << context;
    }
  }
}

// GR-11
TEST(PatternCache, ChecksOfSomeToolsWorkFromWhatWasKept) {
  const Kept kept;
  const auto anew = made(kDocument, kept);
  const auto again = made(kDocument, kept);
  EXPECT_EQ(kept.compiled, 1);
  for (const char* const tool : {"fetch", "other", "bash"}) {
    for (const char* const text : {"my PASSS", "last word", "nothing"}) {
      const Request request{.stage = Stage::ToolOutput, .text = text, .tool = tool};
      EXPECT_EQ(again->evaluate(request).hits, anew->evaluate(request).hits) << tool << text;
      EXPECT_EQ(stream(*again, text, {}, Stage::ToolOutput, tool),
                stream(*anew, text, {}, Stage::ToolOutput, tool));
    }
  }
}

// GR-11
TEST(PatternCache, ADamagedImageIsMadeAgain) {
  const Kept kept;
  const SeenOfStream good = stream(*made(kDocument, kept), "a c2VjcmV0IHNlY3JldA== b secret AKIA");
  ASSERT_EQ(kept.images.size(), 1u);
  std::string& image = kept.images.begin()->second;
  const std::string whole = image;
  for (std::size_t size = 0; size < whole.size(); size += 1 + whole.size() / 97) {
    image = whole.substr(0, size);
    kept.compiled = 0;
    EXPECT_EQ(stream(*made(kDocument, kept), "a c2VjcmV0IHNlY3JldA== b secret AKIA"), good);
    EXPECT_EQ(kept.compiled, 1) << size;
    EXPECT_EQ(image, whole);
  }
  image = whole + "x";
  kept.compiled = 0;
  made(kDocument, kept);
  EXPECT_EQ(kept.compiled, 1);
}

// GR-11
TEST(PatternCache, AnImageOfAnotherDocumentIsNotTaken) {
  Kept kept;
  made(kDocument, kept);
  kept.planted = kept.images.begin()->second;
  for (
      const char* const other :
      {R"({"checks":[{"type":"regex","stage":"output","patterns":["a"]}]})",
       R"({"mode":"advisory","checks":[{"type":"regex","stage":"output","patterns":["AKIA[A-Z0-9]{16}","\\bkey\\b.*"]}]})"}) {
    kept.compiled = 0;
    made(other, kept);
    EXPECT_EQ(kept.compiled, 1) << other;
  }
  EXPECT_EQ(kept.images.size(), 3u);  // each has a name of its own
}

// GR-11
TEST(PatternCache, AnImageNeverLeadsOutsideOfItself) {
  Kept kept;
  made(kDocument, kept);
  const std::string whole = kept.images.begin()->second;
  Random random(7);
  for (int round = 0; round < test::rounds(500); ++round) {
    std::string& image = kept.planted.emplace(whole);
    for (std::size_t left = 1 + below(random, 3); left > 0; --left) {
      image[below(random, image.size())] = static_cast<char>(below(random, 256));
    }
    // Accepted or not: nothing is read out of bounds (the sanitizers check that).
    (void)stream(*made(kDocument, kept), "a secret key AKIAIOSFODNN7EXAMPLE", {3, 9});
  }
}

// GR-11
TEST(PatternCache, ARefusedDocumentIsNotKept) {
  const Kept kept;
  const auto refused = Guardrails::compile(
      *read_document(document_of({R"x("type":"regex","stage":"output","patterns":["(?=a)"])x"})), 1,
      &kept);
  EXPECT_FALSE(refused);
  EXPECT_TRUE(kept.images.empty());
}

// GR-11 GR-83 (the time itself is shown by `make bench`)
TEST(PatternCache, TheLargestDocumentIsKeptWhole) {
  std::vector<std::string> checks;
  for (int check = 0; check < 64; ++check) {
    std::string patterns;
    for (int i = 0; i < 64; ++i) {
      patterns += (i ? ",\"(?i)order " : "\"(?i)order ") + std::to_string(check * 64 + i) + "x\"";
    }
    checks.push_back(R"("type":"regex","stage":"output","patterns":[)" + patterns + "]");
  }
  const Kept kept;
  const std::string document = document_of(checks);
  made(document, kept);
  const auto again = made(document, kept);
  EXPECT_EQ(kept.compiled, 1);
  EXPECT_EQ(again->report().patterns, 4096u);
  EXPECT_EQ(stream(*again, "my Order 4095X").block->check_index, 63u);
}

}  // namespace sallyport::guardrails
