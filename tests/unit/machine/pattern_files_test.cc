#include "machine/pattern_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "support/temp_folder.h"

namespace sallyport::app {
namespace {

class PatternFilesTest : public testing::Test {
 protected:
  PatternFiles files() { return {folder / "cache", entropy}; }
  std::filesystem::path file(const std::string& digest) {
    return folder.path() / "cache" / (digest + ".patterns");
  }
  static std::string read(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void write(const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }

  test::TempFolder folder;
  SystemEntropy entropy;
};

// GR-11
TEST_F(PatternFilesTest, WhatIsKeptComesBackAndIsPrivate) {
  const PatternFiles kept = files();
  EXPECT_FALSE(kept.load("d1"));
  kept.keep("d1", std::string("patterns\0of d1", 14));
  EXPECT_EQ(files().load("d1"), std::string("patterns\0of d1", 14));
  struct stat status{};
  ASSERT_EQ(::stat(file("d1").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  ASSERT_EQ(::stat((folder / "cache").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

// GR-11
TEST_F(PatternFilesTest, AChangedByteMakesItMissing) {
  const PatternFiles kept = files();
  kept.keep("d1", "patterns");
  const std::string whole = read(file("d1"));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    write(file("d1"), changed);
    EXPECT_FALSE(kept.load("d1")) << i;
  }
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write(file("d1"), whole.substr(0, size));
    EXPECT_FALSE(kept.load("d1")) << size;
  }
  write(file("d1"), whole);
  EXPECT_TRUE(kept.load("d1"));
}

// GR-11
TEST_F(PatternFilesTest, AFileUnderAnotherNameOrFromAnotherFolderIsForeign) {
  const PatternFiles kept = files();
  kept.keep("d1", "patterns of d1");
  std::filesystem::copy_file(file("d1"), file("d2"));
  EXPECT_FALSE(kept.load("d2"));

  test::TempFolder other;
  const PatternFiles elsewhere(other / "cache", entropy);
  elsewhere.keep("d1", "planted");
  std::filesystem::copy_file(other.path() / "cache" / "d1.patterns", file("d1"),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_FALSE(kept.load("d1"));
}

// GR-11
TEST_F(PatternFilesTest, WhatOthersCouldWriteOrWithoutItsSecretIsNotTaken) {
  const PatternFiles kept = files();
  kept.keep("d1", "patterns");
  ::chmod(file("d1").c_str(), 0622);
  EXPECT_FALSE(kept.load("d1"));
  ::chmod(file("d1").c_str(), 0600);
  EXPECT_TRUE(kept.load("d1"));
  write(folder.path() / "cache" / "key", "short");
  EXPECT_FALSE(kept.load("d1"));
  kept.keep("d1", "patterns");
  EXPECT_EQ(kept.load("d1"), "patterns");
}

TEST_F(PatternFilesTest, OnlyTheNewestStay) {
  const PatternFiles kept = files();
  const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  for (std::size_t i = 0; i <= PatternFiles::kMostFiles; ++i) {
    kept.keep("d" + std::to_string(i), "patterns");
    std::filesystem::last_write_time(file("d" + std::to_string(i)),
                                     long_ago + std::chrono::seconds(i));
  }
  kept.keep("newest", "patterns");
  EXPECT_FALSE(kept.load("d0"));
  EXPECT_TRUE(kept.load("newest"));
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "cache")) {
    count += entry.path().extension() == ".patterns" ? 1 : 0;
  }
  EXPECT_EQ(count, PatternFiles::kMostFiles);
}

TEST_F(PatternFilesTest, AFolderThatCannotBeMadeCostsNothing) {
  write(folder.path() / "cache", "a file");
  const PatternFiles kept = files();
  kept.keep("d1", "patterns");
  EXPECT_FALSE(kept.load("d1"));
}

}  // namespace
}  // namespace sallyport::app
