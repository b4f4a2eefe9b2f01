#include "ledger/read/tile_reader.h"

#include <gtest/gtest.h>

#include "support/test_ledger.h"

namespace sallyport::ledger {
namespace {

using test::TestLedger;

class TileReaderTest : public testing::Test {
 protected:
  void SetUp() override {
    ledger.open();
    ledger.append_many(300);
  }
  std::optional<std::string> tile(std::string_view path) {
    std::optional<std::string> bytes;
    EXPECT_TRUE(ledger.store().read([&](ReadView& view) -> Result<void> {
      Result<std::optional<std::string>> read = read_tile(view, path);
      EXPECT_TRUE(read) << read.error().message;
      if (read) bytes = std::move(*read);
      return {};
    }));
    return bytes;
  }

  TestLedger ledger;
};

// LE-65
TEST_F(TileReaderTest, TilesAreAsWideAsTheirNameSays) {
  EXPECT_EQ(tile("tile/0/000")->size(), 256 * 32u);
  EXPECT_EQ(tile("tile/0/001.p/7")->size(), 7 * 32u);
  EXPECT_EQ(tile("tile/1/000.p/1")->size(), 32u);
  EXPECT_TRUE(tile("tile/entries/000"));
  EXPECT_TRUE(tile("tile/entries/001.p/2"));
  EXPECT_EQ(tile("tile/0/001.p/46")->size(), 46 * 32u);
  EXPECT_FALSE(tile("tile/0/001.p/47"));
  EXPECT_FALSE(tile("tile/0/002.p/1"));
  EXPECT_FALSE(tile("tile/1/000.p/2"));
}

// LE-65
TEST_F(TileReaderTest, NamesThatAreNoTileGiveNothing) {
  for (const std::string_view path : {"",
                                      "tile",
                                      "tile/",
                                      "tile/0",
                                      "tile/0/",
                                      "tile/0/1",
                                      "tile/0/0001",
                                      "tile/00/000",
                                      "tile/0/001",
                                      "tile/0/001.p/250",
                                      "tile/0/000.p/0",
                                      "tile/0/000.p/256",
                                      "tile/0/000.p/01",
                                      "tile/0/x000/000",
                                      "tile/0/x001/x000/000",
                                      "tile/2/000.p/1",
                                      "tile/64/000",
                                      "tile/entries",
                                      "tile/0/000.p/1/",
                                      "tile/-1/000",
                                      "checkpoint",
                                      "tile/0/x999/x999/x999/x999/x999/x999/999"}) {
    EXPECT_FALSE(tile(path)) << path;
  }
}

}  // namespace
}  // namespace sallyport::ledger
