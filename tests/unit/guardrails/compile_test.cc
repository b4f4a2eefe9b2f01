#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "unit/guardrails/running.h"

namespace sallyport::guardrails {

namespace {

DocumentError refused(const std::string& text) {
  const auto document = read_document(std::string_view(text));
  if (!document) {
    ADD_FAILURE() << document.error().message;
    return document.error();
  }
  const auto made = Guardrails::compile(*document);
  if (made) ADD_FAILURE() << "was compiled: " << text;
  return made ? DocumentError{} : made.error();
}

std::string detail_of(const std::string& pattern, const std::string& more = "") {
  return refused(document_of(
                     {R"("type":"regex","stage":"output","patterns":[")" + pattern + "\"]" + more}))
      .detail.value_or("none");
}

}  // namespace

// GR-6 GR-7
TEST(Compile, TheFirstBadPatternIsNamed) {
  const DocumentError error = refused(document_of(
      {R"("type":"blocklist","stage":"output","words":["("])",
       R"-("type":"regex","stage":"output","id":"r","patterns":["ok","(?=x)"],"except":["("])-",
       R"("type":"regex","stage":"input","patterns":["("])"}));
  EXPECT_EQ(error.code, "invalid_regex");
  EXPECT_EQ(error.detail, "look_around");
  EXPECT_EQ(error.check, "r");
  EXPECT_EQ(error.check_index, 1u);
  EXPECT_EQ(error.path, "/checks/1/patterns/1");
  EXPECT_THAT(error.message, testing::StartsWith("check 'r'"));
  EXPECT_THAT(error.message, testing::HasSubstr("(?=x)"));
  const DocumentError exception = refused(
      document_of({R"("type":"regex","stage":"output","patterns":["a"],"except":["a","b("])"}));
  EXPECT_EQ(exception.path, "/checks/0/except/1");
  EXPECT_EQ(exception.detail, "syntax");
  EXPECT_EQ(exception.check, "regex#0");
}

// GR-24 GR-87
TEST(Compile, EachRefusalHasItsDetail) {
  EXPECT_EQ(detail_of("a("), "syntax");
  EXPECT_EQ(detail_of("\\\\u{41}"), "syntax");
  EXPECT_EQ(detail_of("(?<!a)b"), "look_around");
  EXPECT_EQ(detail_of("(a)\\\\1"), "back_reference");
  EXPECT_EQ(detail_of("(?>a)"), "atomic");
  EXPECT_EQ(detail_of("a++"), "atomic");
  EXPECT_EQ(detail_of("\\\\R"), "unsupported");
  EXPECT_EQ(detail_of("(*UCP)a"), "unsupported");
  EXPECT_EQ(detail_of("a*"), "empty_match");
  EXPECT_EQ(detail_of("\\\\bfoo", R"(,"unicode":true)"), "unicode_boundary");
  EXPECT_EQ(detail_of("(\\\\w{1,50}){1,50}x"), "too_large");
  EXPECT_EQ(detail_of("x.{0,16000}y"), "too_large");
}

// GR-10 GR-25
TEST(Compile, TheReportNamesUnboundedEntriesAndAsciiClasses) {
  const auto guardrails = guard(
      {R"("type":"regex","stage":"output","id":"a","patterns":["a+","b{9}","\\bc"])",
       R"("type":"regex","stage":"input","id":"b","on_fail":"log","patterns":["a+"],"unicode":false)",
       R"("type":"blocklist","stage":"input","id":"c","words":["x","y"])",
       R"("type":"tool_pattern","stage":"tool_use","tools":["x","y"])",
       R"("type":"regex","stage":"output","id":"d","patterns":["d{64}","d{65}"])"},
      R"("max_hold_bytes":64,)");
  const Report expected{.patterns = 8,
                        .unbounded = {{"a", "a+"}, {"d", "d{65}"}},
                        .ascii_classes = {{"a", "\\bc"}, {"b", "a+"}}};
  EXPECT_EQ(guardrails->report(), expected);
  EXPECT_EQ(to_json(guardrails->report()).at("patterns"), 8);
}

// GR-25
TEST(Compile, ClassesAreUnicodeUnlessAWordEdgeIsAsserted) {
  const auto hits = [](const std::string& pattern, const std::string& more, std::string_view text) {
    const auto guardrails =
        guard({R"("type":"regex","stage":"output","patterns":[")" + pattern + "\"]" + more});
    return !guardrails->evaluate({.stage = Stage::Output, .text = text}).hits.empty();
  };
  EXPECT_TRUE(hits("^\\\\d$", "", "٣"));
  EXPECT_TRUE(hits("^\\\\w$", "", "ж"));
  EXPECT_TRUE(hits("\\\\bfoo", "", "éfoo"));
  EXPECT_FALSE(hits("\\\\d\\\\b", "", "٣"));
  EXPECT_FALSE(hits("\\\\d", R"(,"unicode":false)", "٣"));
  EXPECT_TRUE(hits("(?i)ж", R"(,"unicode":false)", "Ж"));
}

// GR-4 GR-83 (partly)
TEST(Compile, TheLargestDocumentRuns) {
  std::vector<std::string> checks;
  for (int i = 0; i < 64; ++i) {
    std::string list;
    for (int k = 0; k < 64; ++k) {
      list += (k ? ",\"" : "\"") + std::string("w") + std::to_string(i * 64 + k) + "[a-z]{2,9}!\"";
    }
    checks.push_back(R"("type":"regex","stage":"output","patterns":[)" + list + "]");
  }
  const auto guardrails = guard(checks);
  EXPECT_EQ(guardrails->report().patterns, 4096u);
  const SeenOfStream seen = stream(*guardrails, "w7 w4095abc w4095abc!");
  ASSERT_TRUE(seen.block.has_value());
  EXPECT_EQ(seen.block->entry, "w4095[a-z]{2,9}!");
  EXPECT_EQ(seen.block->check_index, 63u);
}

}  // namespace sallyport::guardrails
