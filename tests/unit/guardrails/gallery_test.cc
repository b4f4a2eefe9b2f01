#include "guardrails/document/gallery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sallyport::guardrails {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> ids() {
  std::vector<std::string> ids;
  for (const Preset& preset : gallery()) ids.push_back(preset.id);
  return ids;
}

// GR-69 (partly)
TEST(GalleryTest, HasSixPresetsByName) {
  EXPECT_THAT(ids(), ElementsAre("secrets", "pii", "prompt-injection", "dangerous-shell",
                                 "no-shell", "profanity-starter"));
  EXPECT_EQ(preset("pii"), &gallery()[1]);
  EXPECT_EQ(preset("PII"), nullptr);
  EXPECT_EQ(preset(""), nullptr);
}

// GR-69 (partly)
TEST(GalleryTest, PresetsStandOnTheirStagesWithTheirActions) {
  const auto stands = [](std::string_view id, std::vector<Stage> stages, Action action) {
    EXPECT_EQ(preset(id)->stages, stages) << id;
    EXPECT_EQ(preset(id)->actions, std::vector{action}) << id;
  };
  stands("secrets", {Stage::Output, Stage::ToolOutput}, Action::Redact);
  stands("pii", {Stage::Input, Stage::Output}, Action::Log);
  stands("prompt-injection", {Stage::Input, Stage::ToolOutput}, Action::Log);
  stands("dangerous-shell", {Stage::ToolUse}, Action::Block);
  stands("no-shell", {Stage::ToolUse}, Action::Block);
  stands("profanity-starter", {Stage::Output}, Action::Redact);
  EXPECT_EQ(preset("no-shell")->check_types, std::vector{CheckType::ToolPattern});
  EXPECT_EQ(preset("profanity-starter")->check_types, std::vector{CheckType::Blocklist});
}

// GR-69 (partly)
TEST(GalleryTest, APresetIsADocumentWithNamedChecks) {
  for (const Preset& preset : gallery()) {
    const auto document = read_document(preset.document);
    ASSERT_TRUE(document) << preset.id << ": " << document.error().message;
    EXPECT_EQ(document->config_hash, preset.digest);
    EXPECT_EQ(document->mode, Mode::Active);
    for (const Check& check : document->checks) EXPECT_TRUE(check.id) << preset.id;
  }
}

// GR-69 (partly)
TEST(GalleryTest, TrustMetadataIsComplete) {
  for (const Preset& preset : gallery()) {
    const json::object about = to_json(preset, Locale::English);
    for (const char* const key :
         {"id", "name", "description", "version", "digest", "stages", "check_types", "actions",
          "languages", "deterministic", "data_egress", "known_misses", "known_false_alarms"}) {
      EXPECT_TRUE(about.contains(key)) << preset.id << " " << key;
    }
    EXPECT_EQ(about.size(), 13u);
    EXPECT_EQ(about.at("deterministic"), json::value(true));
    EXPECT_EQ(about.at("data_egress"), json::value("none"));
    EXPECT_EQ(preset.digest.size(), 64u);
    EXPECT_THAT(preset.english.known_misses, Not(IsEmpty()));
    EXPECT_THAT(preset.english.known_false_alarms, Not(IsEmpty()));
  }
  EXPECT_EQ(to_json(*preset("secrets"), Locale::English).at("stages"),
            json::parse(R"(["output","tool_output"])"));
}

// GR-70
TEST(GalleryTest, PresetsAreNamedInBothLanguages) {
  for (const Preset& preset : gallery()) {
    const Preset::Words& english = preset.words(Locale::English);
    const Preset::Words& ukrainian = preset.words(Locale::Ukrainian);
    EXPECT_FALSE(english.name.empty() || english.description.empty()) << preset.id;
    EXPECT_FALSE(ukrainian.name.empty() || ukrainian.description.empty()) << preset.id;
    EXPECT_NE(english.name, ukrainian.name);
    EXPECT_NE(english.description, ukrainian.description);
    EXPECT_EQ(english.known_misses.size(), ukrainian.known_misses.size());
    EXPECT_EQ(to_json(preset, Locale::Ukrainian).at("name"), json::value(ukrainian.name));
    EXPECT_EQ(to_json(preset, Locale::Ukrainian).at("id"), json::value(preset.id));
  }
}

}  // namespace
}  // namespace sallyport::guardrails
