#include "guardrails/document/names.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sallyport::guardrails {
namespace {

void expect_both(const Name& english, const Name& ukrainian) {
  EXPECT_FALSE(english.name.empty());
  EXPECT_FALSE(english.description.empty());
  EXPECT_FALSE(ukrainian.name.empty());
  EXPECT_FALSE(ukrainian.description.empty());
  EXPECT_NE(english.name, ukrainian.name);
  EXPECT_NE(english.description, ukrainian.description);
}

template <class E>
void expect_both(E value) {
  expect_both(name_of(value, Locale::English), name_of(value, Locale::Ukrainian));
}

// GR-70
TEST(NamesTest, StagesTypesAndActionsAreNamedInBothLanguages) {
  for (const Stage stage : {Stage::Input, Stage::Output, Stage::ToolUse, Stage::ToolOutput}) {
    expect_both(stage);
  }
  for (const CheckType type : {CheckType::Regex, CheckType::Blocklist, CheckType::ToolPattern}) {
    expect_both(type);
  }
  for (const Action action : {Action::Block, Action::Redact, Action::Log}) expect_both(action);
  EXPECT_EQ(name_of(Stage::ToolUse, Locale::Ukrainian).name, "Виклик інструмента");
  EXPECT_EQ(name_of(Action::Block, Locale::English).name, "Block");
}

// GR-16 (partly) GR-70
TEST(NamesTest, EveryReasonCodeIsNamedInBothLanguages) {
  const json::array english = names_json(Locale::English).at("reason_codes").as_array();
  const json::array ukrainian = names_json(Locale::Ukrainian).at("reason_codes").as_array();
  const std::vector<std::string> codes = {"guardrail.regex",        "guardrail.blocklist",
                                          "guardrail.tool_pattern", "guardrail.holdback_limit",
                                          "guardrail.decode_limit", "guardrail.engine_error"};
  ASSERT_EQ(english.size(), codes.size());
  for (std::size_t i = 0; i < codes.size(); ++i) {
    EXPECT_EQ(english[i].at("code"), json::value(codes[i]));
    EXPECT_EQ(ukrainian[i].at("code"), json::value(codes[i]));
    EXPECT_NE(english[i].at("name"), ukrainian[i].at("name"));
  }
}

// GR-70
TEST(NamesTest, TheCapabilityIsNamedInBothLanguagesWithOneIdAndIcon) {
  const Capability english = capability(Locale::English);
  const Capability ukrainian = capability(Locale::Ukrainian);
  EXPECT_EQ(english.id, ukrainian.id);
  EXPECT_EQ(english.icon, ukrainian.icon);
  EXPECT_NE(english.name, ukrainian.name);
  EXPECT_NE(english.description, ukrainian.description);
  EXPECT_NE(english.category, ukrainian.category);
}

// GR-70
TEST(NamesTest, AnotherLocaleFallsBackToEnglish) {
  EXPECT_EQ(locale_named("en"), Locale::English);
  EXPECT_EQ(locale_named("de"), Locale::English);
  EXPECT_EQ(locale_named(""), Locale::English);
  EXPECT_EQ(locale_named("ukr"), Locale::English);
  EXPECT_EQ(locale_named("uk"), Locale::Ukrainian);
  EXPECT_EQ(locale_named("uk-UA"), Locale::Ukrainian);
  EXPECT_EQ(locale_named("uk_UA.UTF-8"), Locale::Ukrainian);
}

}  // namespace
}  // namespace sallyport::guardrails
