#include "store/sqlite/sqlite_store.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/try.h"
#include "ledger/proof/merkle.h"
#include "ledger/read/query.h"
#include "ledger/read/stored_entry.h"
#include "support/ledger_checks.h"

namespace sallyport::store {
namespace {

using ledger::ReadView;
using ledger::StoredEntry;
using ledger::WriteView;
using test::TempFolder;
using test::TestLedger;
using test::verdict;
using namespace std::chrono_literals;

StoredEntry entry(std::uint64_t sequence, const std::string& bytes) {
  return {sequence, bytes, ledger::leaf_hash(bytes), "openings", "checkpoint"};
}

std::uint64_t size_of(SqliteStore& store) {
  std::uint64_t size = 0;
  EXPECT_TRUE(store.read([&](ReadView& view) -> Result<void> {
    SALLYPORT_TRY(size, view.size());
    return {};
  }));
  return size;
}

std::string pragma(const std::filesystem::path& file, const std::string& name) {
  sqlite3* db = nullptr;
  sqlite3_stmt* statement = nullptr;
  EXPECT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_prepare_v2(db, ("PRAGMA " + name).c_str(), -1, &statement, nullptr), SQLITE_OK);
  EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW);
  std::string value = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
  sqlite3_finalize(statement);
  sqlite3_close(db);
  return value;
}

// A foreign connection that holds the write lock.
class Locked {
 public:
  explicit Locked(const std::filesystem::path& file) {
    EXPECT_EQ(sqlite3_open(file.c_str(), &db_), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db_, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  }
  ~Locked() { sqlite3_close(db_); }

 private:
  sqlite3* db_ = nullptr;
};

// LE-25, LE-39
TEST(SqliteStoreTest, AFreshFileIsPrivateAndKeepsAWriteAheadLog) {
  const TempFolder folder;
  const mode_t before = umask(0);
  const auto store = SqliteStore::open({.file = folder / "ledger.db"});
  ASSERT_TRUE(store) << store.error().message;
  ASSERT_TRUE((*store)->write([](WriteView& view) { return view.insert(entry(0, "a")); }));
  umask(before);
  EXPECT_EQ(pragma(folder / "ledger.db", "journal_mode"), "wal");
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    struct stat status{};
    ASSERT_EQ(stat(file.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600u) << file.path();
  }
}

// LE-43, LE-73
TEST(SqliteStoreTest, AWriterWaitsForTheLockOnlyAsLongAsItWasTold) {
  const TempFolder folder;
  const auto store = SqliteStore::open({.file = folder / "ledger.db", .lock_wait = 150ms});
  ASSERT_TRUE(store);
  const auto insert = [](WriteView& view) { return view.insert(entry(0, "a")); };
  {
    const Locked other(folder / "ledger.db");
    const auto began = std::chrono::steady_clock::now();
    const Result<void> refused = (*store)->write(insert);
    const auto spent = std::chrono::steady_clock::now() - began;
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().cause, "busy");
    EXPECT_GE(spent, 140ms);
    EXPECT_LT(spent, 3s);
  }
  EXPECT_TRUE((*store)->write(insert));
}

// LE-73
TEST(SqliteStoreTest, AFileThatWasReplacedOrRemovedIsNotWritten) {
  const TempFolder folder;
  const auto store = SqliteStore::open({.file = folder / "ledger.db"});
  const auto insert = [](WriteView& view) { return view.insert(entry(0, "a")); };
  std::filesystem::rename(folder / "ledger.db", folder / "away.db");
  EXPECT_EQ((*store)->write(insert).error().cause, "io");
  std::ofstream(folder / "ledger.db") << "";
  EXPECT_EQ((*store)->write(insert).error().cause, "io");
  std::filesystem::rename(folder / "away.db", folder / "ledger.db");
  EXPECT_TRUE((*store)->write(insert));
}

// LE-73
TEST(SqliteStoreTest, AFileOfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const TempFolder folder;
  ASSERT_TRUE(SqliteStore::open({.file = folder / "ledger.db"}));
  ASSERT_EQ(chown((folder / "ledger.db").c_str(), 12345, 12345), 0);
  EXPECT_EQ(SqliteStore::open({.file = folder / "ledger.db"}).error().cause, "not_owner");
}

