#include "ledger/write/reserve.h"

#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "support/temp_folder.h"

namespace sallyport::ledger {
namespace {

std::string cause_of(const std::filesystem::path& file, std::uint64_t bytes = 4096) {
  Reserve reserve(file, bytes);
  const Result<void> kept = reserve.keep();
  EXPECT_EQ(reserve.kept(), kept.has_value());
  EXPECT_EQ(std::filesystem::exists(file), kept.has_value());
  return kept ? "" : kept.error().cause;
}

TEST(ReserveTest, ItIsThereUntilItIsGivenUp) {
  const test::TempFolder folder;
  Reserve reserve(folder / "reserve", 4096);
  EXPECT_FALSE(reserve.kept());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(reserve.keep());
  EXPECT_TRUE(reserve.kept());
  EXPECT_EQ(std::filesystem::file_size(folder / "reserve"), 4096u);
  reserve.give_up();
  EXPECT_FALSE(reserve.kept());
  EXPECT_FALSE(std::filesystem::exists(folder / "reserve"));
}

TEST(ReserveTest, NoBytesNeedNoFile) {
  const test::TempFolder folder;
  Reserve none(folder / "reserve", 0);
  EXPECT_TRUE(none.kept());
  EXPECT_TRUE(none.keep());
  EXPECT_FALSE(std::filesystem::exists(folder / "reserve"));
}

TEST(ReserveTest, WithoutItsFolderThereIsAnErrorOfTheDisk) {
  const test::TempFolder folder;
  EXPECT_EQ(cause_of(folder / "none" / "reserve"), "io");
}

TEST(ReserveTest, WhoMayNotWriteIsToldSo) {
  const test::TempFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::none);
  const uid_t self = geteuid();
  if (self == 0) ASSERT_EQ(seteuid(65534), 0);
  Reserve reserve(folder / "reserve", 4096);
  const Result<void> kept = reserve.keep();
  if (self == 0) ASSERT_EQ(seteuid(self), 0);
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().cause, "not_owner");
}

// LE-75 (partly)
TEST(ReserveTest, MoreThanTheDiskHasIsNoSpace) {
  const std::filesystem::path memory = "/dev/shm";
  struct statfs system{};
  if (statfs(memory.c_str(), &system) != 0 || system.f_type != TMPFS_MAGIC) {
    GTEST_SKIP() << "there is no file system in memory, which refuses at once";
  }
  EXPECT_EQ(cause_of(memory / ("reserve-" + std::to_string(getpid())), 1ull << 50), "no_space");
}

}  // namespace
}  // namespace sallyport::ledger
