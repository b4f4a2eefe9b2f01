// The embedded store: one SQLite file in WAL mode with synchronous=FULL, shared by any number of
// processes of one machine.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "ledger/store.h"

namespace sallyport::store {

class SqliteStore final : public ledger::LedgerStore {
 public:
  enum class Mode { ReadWrite, ReadOnly };

  struct Options {
    std::filesystem::path file;
    Mode mode = Mode::ReadWrite;
    std::chrono::milliseconds lock_wait{5000};
    bool sync = true;      // false only to measure what syncing costs
    std::string vfs{};     // a named SQLite file layer, for fault tests
    bool passing = false;  // a few commits, then it ends: a short log is left as it is
  };

  // Creates a missing file (mode 0600) if the mode allows it. A file of a newer schema opens
  // read-only; `read_only()` is then true.
  static Result<std::unique_ptr<SqliteStore>> open(Options options);

  // Lives as long as this object, in memory.
  static Result<std::unique_ptr<SqliteStore>> in_memory();

  ~SqliteStore() override;

  Result<void> write(const Work& work, Manner manner) override;
  using LedgerStore::write;
  Result<void> read(const Look& look) override;
  Result<bool> changed_elsewhere() override;
  void check_seals_with(std::shared_ptr<const KeyedDigest> secret) override;
  Result<void> scrub(std::chrono::milliseconds longest_wait) override;
  using LedgerStore::scrub;
  Result<void> check_files() override;

  bool is_newer() const override;
  std::string name() const override;

  bool read_only() const;

 private:
  struct State;
  explicit SqliteStore(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sallyport::store
