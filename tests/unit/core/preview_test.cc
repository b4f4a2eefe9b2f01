#include "sallyport/preview.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <map>

#include "core/result/call_preview.h"

namespace sallyport {
namespace {

constexpr std::string_view kFull =
    R"({"approval_category":"Filesystem","capabilities":["FilesystemWrite",{"Custom":"crm.read"}],)"
    R"("durability":"ReplaySafe","execution_category":"ExclusiveLocalMutation",)"
    R"("raw_input":{"path":"a"},"side_effect_level":"LocalState",)"
    R"("structured_input":{"path":"/w/a"},"working_directory":"/w"})";

json::object full() {
  return parse_own_json(kFull)->as_object();
}

Error refusal(const json::value& value) {
  const Result<Preview> preview = preview_from_json(value);
  EXPECT_FALSE(preview) << json::serialize(value);
  return preview ? Error{} : preview.error();
}

// EV-84
TEST(PreviewTest, APreviewIsReadAndWrittenByteForByte) {
  const Result<Preview> preview = preview_from_json(*parse_own_json(kFull));
  ASSERT_TRUE(preview) << preview.error().message;
  EXPECT_EQ(preview->working_directory, "/w");
  const std::vector<Capability> capabilities = {{Capability::FilesystemWrite},
                                                Capability::custom("crm.read")};
  EXPECT_EQ(preview->capabilities, capabilities);
  EXPECT_EQ(preview->side_effect_level, SideEffectLevel::LocalState);
  EXPECT_EQ(preview->durability, Durability::ReplaySafe);
  EXPECT_EQ(preview->execution_category, ExecutionCategory::ExclusiveLocalMutation);
  EXPECT_EQ(preview->approval_category, ApprovalCategory::Filesystem);
  EXPECT_EQ(canonical_json(to_json(*preview)), kFull);
}

// EV-84
TEST(PreviewTest, EachWordOfEachListIsAcceptedAndNoOther) {
  const std::map<std::string, std::vector<std::string>> lists = {
      {"side_effect_level", {"None", "LocalState", "Process", "External"}},
      {"durability", {"Ephemeral", "Persistent", "ReplaySafe"}},
      {"execution_category",
       {"ReadOnlyParallel", "ExclusiveLocalMutation", "ExclusivePersistentMutation",
        "BackgroundJob", "Delegation"}},
      {"approval_category",
       {"Default", "ReadOnly", "Filesystem", "Process", "Background", "Delegation"}}};
  for (const auto& [field, words] : lists) {
    json::object value = full();
    for (const std::string& word : words) {
      value[field] = word;
      const Result<Preview> preview = preview_from_json(value);
      ASSERT_TRUE(preview) << word << preview.error().message;
      EXPECT_EQ(to_json(*preview).at(field), json::value(word));
    }
    value[field] = "Sideways";
    const Error error = refusal(value);
    EXPECT_EQ(error.where, "preview." + field);
    EXPECT_NE(error.message.find("`Sideways`"), std::string::npos);
    for (const std::string& word : words) {
      EXPECT_NE(error.message.find("`" + word + "`"), std::string::npos) << error.message;
    }
    value[field] = "none";
    refusal(value);
  }
}

// EV-84
TEST(PreviewTest, EachCapabilityIsReadAndWritten) {
  const json::value all = *parse_own_json(
      R"(["ReadOnly","FilesystemRead","FilesystemWrite","ProcessExec","BackgroundExec",)"
      R"("TaskMutation","TeamCoordination","Delegation","ContextCompaction","SkillLoad",)"
      R"({"Custom":""}])");
  json::object value = full();
  value["capabilities"] = all;
  const Result<Preview> preview = preview_from_json(value);
  ASSERT_TRUE(preview) << preview.error().message;
  EXPECT_EQ(to_json(*preview).at("capabilities"), all);
}

// EV-84 EV-109
TEST(PreviewTest, ACapabilityOutsideTheListIsRefusedByItsPlace) {
  for (const json::value& bad : std::initializer_list<json::value>{"Custom", "Fly", 7, nullptr,
                                                                   json::object{{"custom", "x"}},
                                                                   json::object{{"Custom", 1}}}) {
    json::object value = full();
    value["capabilities"] = json::array{"ReadOnly", bad};
    EXPECT_TRUE(refusal(value).where.starts_with("preview.capabilities[1]"))
        << json::serialize(bad);
  }
}

// EV-109
TEST(PreviewTest, EachMissingFieldIsRefusedByName) {
  const json::object good = full();
  for (const auto& member : good) {
    json::object broken = good;
    broken.erase(member.key());
    EXPECT_EQ(refusal(broken).where, "preview." + std::string(member.key()));
  }
}

// EV-109
TEST(PreviewTest, EachFieldOfAWrongTypeIsRefusedByName) {
  const json::object good = full();
  for (const auto& member : good) {
    if (member.key().ends_with("_input")) continue;
    json::object broken = good;
    broken[member.key()] = 7;
    EXPECT_EQ(refusal(broken).where, "preview." + std::string(member.key()));
  }
}

// EV-110
TEST(PreviewTest, InputsThatNoLedgerCanHoldAreRefusedByName) {
  for (const std::string field : {"raw_input", "structured_input"}) {
    for (const json::value& bad : std::initializer_list<json::value>{
             9007199254740992, -9007199254740992, std::uint64_t{18446744073709551615u}, 1e20,
             "\xff", "\xed\xa0\x80"}) {
      json::object broken = full();
      broken[field] = {{"deep", {1, bad}}};
      EXPECT_EQ(refusal(broken).where, "preview." + field) << json::serialize(bad);
    }
    json::object fine = full();
    fine[field] = {9007199254740991, -9007199254740991, 1e21, 0.5, nullptr};
    EXPECT_TRUE(preview_from_json(fine));
    fine[field] = nullptr;
    EXPECT_TRUE(preview_from_json(fine));
  }
}

// EV-85
TEST(PreviewTest, AnUnclassifiedToolMayDoAnythingAndForGood) {
  EXPECT_EQ(canonical_json(to_json(Preview::unclassified())),
            R"({"approval_category":"Default","capabilities":[],"durability":"Persistent",)"
            R"("execution_category":"ExclusivePersistentMutation","raw_input":null,)"
            R"("side_effect_level":"External","structured_input":null,"working_directory":""})");
}

// EV-84: a push leaves the machine, with any class in its record.
TEST(PreviewTest, APushIsExternal) {
  const auto level = [](const char* tool, const char* effect_class) {
    const Call call{.tool = tool};
    return core::preview_of(call, {.tier = Tier::Confirm, .effect_class = effect_class}, "/w")
        .side_effect_level;
  };
  EXPECT_EQ(level("git.push", "git.write"), SideEffectLevel::External);
  EXPECT_EQ(level("git_push", "git.write"), SideEffectLevel::External);
  EXPECT_EQ(level("publish", "git.push"), SideEffectLevel::External);
  EXPECT_EQ(level("git_commit", "git.write"), SideEffectLevel::LocalState);
}

}  // namespace
}  // namespace sallyport