// LE-73
TEST(SqliteStoreTest, WhatIsNoLedgerIsLeftAlone) {
  const TempFolder folder;
  std::ofstream(folder / "text.db") << std::string(5000, 'x');
  EXPECT_EQ(SqliteStore::open({.file = folder / "text.db"}).error().cause, "corrupt");
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open((folder / "other.db").c_str(), &db), SQLITE_OK);
  sqlite3_exec(db, "CREATE TABLE entries (a)", nullptr, nullptr, nullptr);
  sqlite3_close(db);
  EXPECT_EQ(SqliteStore::open({.file = folder / "other.db"}).error().cause, "corrupt");
  const auto missing =
      SqliteStore::open({.file = folder / "missing.db", .mode = SqliteStore::Mode::ReadOnly});
  EXPECT_FALSE(missing);
  EXPECT_FALSE(std::filesystem::exists(folder / "missing.db"));
}

// LE-81
TEST(SqliteStoreTest, ALedgerOfANewerSchemaOpensReadOnlyWithAMessage) {
  TestLedger ledger;
  ledger.open();
  ledger.append_many(5);
  ledger.close();
  ledger.sql("PRAGMA user_version = 99; ALTER TABLE facts ADD COLUMN later TEXT");
  const auto store = SqliteStore::open({.file = ledger.file()});
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_TRUE((*store)->read_only());
  EXPECT_EQ(verdict(**store), "ok");
  const Result<void> refused =
      (*store)->write([](WriteView& view) { return view.put_fact({"a", "b", "c"}); });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().cause, "read_only");
  EXPECT_NE(refused.error().message.find("newer release"), std::string::npos);
  const auto opened = ledger.try_open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().cause, "read_only");
  EXPECT_EQ(pragma(ledger.file(), "user_version"), "99");
}

