// The ledger's rows in SQL. The only file of the product, with schema.cc, that says SELECT.
#pragma once

#include "ledger/store.h"
#include "store/sqlite/connection.h"

namespace sallyport::store {

// Reads and writes inside the open transaction of the connection.
class SqlView final : public ledger::WriteView {
 public:
  // `secret` is that of the seals; null: unknown. `changed_elsewhere` is for writers.
  explicit SqlView(Connection& connection, const KeyedDigest* secret = nullptr,
                   bool changed_elsewhere = false)
      : db_(connection), secret_(secret), changed_elsewhere_(changed_elsewhere) {}

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
  Result<Rows> rows() override;
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
  bool changed_elsewhere() override {
    asked_ = true;
    return changed_elsewhere_;
  }
  bool asked() const { return asked_; }

  // SQLite's own check of every page. There is no index of its own that could differ from a table.
  Result<void> check_integrity();
  // Checks that there are only our tables: a trigger would change what we write.
  Result<void> check_nothing_else(int version);

 private:
  Result<void> store_fact(const core::Fact& fact) override;
  Result<void> store_openings(std::uint64_t sequence, std::string_view packed) override;
  Result<void> clear_bytes(std::uint64_t begin, std::uint64_t end) override;

  Connection& db_;
  const KeyedDigest* secret_;
  bool changed_elsewhere_;
  bool asked_ = false;
};

}  // namespace sallyport::store
