#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>

#include "store_on_disk.h"

namespace sallyport::sessions {
namespace {

using ::testing::HasSubstr;

class Damage : public StoreOnDisk {
 protected:
  // A store with enough data for many pages, closed so that all of it is in one file.
  void SetUp() override {
    const Lease held = lease();
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(store_->append(held, std::vector{text_item(std::string(3000, 'x'))}));
    }
    ASSERT_TRUE(store_->pin({.id = "pin:1", .agent_id = "writer", .text = "remember"}));
    store_.reset();
  }

  std::string bytes() const {
    std::ifstream in(file(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& content) const {
    std::ofstream(file(), std::ios::binary | std::ios::trunc) << content;
  }
  void run_sql(const char* sql) const {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(file().c_str(), &db), SQLITE_OK);
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(db, sql, nullptr, nullptr, &error), SQLITE_OK) << error;
    sqlite3_close(db);
  }
  // Checks that the store does not open, that the error names its file, and that no byte changes.
  Error refused(ErrorCode code) {
    const std::string before = bytes();
    const auto opened = SessionStore::open({.file = file()}, clock_);
    EXPECT_FALSE(opened);
    if (opened) return {};
    EXPECT_EQ(opened.error().code, code) << opened.error().message;
    EXPECT_THAT(opened.error().message, HasSubstr(file().string()));
    EXPECT_EQ(bytes(), before);
    return opened.error();
  }
};

// RT-93
TEST_F(Damage, AFileThatIsNoDatabaseIsLeftAsItIs) {
  write("this is not a database, but somebody's diary; keep it\n");
  EXPECT_THAT(refused(ErrorCode::Corrupt).message, HasSubstr("left as it is"));
  write(std::string(8192, '\0'));
  refused(ErrorCode::Corrupt);
}

// RT-93
TEST_F(Damage, ATruncatedFileIsRefused) {
  const std::string whole = bytes();
  for (const std::size_t size : {whole.size() / 2, std::size_t{4096}, std::size_t{100}}) {
    write(whole.substr(0, size));
    refused(ErrorCode::Corrupt);
  }
}

// RT-93: an overwritten page is detected before anything runs.
TEST_F(Damage, AnOverwrittenPageIsRefused) {
  const std::string whole = bytes();
  ASSERT_GT(whole.size(), 10u * 4096);
  int refusals = 0;
  for (std::size_t page = 1; page < 12; ++page) {
    std::string broken = whole;
    for (std::size_t i = 0; i < 64; ++i) broken[page * 4096 + i] ^= 0x5a;
    write(broken);
    const auto opened = SessionStore::open({.file = file()}, clock_);
    if (opened) continue;  // a page of text behind a long row, or of the search index
    EXPECT_EQ(opened.error().code, ErrorCode::Corrupt);
    ++refusals;
  }
  EXPECT_GT(refusals, 5);
}

// RT-93: SQLite has no checksums, so the digest of the item detects a changed letter.
TEST_F(Damage, AFlippedByteInAnItemIsFoundWhenItIsRead) {
  std::string broken = bytes();
  const std::size_t at = broken.find("xxxxxxxxxxxxxxxx");
  ASSERT_NE(at, std::string::npos);
  broken[at + 8] = 'y';
  write(broken);
  store_ = open();
  ASSERT_TRUE(store_);
  const auto items = store_->items("s-1");
  ASSERT_FALSE(items);
  EXPECT_EQ(items.error().code, ErrorCode::Corrupt);
  EXPECT_THAT(items.error().message, HasSubstr(file().string()));
  EXPECT_FALSE(store_->lines("s-1", [](std::string_view) -> Result<void> { return {}; }));
}

// RT-93
TEST_F(Damage, AMissingItemIsFoundWhenTheTranscriptIsRead) {
  run_sql("DELETE FROM items WHERE position = 7");
  store_ = open();
  EXPECT_EQ(code_of(store_->items("s-1")), ErrorCode::Corrupt);
}

// RT-93
TEST_F(Damage, ADatabaseOfAnotherProgramIsRefused) {
  std::filesystem::remove(file());
  run_sql("CREATE TABLE photos (id INTEGER); INSERT INTO photos VALUES (1)");
  EXPECT_THAT(refused(ErrorCode::Corrupt).message, HasSubstr("no session store"));
}

// RT-93
TEST_F(Damage, ANewerSchemaIsRefusedAndNotReplaced) {
  run_sql("PRAGMA user_version = 2");
  const Error error = refused(ErrorCode::Unavailable);
  EXPECT_EQ(error.cause, "newer_schema");
  EXPECT_THAT(error.message, HasSubstr("newer release"));
}

// RT-93: a foreign trigger would change written data.
TEST_F(Damage, ForeignAndMissingPartsOfTheSchemaAreRefused) {
  run_sql("CREATE TRIGGER t AFTER INSERT ON items BEGIN DELETE FROM items; END");
  EXPECT_THAT(refused(ErrorCode::Corrupt).message, HasSubstr("`t`"));
  run_sql("DROP TRIGGER t; DROP TABLE runs");
  refused(ErrorCode::Corrupt);
}

// RT-93: a crash right after the file was made leaves it empty; that is not damage.
TEST_F(Damage, AnEmptyFileIsANewStore) {
  write("");
  store_ = open();
  EXPECT_TRUE(store_->sessions(10)->empty());
}

TEST_F(Damage, AFolderALinkAndAnUnreachablePlaceAreErrors) {
  std::filesystem::remove(file());
  std::filesystem::create_directory(file());
  EXPECT_EQ(code_of(SessionStore::open({.file = file()}, clock_)), ErrorCode::Unavailable);
  std::filesystem::remove(file());
  std::filesystem::create_symlink(folder_ / "elsewhere.db", file());
  EXPECT_EQ(code_of(SessionStore::open({.file = file()}, clock_)), ErrorCode::Unavailable);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "elsewhere.db"));
  EXPECT_EQ(code_of(SessionStore::open({.file = folder_ / "none/agents.db"}, clock_)),
            ErrorCode::Unavailable);
}

}  // namespace
}  // namespace sallyport::sessions
