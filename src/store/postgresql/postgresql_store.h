// A log in PostgreSQL that gateways of several machines write together. docs/cluster.md tells how.
//
// One connection writes: it takes the lock of the log, reads what others wrote, and commits, in two
// round trips. Readers have connections of their own. A commit whose answer did not come is in
// doubt; nothing more is written until the log itself says what became of it.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "ledger/store.h"
#include "store/shared_log.h"

namespace sallyport::store {

class PostgresqlStore final : public ledger::LedgerStore {
 public:
  struct Options {
    SharedLog log;
    bool read_only = false;
    // What is held against the clock of the database; null: the clock of this machine.
    const Clock* clock = nullptr;
  };

  // Asks and tries the server, makes tables and log where there are none and the role may. Tables
  // of a newer release open read-only whatever was asked.
  static Result<std::unique_ptr<PostgresqlStore>> open(Options options);
  ~PostgresqlStore() override;

  Result<void> write(const Work& work, Manner manner) override;
  using LedgerStore::write;
  Result<void> read(const Look& look) override;
  Result<void> read(const Look& look, const std::vector<core::FactKey>& facts) override;
  // Without the lock of the log.
  Result<void> add_block_index(const ledger::BlockIndex& index, std::string_view seal) override;
  Result<bool> changed_elsewhere() override;
  void check_seals_with(std::shared_ptr<const KeyedDigest> secret) override;
  // What was erased stays in the write-ahead log, on standbys and in backups until those age out.
  Result<void> scrub() override { return {}; }
  // The pages of the database are for its own tools; what we can check, `verify` does.
  Result<void> check_files() override;
  bool is_newer() const override;
  bool is_remote() const override { return true; }
  std::string identity() const override;
  std::string name() const override;
  std::string unverified_host() const override;
  // Version, TLS, standbys, who writes. An error where the role could change history (SC-10).
  Result<std::string> condition() override;
  Result<std::unique_ptr<ledger::Membership>> join(const ledger::Joining& joining) override;

  // Of the connection that writes. For tests.
  std::uint64_t round_trips() const;

 private:
  struct State;
  explicit PostgresqlStore(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sallyport::store
