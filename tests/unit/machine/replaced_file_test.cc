#include "machine/replaced_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "support/temp_folder.h"

namespace sallyport::app {
namespace {

namespace fs = std::filesystem;

class ReplacedFileTest : public testing::Test {
 protected:
  std::string text() const {
    std::ostringstream text;
    text << std::ifstream(file_).rdbuf();
    return text.str();
  }
  mode_t mode() const {
    struct stat status{};
    EXPECT_EQ(::stat(file_.c_str(), &status), 0);
    return status.st_mode & 07777;
  }
  std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(file_.parent_path()), fs::directory_iterator());
  }

  test::TempFolder folder_;
  fs::path file_ = folder_.path() / "below" / "settings.json";
};

TEST_F(ReplacedFileTest, ANewFileIsForItsOwnerAndALaterOneKeepsItsMode) {
  ASSERT_TRUE(replace_file(file_, "one"));
  EXPECT_EQ(mode(), 0600u);
  ::chmod(file_.c_str(), 0640);
  ASSERT_TRUE(replace_file(file_, "two"));
  EXPECT_EQ(text(), "two");
  EXPECT_EQ(mode(), 0640u);
  EXPECT_EQ(files(), 1);
}

TEST_F(ReplacedFileTest, OwnerAndModeCanBeGiven) {
  ASSERT_TRUE(replace_file(file_, "one"));
  const FileAccess access{.mode = 0644, .owner = ::geteuid(), .group = ::getegid()};
  ASSERT_TRUE(replace_file(file_, "two", access));
  EXPECT_EQ(mode(), 0644u);
}

// A failed write of the system set-up left its new file behind.
TEST_F(ReplacedFileTest, AFailureLeavesNothingBehind) {
  fs::create_directories(file_ / "a folder with this name");
  const Result<void> done = replace_file(file_, "text");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::Unavailable);
  EXPECT_EQ(files(), 1);
  EXPECT_TRUE(fs::is_directory(file_));
}

}  // namespace
}  // namespace sallyport::app
