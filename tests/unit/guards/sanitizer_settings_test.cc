#include "guards/redact/sanitizer_settings.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sallyport::guards {
namespace {

// Returns the position of the first mistake, or "".
std::string refused_at(std::string_view settings) {
  const auto read = sanitizer_settings_from_json(json::parse(settings));
  return read ? "" : read.error().where;
}

std::string deny_entries(std::size_t count) {
  json::array entries;
  for (std::size_t i = 0; i < count; ++i) {
    entries.push_back(json::object{{"name", "n" + std::to_string(i)}, {"text", "x"}});
  }
  return json::serialize(json::object{{"deny", entries}});
}

// PI-68
TEST(SanitizerSettingsTest, AValueOfTheWrongTypeIsRefusedAtItsPlace) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"categories":[]})", "categories"},
      {R"({"categories":{"pii":1}})", "categories.pii"},
      {R"({"detectors":{"email":1}})", "detectors.email"},
      {R"({"strategies":{"secret":7}})", "strategies.secret"},
      {R"({"deny":{}})", "deny"},
      {R"({"deny":[7]})", "deny[0]"},
      {R"({"deny":[{"text":"x"}]})", "deny[0].name"},
      {R"({"deny":[{"name":7,"text":"x"}]})", "deny[0].name"},
      {R"({"deny":[{"name":"","text":"x"}]})", "deny[0].name"},
      {R"({"deny":[{"name":"a","text":7}]})", "deny[0].text"},
      {R"({"deny":[{"name":"a"}]})", "deny[0]"},
      {R"({"allow":[{"text":"x","name":"a"}]})", "allow[0].name"},
      {R"({"max_string_bytes":-1})", "max_string_bytes"},
      {R"({"max_total_bytes":1073741825})", "max_total_bytes"},
      {R"({"max_total_bytes":1073741824})", ""},
      {R"({"categories":{"pii":true},"strategies":{"email":"mask"}})", ""},
      {R"({"allow":[{"pattern":"x"}],"deny":[{"name":"a","text":"x"}]})", ""},
      {"{}", ""},
  };
  for (const auto& [settings, place] : cases) EXPECT_EQ(refused_at(settings), place) << settings;
  EXPECT_NE(refused_at("[]"), "categories");
  EXPECT_FALSE(sanitizer_settings_from_json(json::array{}));
}

// PI-63, PI-68
TEST(SanitizerSettingsTest, NamesAndListsHaveTheirLimits) {
  const auto named = [](const std::string& name) {
    return refused_at(R"({"deny":[{"name":")" + name + R"(","text":"x"}]})");
  };
  EXPECT_EQ(named(std::string(40, 'a')), "");
  EXPECT_EQ(named(std::string(41, 'a')), "deny[0].name");
  EXPECT_EQ(named("a_9"), "");
  EXPECT_EQ(named("a-9"), "deny[0].name");
  EXPECT_EQ(refused_at(deny_entries(128)), "");
  EXPECT_EQ(refused_at(deny_entries(129)), "deny");
}

// PI-55, PI-68
TEST(SanitizerSettingsTest, WhatIsSaidIsWhatIsDone) {
  const auto settings = sanitizer_settings_from_json(json::parse(
      R"({"categories":{"secret":false,"pii":true},"detectors":{"iban":false,"private_ip":true},
          "strategies":{"email":"drop","pii":"keep","custom:b":"fingerprint"},
          "deny":[{"name":"a","text":"x"},{"name":"b","pattern":"y+"}],"allow":[{"text":"z"}],
          "max_string_bytes":5,"max_total_bytes":6})"));
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(json::serialize(settings->to_json()),
            R"({"detectors":{"us_ssn":"keep","credit_card":"keep","email":"drop",)"
            R"("phone_e164":"keep","private_ip":"type_label"},"allow":[{"text":"z"}],)"
            R"("deny":[{"text":"x","name":"a","strategy":"mask"},)"
            R"({"pattern":"y+","name":"b","strategy":"fingerprint"}],)"
            R"("max_string_bytes":5,"max_total_bytes":6})");
  EXPECT_EQ(settings->name_of(custom_detector(1)), "custom:b");
  EXPECT_EQ(settings->strategy_of(custom_detector(1)), Strategy::Fingerprint);
  EXPECT_EQ(settings->name_of(Detector::HighEntropy), "high_entropy");
}

}  // namespace
}  // namespace sallyport::guards
