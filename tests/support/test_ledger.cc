#include "support/test_ledger.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

namespace sallyport::test {

TestLedger::TestLedger() {
  settings.data_folder = folder.path();
  settings.reserve_bytes = 64 * 1024;
  settings.role = "test";
}

void TestLedger::open() {
  const Result<void> opened = try_open();
  ASSERT_TRUE(opened) << opened.error().message;
}

Result<void> TestLedger::try_open() {
  close();
  auto store = store::SqliteStore::open({.file = file(), .vfs = vfs});
  if (!store) return std::unexpected(store.error());
  store_ = std::move(*store);
  auto ledger = ledger::Ledger::open({*store_, redactor ? *redactor : no_redactor_,
                                      clock ? *clock : system_clock_, entropy_, close_interrupted},
                                     settings);
  if (!ledger) return std::unexpected(ledger.error());
  ledger_ = std::move(*ledger);
  return {};
}

void TestLedger::close() {
  ledger_.reset();
  store_.reset();
}

core::Draft TestLedger::event(json::object body, std::string call_id) {
  core::Draft draft{.kind = core::Kind::Event, .body = std::move(body)};
  draft.subject.set(&Subject::call_id, std::move(call_id));
  return draft;
}

core::Position TestLedger::append(core::Draft draft) {
  std::vector<core::Draft> drafts;
  drafts.push_back(std::move(draft));
  Result<ledger::Positions> written =
      ledger_->append_blocking(std::move(drafts), core::Urgency::Announces);
  EXPECT_TRUE(written) << written.error().message;
  return written ? written->at(0) : core::Position{};
}

std::vector<core::Position> TestLedger::append_many(std::size_t count) {
  std::vector<core::Position> positions;
  while (positions.size() < count) {
    std::vector<core::Draft> drafts;
    for (std::size_t i = 0; i < 500 && positions.size() + drafts.size() < count; ++i) {
      drafts.push_back(event({{"n", positions.size() + i}, {"text", "entry"}},
                             "call-" + std::to_string((positions.size() + i) / 4)));
    }
    Result<ledger::Positions> written =
        ledger_->append_blocking(std::move(drafts), core::Urgency::Announces);
    EXPECT_TRUE(written) << written.error().message;
    if (!written) break;
    positions.insert(positions.end(), written->begin(), written->end());
  }
  return positions;
}

void TestLedger::sql(const std::string& statement) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(file().c_str(), &db), SQLITE_OK);
  sqlite3_busy_timeout(db, 5000);
  sqlite3_exec(db, "PRAGMA synchronous=OFF", nullptr, nullptr, nullptr);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(db, statement.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
  sqlite3_close(db);
}

}  // namespace sallyport::test
