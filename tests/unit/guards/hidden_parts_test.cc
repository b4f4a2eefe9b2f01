#include "core/approval/hidden_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "guards/redact/storage_redactor.h"

namespace sallyport::core {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kToken = "ghp_" + std::string(36, 'a');

std::vector<HiddenPart> hidden(const json::value& input, const std::string& effect_class = "none") {
  static const guards::StorageRedactor redactor(*guards::Detectors::build());
  return hidden_parts(redactor, input, {.effect_class = effect_class});
}

// AP-38
TEST(HiddenPartsTest, EachHasItsPlaceInTheTextAsItWasGiven) {
  const auto parts =
      hidden(json::object{{"command", "a " + kToken + " b jane@example.com c"}, {"note", kToken}});
  EXPECT_THAT(parts, ElementsAre(HiddenPart{"/command", "github_token", 40, 63, 2, true},
                                 HiddenPart{"/command", "email", 16, 63, 45, true},
                                 HiddenPart{"/note", "github_token", 40, 40, 0, false}));
  EXPECT_EQ(parts[0].text(), "`command`: 40 of 63 bytes hidden at byte 2 (github_token)");
  EXPECT_THAT(hidden(json::object{{"command", "ls"}}), IsEmpty());
}

// AP-38
TEST(HiddenPartsTest, AMemberIsHiddenWholeByItsName) {
  EXPECT_THAT(hidden(json::object{{"password", "reboot"}}, "process.exec"),
              ElementsAre(HiddenPart{"/password", "member_name", 6, 6, 0, true}));
}

// AP-38
TEST(HiddenPartsTest, TheyAreReadBackFromWhatWasStored) {
  const auto parts = hidden(json::object{{"argv", json::array{"x", kToken}}});
  const json::value stored = hidden_json(parts);
  EXPECT_EQ(hidden_in(&stored), parts);
  EXPECT_TRUE(any_command(parts));
  EXPECT_THAT(redacted_commands(parts), SizeIs(1));
}

TEST(HiddenPartsTest, ALongListEndsWithTheRestAsOne) {
  json::array many(100, json::value(kToken));
  const auto parts = hidden(json::object{{"items", many}});
  ASSERT_THAT(parts, SizeIs(64));
  EXPECT_EQ(parts.back().bytes, 37u * 40);
  EXPECT_EQ(parts.back().detector, "37 more");
}

// AP-38: an object that declares itself a service account was once hidden with all its members.
TEST(HiddenPartsTest, AnObjectWithOtherMembersIsNoServiceAccount) {
  const auto parts = hidden(
      json::object{{"type", "service_account"}, {"private_key", "x"}, {"command", "reboot"}});
  EXPECT_THAT(parts, ElementsAre(HiddenPart{"/private_key", "member_name", 1, 1, 0, false}));
}

}  // namespace
}  // namespace sallyport::core
