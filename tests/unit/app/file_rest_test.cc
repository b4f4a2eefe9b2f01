#include "app/watch/file_rest.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/temp_folder.h"

namespace sallyport::app {
namespace {

class FileRestTest : public testing::Test {
 protected:
  FileRestTest() {
    write("one");
    rest_.know(now());
  }
  // Each text has its own length, because clocks of file systems tick slowly.
  void write(const std::string& text) const { std::ofstream(file_) << text; }
  FileRest::States now() const { return FileRest::of({file_}); }

  test::TempFolder folder_;
  std::filesystem::path file_ = folder_.path() / "policy.yaml";
  FileRest rest_;
};

// A half-written policy was read, and its refusal was recorded.
TEST_F(FileRestTest, AFileThatIsBeingWrittenIsNoChangeUntilItRests) {
  EXPECT_FALSE(rest_.changed(now()));
  write("half-written");
  EXPECT_FALSE(rest_.changed(now()));
  write("written in whole");
  EXPECT_FALSE(rest_.changed(now()));
  EXPECT_TRUE(rest_.changed(now()));
}

TEST_F(FileRestTest, AStateThatIsKnownIsNoChange) {
  write("three");
  rest_.know(now());
  EXPECT_FALSE(rest_.changed(now()));
  EXPECT_FALSE(rest_.changed(now()));
}

TEST_F(FileRestTest, AFileThatIsGoneIsNoChangeAndItsReturnIsOne) {
  std::filesystem::rename(file_, folder_.path() / "aside");
  EXPECT_FALSE(rest_.changed(now()));
  EXPECT_FALSE(rest_.changed(now()));
  EXPECT_FALSE(rest_.there());
  write("four letters");
  EXPECT_FALSE(rest_.changed(now()));
  EXPECT_TRUE(rest_.there());
  EXPECT_TRUE(rest_.changed(now()));
}

// One file replaces another of the same size and time.
TEST_F(FileRestTest, AnotherFileOfTheSameSizeAndTimeIsAChange) {
  const std::filesystem::path other = folder_.path() / "other";
  std::ofstream(other) << "two";
  std::filesystem::last_write_time(other, std::filesystem::last_write_time(file_));
  std::filesystem::rename(other, file_);
  EXPECT_FALSE(rest_.changed(now()));
  EXPECT_TRUE(rest_.changed(now()));
}

}  // namespace
}  // namespace sallyport::app
