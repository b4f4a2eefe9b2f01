// A log in PostgreSQL that gateways of several machines write together. See docs/cluster.md.
//
// One connection writes: it takes the lock of the log, reads what others wrote, and commits, in two
// round trips. Readers have connections of their own. A commit whose answer did not come is in
// doubt; nothing more is written until the log shows whether it happened.
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
    // Compared with the clock of the database; null: the clock of this machine.
    const Clock* clock = nullptr;
  };

  // Checks the server, and creates missing tables and a missing log if the role may. Tables of a
  // newer release open read-only.
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
  Result<void> scrub(std::chrono::milliseconds) override { return {}; }
  // Finds triggers and rules of other programs. The pages are left to the tools of the database.
  Result<void> check_files() override;
  bool is_newer() const override;
  bool is_remote() const override { return true; }
  std::string identity() const override;
  std::string name() const override;
  std::string unverified_host() const override;
  // Version, TLS, standbys, who writes. An error: the role could change history (SC-10).
  Result<std::string> condition() override;
  Result<std::unique_ptr<ledger::Membership>> join(const ledger::Joining& joining) override;

  // Of the writing connection, for tests.
  std::uint64_t round_trips() const;

 private:
  struct State;
  explicit PostgresqlStore(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sallyport::store
