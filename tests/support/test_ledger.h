// A ledger in its own folder, with all its dependencies.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/entropy.h"
#include "core/record/redactor.h"
#include "ledger/ledger.h"
#include "store/sqlite/sqlite_store.h"
#include "support/temp_folder.h"

namespace sallyport::test {

class TestLedger {
 public:
  TestLedger();

  // Opens or reopens the ledger. Fails the test on an unexpected `settings_error`.
  void open();
  Result<void> try_open();
  void close();

  // Returns one draft of kind event with this body.
  static core::Draft event(json::object body, std::string call_id = {});
  core::Position append(core::Draft draft);
  std::vector<core::Position> append_many(std::size_t count);

  ledger::Ledger& operator*() { return *ledger_; }
  ledger::Ledger* operator->() { return ledger_.get(); }
  store::SqliteStore& store() { return *store_; }
  std::filesystem::path file() const { return folder.path() / "ledger.db"; }

  // Runs SQL on the ledger's file without the ledger.
  void sql(const std::string& statement);

  TempFolder folder;
  ledger::Ledger::Settings settings;
  ledger::Ledger::Close close_interrupted;
  const Clock* clock = nullptr;              // the system's unless a test sets one
  const core::Redactor* redactor = nullptr;  // none unless a test sets one
  std::string vfs;

 private:
  SystemClock system_clock_;
  SystemEntropy entropy_;
  core::NoRedactor no_redactor_;
  std::unique_ptr<store::SqliteStore> store_;
  std::unique_ptr<ledger::Ledger> ledger_;
};

}  // namespace sallyport::test
