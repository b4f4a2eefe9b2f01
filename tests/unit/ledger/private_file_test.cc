#include "ledger/secret/private_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>

#include "ledger/secret/key_folder.h"
#include "support/ledger_checks.h"

namespace sallyport::ledger {
namespace {

using test::TempFolder;

unsigned mode_of(const std::filesystem::path& path) {
  struct stat status{};
  EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

// LE-25
TEST(PrivateFileTest, FilesAndFoldersAreNeverWiderThanTheirOwner) {
  const TempFolder folder;
  const mode_t before = umask(0);
  ASSERT_TRUE(make_private_folder(folder / "keys"));
  EXPECT_EQ(mode_of(folder / "keys"), 0700u);
  ASSERT_TRUE(create_private_file(folder / "a", "one"));
  ASSERT_TRUE(replace_private_file(folder / "b", "two"));
  umask(before);
  EXPECT_EQ(mode_of(folder / "a"), 0600u);
  EXPECT_EQ(mode_of(folder / "b"), 0600u);
}

// LE-25
TEST(PrivateFileTest, AFileThatOthersCanReadIsRefusedAndTheMessageSaysWhatToChange) {
  const TempFolder folder;
  ASSERT_TRUE(create_private_file(folder / "a", "one"));
  for (const mode_t mode : {0640, 0604, 0660, 0610}) {
    chmod((folder / "a").c_str(), mode);
    const auto read = read_private_file(folder / "a");
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().message.find("chmod 0600"), std::string::npos) << read.error().message;
  }
  chmod((folder / "a").c_str(), 0600);
  EXPECT_EQ(*read_private_file(folder / "a"), "one");
  ASSERT_TRUE(make_private_folder(folder / "keys"));
  chmod((folder / "keys").c_str(), 0750);
  ASSERT_TRUE(make_private_folder(folder / "keys")) << "an empty one is closed";
  ASSERT_TRUE(create_private_file(folder / "keys" / "a", "one"));
  chmod((folder / "keys").c_str(), 0750);
  const auto made = make_private_folder(folder / "keys");
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("chmod 0700"), std::string::npos) << made.error().message;
}

// LE-25
TEST(PrivateFileTest, AFileOfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const TempFolder folder;
  ASSERT_TRUE(create_private_file(folder / "a", "one"));
  ASSERT_EQ(chown((folder / "a").c_str(), 12345, 12345), 0);
  const auto read = read_private_file(folder / "a");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().cause, "not_owner");
}

