// The programs that may decide for a gate (RU-68).
#include "external/program_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/temp_folder.h"

namespace sallyport::external {
namespace {

using std::filesystem::perms;
using testing::HasSubstr;

class ProgramCheckTest : public testing::Test {
 protected:
  std::string program(const std::string& name, perms mode,
                      const std::string& text = "#!/bin/sh\n") {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path) << text;
    std::filesystem::permissions(path, mode);
    return path.string();
  }
  static std::string why(const Result<void>& checked) {
    return checked ? "" : checked.error().message;
  }

  test::TempFolder folder_;
};

// RU-68
TEST_F(ProgramCheckTest, OnlyItsOwnerMayWriteIt) {
  const std::string path = program("a", perms::owner_all | perms::group_read | perms::others_exec);
  EXPECT_EQ(why(check_program({path}, {})), "");
  std::filesystem::permissions(path, perms::group_write, std::filesystem::perm_options::add);
  EXPECT_THAT(why(check_program({path}, {})), HasSubstr("can be written by other users"));
}

// RU-68
TEST_F(ProgramCheckTest, ItsFoldersAndLinksCountToo) {
  std::filesystem::create_directory(folder_ / "open");
  const std::string path = program("open/a", perms::owner_all);
  EXPECT_EQ(why(check_program({path}, {})), "");
  std::filesystem::create_symlink(path, folder_ / "link");
  EXPECT_EQ(why(check_program({folder_ / "link"}, {})), "");
  EXPECT_THAT(why(check_program({folder_ / "link"}, {folder_ / "open"})),
              HasSubstr("lies in the workspace"));
  std::filesystem::permissions(folder_ / "open", perms::all);
  EXPECT_THAT(why(check_program({folder_ / "link"}, {})), HasSubstr("can be written"));
  EXPECT_THAT(why(check_program({(folder_ / "open/../open/a").string()}, {})),
              HasSubstr("can be written"));
}

// RU-68
TEST_F(ProgramCheckTest, WhatIsNoProgramIsRefused) {
  EXPECT_THAT(why(check_program({"sh"}, {})), HasSubstr("not an absolute path"));
  EXPECT_THAT(why(check_program({folder_.path().string()}, {})), HasSubstr("is not a file"));
  EXPECT_THAT(why(check_program({folder_ / "none"}, {})), HasSubstr("does not exist"));
  const std::string text = program("text", perms::owner_read | perms::owner_write);
  EXPECT_THAT(why(check_program({text}, {})), HasSubstr("cannot be executed"));
  const std::string env = program("env", perms::owner_all, "#!python3\n");
  EXPECT_THAT(why(check_program({env}, {})), HasSubstr("without its absolute path"));
}

// RU-68: a workspace is a folder, not the beginning of a name.
TEST_F(ProgramCheckTest, ANameThatBeginsLikeAWorkspaceLiesInNone) {
  const std::string path = program("work-guard", perms::owner_all);
  EXPECT_EQ(why(check_program({path}, {folder_ / "work"})), "");
  EXPECT_NE(why(check_program({path}, {folder_.path().string() + "/"})), "");
}

}  // namespace
}  // namespace sallyport::external
