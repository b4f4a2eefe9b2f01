#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "ledger/maintenance.h"
#include "ledger/proof/merkle.h"
#include "ledger/proof/note.h"
#include "ledger/read/export.h"
#include "support/test_ledger.h"

namespace sallyport::ledger {
namespace {

namespace fs = std::filesystem;
using test::TestLedger;
using testing::HasSubstr;
using testing::StartsWith;

Result<void> tiles(TestLedger& ledger, const fs::path& folder) {
  return ledger.store().read([&](ReadView& view) { return export_tiles(view, folder); });
}

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

// LE-65
TEST(TileExportTest, FilesHoldTheHashesAndEntriesOfTheirPlace) {
  TestLedger ledger;
  ledger.open();
  ledger.append_many(598);  // with the two entries of the start: 600
  const fs::path folder = ledger.folder / "tiles";
  const Result<void> done = tiles(ledger, folder);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(fs::file_size(folder / "tile/0/000"), 8192u);
  EXPECT_EQ(fs::file_size(folder / "tile/0/001"), 8192u);
  EXPECT_EQ(fs::file_size(folder / "tile/0/002.p/88"), 88u * 32);
  EXPECT_EQ(fs::file_size(folder / "tile/1/000.p/2"), 2u * 32);
  EXPECT_FALSE(fs::exists(folder / "tile/2"));
  EXPECT_TRUE(fs::exists(folder / "tile/entries/001"));

  const std::string bundle = content(folder / "tile/entries/002.p/88");
  const std::string leaves = content(folder / "tile/0/002.p/88");
  std::size_t at = 0;
  for (std::size_t i = 0; i < 88; ++i) {
    const std::size_t length =
        static_cast<unsigned char>(bundle[at]) * 256u + static_cast<unsigned char>(bundle[at + 1]);
    const Hash leaf = leaf_hash(bundle.substr(at + 2, length));
    EXPECT_EQ(text_of(leaf), leaves.substr(i * 32, 32));
    at += 2 + length;
  }
  EXPECT_EQ(at, bundle.size());
  const Checkpoint state = *Checkpoint::parse(Note::parse(content(folder / "checkpoint"))->text);
  EXPECT_EQ(state.size, 600u);
}

// LE-65
TEST(TileExportTest, TileNumbersAreSplitIntoPathPartsOfThreeDigits) {
  EXPECT_EQ(tile_path("0", 0, 256), "tile/0/000");
  EXPECT_EQ(tile_path("0", 999, 255), "tile/0/999.p/255");
  EXPECT_EQ(tile_path("entries", 1000, 1), "tile/entries/x001/000.p/1");
  EXPECT_EQ(tile_path("7", 1234067, 256), "tile/7/x001/x234/067");
}

// LE-65
TEST(TileExportTest, ALaterExportAddsToTheFolderAndLeavesFullTilesAlone) {
  TestLedger ledger;
  ledger.open();
  ledger.append_many(300);
  const fs::path folder = ledger.folder / "tiles";
  ASSERT_TRUE(tiles(ledger, folder));
  const auto written = fs::last_write_time(folder / "tile/0/000");
  const std::string partial = content(folder / "tile/0/001.p/46");
  ledger.append_many(300);
  ASSERT_TRUE(tiles(ledger, folder));
  EXPECT_EQ(fs::last_write_time(folder / "tile/0/000"), written);
  EXPECT_THAT(content(folder / "tile/0/001"), StartsWith(partial));
  EXPECT_TRUE(fs::exists(folder / "tile/0/002.p/90"));

  const fs::path fresh = ledger.folder / "fresh";
  ASSERT_TRUE(tiles(ledger, fresh));
  for (const auto& file : fs::recursive_directory_iterator(fresh)) {
    if (!file.is_regular_file()) continue;
    EXPECT_EQ(content(file), content(folder / fs::relative(file, fresh))) << file;
  }
}

// LE-65
TEST(TileExportTest, AFolderOfAnotherLogIsLeftAsItIs) {
  TestLedger one;
  TestLedger two;
  one.open();
  two.open();
  ASSERT_TRUE(tiles(one, one.folder / "tiles"));
  const Result<void> done = tiles(two, one.folder / "tiles");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::Conflict);
  EXPECT_THAT(done.error().message, HasSubstr("belongs to another log"));
  const std::string note = content(one.folder / "tiles/checkpoint");
  EXPECT_THAT(note, StartsWith(one->origin()));
}

// LE-65, LE-60
TEST(TileExportTest, BundlesOfPrunedEntriesAreLeftOutAndHashesStay) {
  TestLedger ledger;
  ledger.open();
  ledger.append_many(600);
  ASSERT_TRUE(ledger->transact(prune(300, "ops", "old")));
  const fs::path folder = ledger.folder / "tiles";
  ASSERT_TRUE(tiles(ledger, folder));
  EXPECT_FALSE(fs::exists(folder / "tile/entries/000"));
  EXPECT_FALSE(fs::exists(folder / "tile/entries/001"));
  EXPECT_TRUE(fs::exists(folder / "tile/entries/002.p/91"));
  EXPECT_EQ(fs::file_size(folder / "tile/0/000"), 8192u);
}

// LE-65
TEST(TileExportTest, AnUnwritableFolderIsAnErrorThatNamesIt) {
  TestLedger ledger;
  ledger.open();
  std::ofstream(ledger.folder / "file") << "not a folder";
  const Result<void> done = tiles(ledger, ledger.folder / "file");
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("file"));
}