// LE-53
TEST(SqliteStoreTest, ATornEndOfTheWriteAheadLogIsCutOff) {
  TestLedger ledger;
  ledger.open();
  ledger.append_many(20);
  const TempFolder copy;
  std::filesystem::permissions(copy.path(), std::filesystem::perms::owner_all);
  std::filesystem::copy(
      ledger.folder.path(), copy.path(),
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
  const std::uint64_t size = size_of(ledger.store());
  std::filesystem::remove(copy / "ledger.db-shm");
  const auto whole = std::filesystem::file_size(copy / "ledger.db-wal");
  ASSERT_GT(whole, 8000u);
  {
    std::ofstream out(copy / "ledger.db-wal", std::ios::binary | std::ios::app);
    out << std::string(5000, 'g');
  }
  {
    const auto store = SqliteStore::open({.file = copy / "ledger.db"});
    EXPECT_EQ(size_of(**store), size) << "garbage behind the end is nothing";
    EXPECT_EQ(verdict(**store), "ok");
  }
  std::filesystem::copy(
      ledger.folder.path(), copy.path(),
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
  std::filesystem::remove(copy / "ledger.db-shm");
  std::filesystem::resize_file(copy / "ledger.db-wal", whole - 100);
  const auto store = SqliteStore::open({.file = copy / "ledger.db"});
  EXPECT_LT(size_of(**store), size) << "a commit that is not whole is none";
  EXPECT_EQ(verdict(**store), "ok");
}

// LE-50
TEST(SqliteStoreTest, ADamagedPageIsFoundByTheCheckOfTheFiles) {
  TestLedger ledger;
  ledger.open();
  ledger.append_many(300);
  ledger.close();
  {
    std::fstream file(ledger.file(), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(4096 * 8 + 3);
    file << std::string(64, '\x5a');
  }
  const auto store =
      SqliteStore::open({.file = ledger.file(), .mode = SqliteStore::Mode::ReadOnly});
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_NE(verdict(**store), "ok");
}

// LE-73: the error once was a message of SQLite about a statement of ours.
TEST(SqliteStoreTest, AFileThatIsNoDatabaseIsNoLedger) {
  const TempFolder folder;
  const std::filesystem::path file = folder / "ledger.db";
  std::ofstream(file) << std::string(9000, 'x');
  for (const auto mode : {SqliteStore::Mode::ReadWrite, SqliteStore::Mode::ReadOnly}) {
    const auto store = SqliteStore::open({.file = file, .mode = mode});
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().cause, "corrupt");
    EXPECT_EQ(store.error().message,
              "ledger_unavailable: corrupt: " + file.string() +
                  " is not a ledger (not a database); restore it from a backup");
  }
}

// LE-58
TEST(SqliteStoreTest, ScrubbingSaysWhenAReaderKeepsTheOldLog) {
  const TempFolder folder;
  const auto store = SqliteStore::open({.file = folder / "ledger.db", .lock_wait = 50ms});
  ASSERT_TRUE((*store)->write([](WriteView& view) { return view.insert(entry(0, "a")); }));
  ASSERT_TRUE((*store)->read([&](ReadView& view) -> Result<void> {
    EXPECT_EQ(*view.size(), 1u);
    EXPECT_TRUE((*store)->write([](WriteView& write) { return write.insert(entry(1, "b")); }));
    EXPECT_EQ((*store)->scrub().error().cause, "busy");
    return {};
  }));
  EXPECT_TRUE((*store)->scrub());
  EXPECT_EQ(std::filesystem::file_size(folder / "ledger.db-wal"), 0u);
}

// Returns the bodies of the entries that a query finds.
std::vector<std::string> found(ledger::LedgerStore& store, const ledger::Filter& filter) {
  std::vector<std::string> bodies;
  EXPECT_TRUE(store.read([&](ReadView& view) {
    return ledger::find_entries(
        view, filter, [&](const StoredEntry& stored, const ledger::EntryView&) -> Result<bool> {
          SALLYPORT_TRY(const json::object entry, ledger::opened_entry(stored));
          bodies.push_back(canonical_json(entry.at("body")));
          return true;
        });
  }));
  return bodies;
}

// EV-82
TEST(SqliteStoreTest, AStoreInMemoryAnswersTheSameQueriesWhileItLives) {
  const TempFolder folder;
  const auto memory = *SqliteStore::in_memory();
  const auto file = *SqliteStore::open({.file = folder / "ledger.db"});
  const core::NoRedactor redactor;
  const SystemClock clock;
  SystemEntropy entropy;
  std::vector<std::vector<std::string>> answers;
  for (SqliteStore* const store : {memory.get(), file.get()}) {
    const auto kept = folder / (store == memory.get() ? "memory" : "file");
    const auto ledger = ledger::Ledger::open({*store, redactor, clock, entropy},
                                             {.data_folder = kept, .reserve_bytes = 64 * 1024});
    ASSERT_TRUE(ledger) << ledger.error().message;
    for (int n = 0; n < 6; ++n) {
      std::vector<core::Draft> drafts = {TestLedger::event({{"kind", "policy_denied"}, {"n", n}},
                                                           n % 2 == 0 ? "call-even" : "call-odd")};
      ASSERT_TRUE((*ledger)->append_blocking(std::move(drafts), core::Urgency::Announces));
    }
    using ledger::Facet;
    std::vector<std::string> all;
    for (const ledger::Filter& filter :
         {ledger::Filter{.facets = {{Facet::Kind, "event"}}},
          ledger::Filter{.facets = {{Facet::Kind, "event"}, {Facet::Call, "call-odd"}}},
          ledger::Filter{.facets = {{Facet::Kind, "event"}}, .after = 4},
          ledger::Filter{.facets = {{Facet::Kind, "event"}}, .body = {{"n", 3}}},
          ledger::Filter{.facets = {{Facet::Kind, "event"}}, .limit = 2}}) {
      const std::vector<std::string> some = found(*store, filter);
      EXPECT_FALSE(some.empty());
      all.insert(all.end(), some.begin(), some.end());
      all.emplace_back("--");
    }
    answers.push_back(std::move(all));
  }
  EXPECT_EQ(answers[0], answers[1]);
}

}  // namespace
}  // namespace sallyport::store
