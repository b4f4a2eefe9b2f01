// The rows of one log in PostgreSQL, inside one transaction. What a transaction writes is gathered
// and sent with its COMMIT: a lone append takes two round trips, and this is the second.
#pragma once

#include <map>
#include <set>
#include <utility>

#include "ledger/store.h"
#include "store/postgresql/link.h"
#include "store/postgresql/openings_cipher.h"

namespace sallyport::store::postgresql {

class View final : public ledger::WriteView {
 public:
  // For reading: the transaction begins with the first query.
  View(Link& link, std::uint64_t log, const KeyedDigest* secret)
      : link_(link), log_(log), secret_(secret), cipher_(secret) {}

  Result<std::uint64_t> size() override;
  Result<Head> head() override;
  Result<std::optional<ledger::StoredEntry>> entry(std::uint64_t sequence) override;
  Result<void> scan(std::uint64_t begin, std::uint64_t end, const Visit& visit) override;
  Result<std::vector<Hash>> leaves(std::uint64_t begin, std::uint64_t end) override;
  Result<std::vector<Hash>> nodes(int level, std::uint64_t begin, std::uint64_t end) override;
  Result<std::uint64_t> indexed_blocks() override;
  Result<std::vector<std::uint64_t>> blocks_with(ledger::Facet facet, std::string_view value,
                                                 std::uint64_t from) override;
  Result<std::vector<std::uint64_t>> blocks_between(WallTime since, WallTime until,
                                                    std::uint64_t from) override;
  Result<std::vector<std::uint64_t>> blocks_with_id(const Uuid& id) override;
  Result<bool> has_block_index(const ledger::BlockIndex& index) override;
  Result<void> scan_blocks(const OnBlock& on_block) override;
  Result<void> scan_counts(const OnCount& on_count) override;
  Result<ReadView::Rows> rows() override;
  Result<std::vector<ledger::BlockIndex::Count>> totals(ledger::Facet facet) override;
  Result<std::optional<std::string>> fact(std::string_view space, std::string_view key) override;
  Result<std::vector<core::Fact>> facts(std::string_view space) override;
  Result<bool> has_more_facts_than(std::uint64_t count) override;
  Result<void> scan_facts(const OnFact& on_fact) override;

  Result<void> insert(const ledger::StoredEntry& entry) override;
  Result<void> put_node(int level, std::uint64_t position, const Hash& hash) override;
  Result<void> put_block_index(const ledger::BlockIndex& index, std::string_view seal) override;
  Result<void> replace_seal(std::uint64_t sequence, std::string_view seal) override;
  Result<void> replace_block_seal(std::uint64_t block, std::string_view seal) override;
  // Every other writer adds entries. A change without an entry is found by `check_facts`, which the
  // ledger runs from time to time (PostgresqlStore::changed_elsewhere).
  bool changed_elsewhere() override { return false; }

  // For reading: reads the end of the log and these facts in one round trip.
  Result<void> begin_reading(const std::vector<core::FactKey>& facts);

  // For writing: takes the lock of the log, and reads what `wants` names. One round trip:
  // `put_begin` puts the queries, `take_begin` takes the answers.
  void put_begin(const ledger::LedgerStore::Wants& wants);
  void take_begin(const ledger::LedgerStore::Wants& wants,
                  const std::vector<postgresql::Rows>& answers);

  // Identifies this commit.
  struct Mark {
    std::uint64_t previous = 0;
    std::string leaves;
    std::string checkpoint;
    std::string seal;  // if only facts changed: of the newest row
  };
  Mark mark() const;
  // Puts everything written into the pipeline, without COMMIT. False: nothing was written.
  bool put_all();

  // Puts the index of a block in one statement, which changes nothing if the block has one.
  static void put_block(Link& link, std::uint64_t log, const ledger::BlockIndex& index,
                        std::string_view seal);

  // True if this commit is in the log. Call it inside a transaction that has the lock.
  static Result<bool> holds(Link& link, std::uint64_t log, const Mark& mark);
  static void put_lock(Link& link, std::uint64_t log);
  // Ends the connection that holds the lock of the log, if its client has sent and taken nothing
  // for this time. The server itself does this only between two pipelines.
  static Result<void> end_silent_holder(Link& link, std::uint64_t log,
                                        std::chrono::milliseconds hold);
  // A write that must be synced and replicated, and leaves nothing behind.
  static void put_nothing(Link& link, std::uint64_t log);

 private:
  using Key = std::pair<std::string, std::string>;

  Result<postgresql::Rows> ask(const char* sql, std::vector<Param> params);
  Result<Head> stored_head();
  static Head head_from(const postgresql::Rows& rows);
  void put_wanted(const std::vector<core::FactKey>& facts);
  void take_wanted(const std::vector<core::FactKey>& facts, const postgresql::Rows& rows);
  std::uint64_t base() const { return written_.empty() ? UINT64_MAX : written_.front().sequence; }
  ledger::StoredEntry entry_from(const postgresql::Rows& rows, int row) const;
  ledger::StoredEntry entry_from(const postgresql::Rows& rows, int row, std::string_view leaf,
                                 std::optional<std::string_view> checkpoint) const;
  Result<bool> visit_piece(const postgresql::Rows& entries, const postgresql::Rows& commits,
                           const Visit& visit) const;
  void note_since(const postgresql::Rows& rows);
  void put_entries();
  void put_nodes();
  void put_facts();
  Result<void> store_fact(const core::Fact& fact) override;
  Result<void> store_openings(std::uint64_t sequence, std::string_view packed) override;
  Result<void> clear_bytes(std::uint64_t begin, std::uint64_t end) override;

  Link& link_;
  std::uint64_t log_;
  const KeyedDigest* secret_;
  OpeningsCipher cipher_;
  bool began_ = false;

  // Read by `begin`.
  std::optional<Head> head_;
  std::optional<ledger::StoredEntry> newest_;
  std::uint64_t leaves_from_ = UINT64_MAX;
  std::vector<Hash> leaves_;
  std::map<Key, std::optional<std::string>> known_facts_;

  // Written by this transaction.
  std::vector<ledger::StoredEntry> written_;
  std::map<std::pair<int, std::uint64_t>, Hash> nodes_;
  std::vector<std::pair<ledger::BlockIndex, std::string>> blocks_;
  std::map<Key, std::optional<std::string>> facts_;
  std::string newest_seal_;
  bool altered_ = false;  // something was changed at once
};

}  // namespace sallyport::store::postgresql