// LE-65
TEST(TileExportTest, WhatAnEarlierExportLeftIsHeldAgainstTheLedger) {
  TestLedger ledger;
  ledger.open();
  ledger.append_many(300);
  const fs::path folder = ledger.folder / "tiles";
  ASSERT_TRUE(tiles(ledger, folder));
  SystemEntropy entropy;
  const SigningKey key = SigningKey::generate("any.example", entropy);
  const Checkpoint good = *Checkpoint::parse(Note::parse(content(folder / "checkpoint"))->text);
  const auto left = [&](const std::string& text) {
    std::ofstream(folder / "checkpoint", std::ios::binary) << text;
    const Result<void> done = tiles(ledger, folder);
    return done ? "" : done.error().message;
  };
  EXPECT_EQ(left(good.sign({&key})), "");
  Checkpoint other = good;
  other.size = good.size + 1;
  EXPECT_THAT(left(other.sign({&key})), HasSubstr("is of a later state than this ledger"));
  other = good;
  other.root[0] ^= 1;
  EXPECT_THAT(left(other.sign({&key})), HasSubstr("contradicts this ledger"));
  EXPECT_THAT(left("free text"), HasSubstr("is not a checkpoint"));
}

// LE-65
TEST(TileExportTest, ATileThatIsGoneIsWrittenAgainAndTheOthersStay) {
  TestLedger ledger;
  ledger.open();
  ledger.append_many(300);
  const fs::path folder = ledger.folder / "tiles";
  ASSERT_TRUE(tiles(ledger, folder));
  const fs::file_time_type long_ago{};
  for (const char* const name : {"tile/0/000", "tile/0/001.p/46", "tile/entries/001.p/46"}) {
    fs::last_write_time(folder / name, long_ago);
  }
  fs::remove(folder / "tile/entries/000");
  ASSERT_TRUE(tiles(ledger, folder));
  EXPECT_TRUE(fs::exists(folder / "tile/entries/000"));
  for (const char* const name : {"tile/0/000", "tile/0/001.p/46", "tile/entries/001.p/46"}) {
    EXPECT_EQ(fs::last_write_time(folder / name), long_ago) << name;
  }
}

// LE-65
TEST(TileExportTest, AnEmptyLedgerHasNoTiles) {
  auto store = store::SqliteStore::in_memory();
  ASSERT_TRUE(store);
  const test::TempFolder folder;
  const Result<void> done =
      (*store)->read([&](ReadView& view) { return export_tiles(view, folder.path() / "tiles"); });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::NotFound);
}

}  // namespace
}  // namespace sallyport::ledger
