// A ledger in a folder of its own, for as long as a measurement takes.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/entropy.h"
#include "core/record/redactor.h"
#include "ledger/ledger.h"
#include "store/sqlite/sqlite_store.h"

namespace sallyport::bench {

enum class Keep { OnDisk, OnDiskUnsynced, InMemory };

class BenchLedger {
 public:
  explicit BenchLedger(Keep keep, const core::Redactor* redactor = nullptr);
  ~BenchLedger();

  ledger::Ledger& ledger() { return *ledger_; }
  store::SqliteStore& store() { return *store_; }
  const std::filesystem::path& folder() const { return folder_; }
  void reopen();

  // A tool-audit record of usual size: two sealed fields, a guard list, about 900 bytes.
  static core::Draft record(std::uint64_t n, std::size_t session);

  // Appends `count` records by `callers` callers, each waiting for its record. Returns seconds.
  double append(std::size_t count, std::size_t callers);

 private:
  void open();

  Keep keep_;
  std::filesystem::path folder_;
  SystemClock clock_;
  SystemEntropy entropy_;
  core::NoRedactor no_redactor_;
  const core::Redactor* redactor_;
  std::unique_ptr<store::SqliteStore> store_;
  std::unique_ptr<ledger::Ledger> ledger_;
};

// Does the same on any ledger. Several threads may call it, each with its own ledger.
double append_to(ledger::Ledger& ledger, std::size_t count, std::size_t callers);

// Writes two pages at the end of a file and syncs them once: the minimum cost of any durable log
// entry.
double fdatasync_seconds(const std::filesystem::path& folder, int count);
std::vector<double> fdatasync_times(const std::filesystem::path& folder, int count);

}  // namespace sallyport::bench