TEST(PrivateFileTest, CreatingNeverOverwritesAndReplacingAlwaysDoes) {
  const TempFolder folder;
  EXPECT_TRUE(*create_private_file(folder / "a", "one"));
  EXPECT_FALSE(*create_private_file(folder / "a", "two"));
  EXPECT_EQ(*read_private_file(folder / "a"), "one");
  ASSERT_TRUE(replace_private_file(folder / "a", "three"));
  EXPECT_EQ(*read_private_file(folder / "a"), "three");
  EXPECT_EQ(*read_private_file(folder / "b"), std::nullopt);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(PrivateFileTest, LinksHugeFilesAndFoldersInAFilesPlaceAreRefused) {
  const TempFolder folder;
  ASSERT_TRUE(create_private_file(folder / "a", "one"));
  std::filesystem::create_symlink(folder / "a", folder / "link");
  EXPECT_FALSE(read_private_file(folder / "link"));
  ASSERT_TRUE(create_private_file(folder / "huge", std::string(70'000, 'x')));
  EXPECT_FALSE(read_private_file(folder / "huge"));
  std::filesystem::create_directory(folder / "folder");
  EXPECT_FALSE(read_private_file(folder / "folder"));
  EXPECT_FALSE(replace_private_file(folder / "folder", "x"));
  EXPECT_FALSE(make_private_folder(folder / "a"));
}

std::string rest_of(std::ifstream& file) {
  return {std::istreambuf_iterator<char>(file), {}};
}

// LE-26: the old bytes are overwritten, not only unlinked.
TEST(PrivateFileTest, RemovingAndSupersedingOverwriteWhatWasThere) {
  const TempFolder folder;
  for (const bool superseded : {false, true}) {
    ASSERT_TRUE(replace_private_file(folder / "key", "secret seed"));
    std::ifstream seen(folder / "key");
    if (superseded) {
      ASSERT_TRUE(create_private_file(folder / "next", "new seed"));
      ASSERT_TRUE(supersede_private_file(folder / "next", folder / "key"));
      EXPECT_EQ(*read_private_file(folder / "key"), "new seed");
      EXPECT_FALSE(std::filesystem::exists(folder / "next"));
    } else {
      ASSERT_TRUE(remove_private_file(folder / "key"));
      EXPECT_FALSE(std::filesystem::exists(folder / "key"));
    }
    EXPECT_EQ(rest_of(seen), std::string(11, '\0'));
  }
  EXPECT_TRUE(remove_private_file(folder / "never there"));
}

void make_older(const std::filesystem::path& file, std::chrono::minutes age) {
  std::filesystem::last_write_time(file, std::filesystem::file_time_type::clock::now() - age);
}

// A kill between link and unlink once left the live key under two names, and the next start wrote
// zeros through the second name.
// LE-25, LE-41
TEST(PrivateFileTest, ALeftoverThatIsTheLiveFileIsOnlyUnlinked) {
  const TempFolder folder;
  ASSERT_TRUE(create_private_file(folder / "key", "secret seed"));
  std::filesystem::create_hard_link(folder / "key", folder / "key.7.tmp");
  make_older(folder / "key", std::chrono::minutes(11));
  remove_leftovers_of(folder / "key");
  EXPECT_FALSE(std::filesystem::exists(folder / "key.7.tmp"));
  EXPECT_EQ(*read_private_file(folder / "key"), "secret seed");
}

// The authority's key was once not among the files whose leftovers go.
// LE-25
TEST(PrivateFileTest, AStartRemovesTheLeftoversOfEveryKey) {
  const TempFolder folder;
  const auto keys = KeyFolder::open(folder.path());
  ASSERT_TRUE(keys);
  const std::filesystem::path room = folder / "keys";
  for (const char* const name : {"grant-authority.key", "signing.key.next", "local.token"}) {
    ASSERT_TRUE(create_private_file(room / name, "x"));
    ASSERT_TRUE(create_private_file(room / (std::string(name) + ".7.tmp"), "x"));
    make_older(room / (std::string(name) + ".7.tmp"), std::chrono::minutes(11));
  }
  keys->remove_leftovers();
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(room), {}), 3);
}

TEST(PrivateFileTest, OnlyOldLeftoversOfThisFileAreRemoved) {
  using namespace std::chrono_literals;
  const TempFolder folder;
  const std::vector<std::string> names = {
      "key.7.tmp", "key.12345.tmp", "key.8.tmp",   "key.x7.tmp", "key..tmp",
      "key.tmp",   "key.7.old",     "other.7.tmp", "key.7x.tmp", "key"};
  for (const std::string& name : names) {
    ASSERT_TRUE(create_private_file(folder / name, "x"));
    make_older(folder / name, name == "key.8.tmp" ? 9min : 11min);
  }
  remove_leftovers_of(folder / "key");
  for (const std::string& name : names) {
    const bool gone = name == "key.7.tmp" || name == "key.12345.tmp";
    EXPECT_EQ(std::filesystem::exists(folder / name), !gone) << name;
  }
}

// A key was once lost when two processes finished one rotation: the second removed the file that
// the first had just put in place.
TEST(PrivateFileTest, SupersedingTwiceKeepsTheNewFile) {
  const TempFolder folder;
  ASSERT_TRUE(create_private_file(folder / "key", "old"));
  ASSERT_TRUE(create_private_file(folder / "next", "new"));
  ASSERT_TRUE(supersede_private_file(folder / "next", folder / "key"));
  EXPECT_FALSE(supersede_private_file(folder / "next", folder / "key"));
  EXPECT_EQ(*read_private_file(folder / "key"), "new");
}

}  // namespace
}  // namespace sallyport::ledger
