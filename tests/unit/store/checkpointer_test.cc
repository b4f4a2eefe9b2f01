#include "store/sqlite/checkpointer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "base/try.h"
#include "ledger/proof/merkle.h"
#include "store/sqlite/sqlite_store.h"
#include "support/temp_folder.h"

namespace sallyport::store {
namespace {

using ledger::ReadView;
using ledger::WriteView;
using test::TempFolder;
using namespace std::chrono_literals;

constexpr std::uintmax_t kPage = 8192;

// Each commit adds ten new pages and changes a few others.
void write_commits(SqliteStore& store, std::uint64_t& next, int commits) {
  const std::string bytes(7000, 'x');
  for (int i = 0; i < commits; ++i) {
    const auto written = store.write([&](WriteView& view) -> Result<void> {
      for (int row = 0; row < 10; ++row, ++next) {
        SALLYPORT_CHECK_OK(view.insert({next, bytes, ledger::leaf_hash(bytes), "", ""}));
      }
      return {};
    });
    ASSERT_TRUE(written) << written.error().message;
  }
}

class CheckpointerTest : public testing::Test {
 protected:
  CheckpointerTest()
      : store_(SqliteStore::open({.file = folder_ / "ledger.db", .sync = false}).value()) {}

  std::uintmax_t database() const { return std::filesystem::file_size(folder_ / "ledger.db"); }
  std::uintmax_t log() const { return std::filesystem::file_size(folder_ / "ledger.db-wal"); }

  TempFolder folder_;
  std::unique_ptr<SqliteStore> store_;
  std::uint64_t next_ = 0;
};

TEST_F(CheckpointerTest, AShortLogIsLeftAlone) {
  write_commits(*store_, next_, 50);
  std::this_thread::sleep_for(50ms);
  EXPECT_LE(database(), 2 * kPage);
}

TEST_F(CheckpointerTest, ALongLogIsCopiedWhileTheStoreIsOpen) {
  write_commits(*store_, next_, 120);
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while (database() < 500 * kPage && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_GE(database(), 500 * kPage);
}

TEST_F(CheckpointerTest, TheLogOfAStoreThatIsAlwaysWrittenToHasALimit) {
  write_commits(*store_, next_, 1500);
  EXPECT_LT(log(), 5000 * kPage);
  EXPECT_GE(database(), 10000 * kPage);
}

// LE-63
TEST_F(CheckpointerTest, AReaderKeepsItsSnapshotAndHoldsNobodyUp) {
  write_commits(*store_, next_, 1);
  ASSERT_TRUE(store_->read([&](ReadView& view) -> Result<void> {
    EXPECT_EQ(*view.size(), 10u);
    write_commits(*store_, next_, 500);
    EXPECT_EQ(*view.size(), 10u);
    return {};
  }));
  ASSERT_TRUE(store_->read([&](ReadView& view) -> Result<void> {
    EXPECT_EQ(*view.size(), 5010u);
    return {};
  }));
}

// LE-58
TEST_F(CheckpointerTest, ScrubbingComesAfterACopyThatIsUnderWay) {
  for (int round = 0; round < 5; ++round) {
    write_commits(*store_, next_, 120);
    const auto scrubbed = store_->scrub();
    ASSERT_TRUE(scrubbed) << scrubbed.error().message;
    EXPECT_EQ(log(), 0u);
  }
}

// LE-41, LE-53: a reader of the log does not see data that is written ahead.
TEST(CheckpointerLogTest, WhoeverGoesOnWritingGetsALogOfFullLengthThatReadsAsBefore) {
  constexpr std::uintmax_t kFull = 9u << 20;
  TempFolder folder;
  TempFolder copied;
  std::uint64_t next = 0;
  const auto log = [&] { return std::filesystem::file_size(folder / "ledger.db-wal"); };
  const auto store = SqliteStore::open({.file = folder / "ledger.db"}).value();
  write_commits(*store, next, 2);
  EXPECT_LT(log(), 100 * kPage);
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  while (log() < kFull && std::chrono::steady_clock::now() < deadline) {
    write_commits(*store, next, 1);
  }
  EXPECT_GE(log(), kFull);
  write_commits(*store, next, 3);
  // The state after a crash: the files unchanged, without the memory that the processes shared.
  for (const char* const name : {"ledger.db", "ledger.db-wal"}) {
    std::filesystem::copy_file(folder / name, copied / name);
  }
  const auto after = SqliteStore::open({.file = copied / "ledger.db"}).value();
  EXPECT_TRUE(after->check_files());
  ASSERT_TRUE(after->read([&](ReadView& view) -> Result<void> {
    EXPECT_EQ(*view.size(), next);
    return {};
  }));
}

TEST(CheckpointerLogTest, AFewCommitsLeaveTheLogShort) {
  TempFolder folder;
  std::uint64_t next = 0;
  const auto store = SqliteStore::open({.file = folder / "ledger.db"}).value();
  write_commits(*store, next, 5);
  std::this_thread::sleep_for(20ms);
  EXPECT_LT(std::filesystem::file_size(folder / "ledger.db-wal"), 100 * kPage);
}

}  // namespace
}  // namespace sallyport::store
