// Every preset of the gallery, compiled and run over its own cases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "guardrails/document/case_runner.h"
#include "guardrails/document/gallery.h"
#include "unit/guardrails/running.h"

namespace sallyport::guardrails {
namespace {

std::vector<std::string> names_of(const std::vector<Case>& cases) {
  std::vector<std::string> names;
  for (const Case& one : cases) names.push_back(one.name);
  return names;
}

class GalleryCasesTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const Preset* const found = preset(GetParam());
    ASSERT_NE(found, nullptr);
    guardrails_ = compiled(found->document);
    ASSERT_NE(guardrails_, nullptr);
    auto cases = read_cases(parse_json(found->cases)->value);
    ASSERT_TRUE(cases) << cases.error().where << ": " << cases.error().message;
    cases_ = std::move(*cases);
  }

  std::shared_ptr<const Guardrails> guardrails_;
  std::vector<Case> cases_;
};

// GR-69
TEST_P(GalleryCasesTest, EveryCaseOfThePresetPasses) {
  ASSERT_GE(cases_.size(), 5u);
  EXPECT_THAT(names_of(cases_), testing::Each(testing::Not(testing::IsEmpty())));
  const std::vector<CaseResult> results = run_cases(*guardrails_, cases_);
  ASSERT_EQ(results.size(), cases_.size());
  for (const CaseResult& result : results) EXPECT_EQ(result.problem, "") << result.name;
}

// GR-51 (partly) GR-68 (partly) GR-69 (partly)
TEST_P(GalleryCasesTest, TextThatComesByteByByteIsRedactedTheSame) {
  for (const Case& one : cases_) {
    if (one.stage == Stage::ToolUse || one.verdict == Verdict::Block) continue;
    for (const std::string& text : one.texts) {
      const SeenOfStream seen =
          stream(*guardrails_, text, every_byte(text), one.stage, one.tool.value_or("any"));
      EXPECT_FALSE(seen.block) << one.name;
      EXPECT_EQ(seen.text, one.text.value_or(text)) << one.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, GalleryCasesTest,
                         testing::Values("secrets", "pii", "prompt-injection", "dangerous-shell",
                                         "no-shell", "profanity-starter"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace sallyport::guardrails
