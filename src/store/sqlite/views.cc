#include "store/sqlite/views.h"

#include "base/try.h"
#include "store/sqlite/schema.h"

namespace sallyport::store {

using ledger::BlockIndex;
using ledger::Facet;
using ledger::StoredEntry;

namespace {

Hash hash_from(std::string_view bytes) {
  Hash hash{};
  // A row of another length can only be damage: a reader that compares it finds the wrong hash.
  if (bytes.size() == hash.size()) std::ranges::copy(bytes, hash.begin());
  return hash;
}

// The same for ids.
Uuid id_from(std::string_view bytes) {
  Uuid id{};
  if (bytes.size() == id.size()) std::ranges::copy(bytes, id.begin());
  return id;
}

WallTime time_of(std::int64_t number) {
  return WallTime(WallTime::duration(number));
}

std::int64_t number_of(WallTime time) {
  return time.time_since_epoch().count();
}

StoredEntry entry_from(const Query& row, const KeyedDigest* secret) {
  StoredEntry entry{.secret = secret};
  entry.sequence = static_cast<std::uint64_t>(row.number(0));
  if (!row.is_null(1)) entry.bytes = std::string(row.bytes(1));
  entry.leaf = hash_from(row.bytes(2));
  entry.openings = row.bytes(3);
  entry.checkpoint = row.bytes(4);
  entry.seal = row.bytes(5);
  // What is not there is null, never empty.
  entry.odd = (entry.openings.empty() && !row.is_null(3)) ||
              (entry.checkpoint.empty() && !row.is_null(4)) || row.bytes(2).size() != Hash{}.size();
  return entry;
}

Result<std::vector<std::uint64_t>> numbers(Query& query) {
  std::vector<std::uint64_t> out;
  while (true) {
    SALLYPORT_TRY(const bool row, query.step());
    if (!row) return out;
    out.push_back(static_cast<std::uint64_t>(query.number(0)));
  }
}

Result<std::vector<Hash>> hashes(Query& query) {
  std::vector<Hash> out;
  while (true) {
    SALLYPORT_TRY(const bool row, query.step());
    if (!row) return out;
    out.push_back(hash_from(query.bytes(0)));
  }
}

}  // namespace

Result<std::uint64_t> SqlView::size() {
  Query query = db_.query("SELECT sequence FROM entries ORDER BY sequence DESC LIMIT 1");
  SALLYPORT_TRY(const bool row, query.step());
  return row ? static_cast<std::uint64_t>(query.number(0)) + 1 : 0;
}

Result<SqlView::Head> SqlView::head() {
  Query query = db_.query(
      db_.unsealed()
          ? "SELECT sequence, checkpoint, NULL FROM entries ORDER BY sequence DESC LIMIT 1"
          : "SELECT sequence, checkpoint, seal FROM entries ORDER BY sequence DESC LIMIT 1");
  SALLYPORT_TRY(const bool row, query.step());
  if (!row) return Head{};
  return Head{static_cast<std::uint64_t>(query.number(0)) + 1, std::string(query.bytes(1)),
              std::string(query.bytes(2))};
}

Result<std::optional<StoredEntry>> SqlView::entry(std::uint64_t sequence) {
  Query query = db_.query(
      db_.unsealed() ? "SELECT sequence, bytes, leaf, openings, checkpoint, NULL FROM entries "
                       "WHERE sequence = ?"
                     : "SELECT sequence, bytes, leaf, openings, checkpoint, seal FROM entries "
                       "WHERE sequence = ?");
  query.bind(sequence);
  SALLYPORT_TRY(const bool row, query.step());
  if (!row) return std::nullopt;
  return entry_from(query, secret_);
}

Result<void> SqlView::scan(std::uint64_t begin, std::uint64_t end, const Visit& visit) {
  Query query = db_.query(
      db_.unsealed() ? "SELECT sequence, bytes, leaf, openings, checkpoint, NULL FROM entries "
                       "WHERE sequence >= ? AND sequence < ? ORDER BY sequence"
                     : "SELECT sequence, bytes, leaf, openings, checkpoint, seal FROM entries "
                       "WHERE sequence >= ? AND sequence < ? ORDER BY sequence");
  query.bind(begin).bind(end);
  while (true) {
    SALLYPORT_TRY(const bool row, query.step());
    if (!row) return {};
    SALLYPORT_TRY(const bool more, visit(entry_from(query, secret_)));
    if (!more) return {};
  }
}

Result<std::vector<Hash>> SqlView::leaves(std::uint64_t begin, std::uint64_t end) {
  Query query =
      db_.query("SELECT leaf FROM entries WHERE sequence >= ? AND sequence < ? ORDER BY sequence");
  return hashes(query.bind(begin).bind(end));
}

Result<std::vector<Hash>> SqlView::nodes(int level, std::uint64_t begin, std::uint64_t end) {
  Query query = db_.query(
      "SELECT hash FROM nodes WHERE level = ? AND position >= ? AND position < ? ORDER BY "
      "position");
  return hashes(query.bind(level).bind(begin).bind(end));
}

// The commit that fills a block writes its index.
Result<std::uint64_t> SqlView::indexed_blocks() {
  SALLYPORT_TRY(const std::uint64_t entries, size());
  return entries / ledger::kBlock;
}

Result<std::vector<std::uint64_t>> SqlView::blocks_with(Facet facet, std::string_view value,
                                                        std::uint64_t from) {
  Query query = db_.query(
      "SELECT block FROM facets WHERE facet = ? AND value = ? AND block >= ? ORDER BY block");
  return numbers(query.bind(static_cast<int>(facet)).bind_text(value).bind(from));
}

Result<std::vector<std::uint64_t>> SqlView::blocks_between(WallTime since, WallTime until,
                                                           std::uint64_t from) {
  Query query = db_.query(
      "SELECT block FROM blocks WHERE last_time >= ? AND first_time < ? AND block >= ? "
      "ORDER BY block");
  return numbers(query.bind(number_of(since)).bind(number_of(until)).bind(from));
}

Result<std::vector<std::uint64_t>> SqlView::blocks_with_id(const Uuid& id) {
  Query query = db_.query(
      "SELECT block FROM blocks WHERE least_id <= ?1 AND greatest_id >= ?1 ORDER BY block");
  return numbers(query.bind_blob(as_text(id)));
}

Result<bool> SqlView::has_block_index(const BlockIndex& index) {
  Query block = db_.query(
      "SELECT COUNT(*) FROM blocks WHERE block = ? AND first_time = ? AND last_time = ? "
      "AND least_id = ? AND greatest_id = ?");
  block.bind(index.block).bind(number_of(index.first_time)).bind(number_of(index.last_time));
  block.bind_blob(as_text(index.least_id)).bind_blob(as_text(index.greatest_id));
  SALLYPORT_TRY([[maybe_unused]] const bool row, block.step());
  if (block.number(0) != 1) return false;
  for (const BlockIndex::Count& count : index.counts) {
    Query facet = db_.query("SELECT count FROM facets WHERE facet = ? AND value = ? AND block = ?");
    facet.bind(static_cast<int>(count.facet)).bind_text(count.value).bind(index.block);
    SALLYPORT_TRY(const bool found, facet.step());
    if (!found || static_cast<std::uint64_t>(facet.number(0)) != count.count) return false;
  }
  return true;
}

Result<void> SqlView::scan_blocks(const OnBlock& on_block) {
  Query query =
      db_.query(db_.unsealed() ? "SELECT block, first_time, last_time, least_id, greatest_id, NULL "
                                 "FROM blocks ORDER BY block"
                               : "SELECT block, first_time, last_time, least_id, greatest_id, seal "
                                 "FROM blocks ORDER BY block");
  while (true) {
    SALLYPORT_TRY(const bool row, query.step());
    if (!row) return {};
    BlockIndex block{.block = static_cast<std::uint64_t>(query.number(0)),
                     .first_time = time_of(query.number(1)),
                     .last_time = time_of(query.number(2)),
                     .least_id = id_from(query.bytes(3)),
                     .greatest_id = id_from(query.bytes(4))};
    SALLYPORT_CHECK_OK(on_block(block, query.bytes(5)));
  }
}

Result<void> SqlView::scan_counts(const OnCount& on_count) {
  Query query =
      db_.query("SELECT facet, value, block, count FROM facets ORDER BY facet, value, block");
  while (true) {
    SALLYPORT_TRY(const bool row, query.step());
    if (!row) return {};
    SALLYPORT_CHECK_OK(on_count(static_cast<std::uint64_t>(query.number(2)),
                                {static_cast<Facet>(query.number(0)), std::string(query.bytes(1)),
                                 static_cast<std::uint64_t>(query.number(3))}));
  }
}

Result<SqlView::Rows> SqlView::rows() {
  Query query = db_.query(
      "SELECT (SELECT COUNT(*) FROM nodes), (SELECT COUNT(*) FROM blocks), "
      "(SELECT COUNT(*) FROM facets), (SELECT COUNT(*) FROM entries WHERE sequence < 0)");
  SALLYPORT_TRY([[maybe_unused]] const bool row, query.step());
  const auto at = [&](int column) { return static_cast<std::uint64_t>(query.number(column)); };
  return Rows{.nodes = at(0), .blocks = at(1), .counts = at(2), .strays = at(3)};
}

Result<std::vector<BlockIndex::Count>> SqlView::totals(Facet facet) {
  Query query = db_.query(
      "SELECT value, SUM(count) FROM facets WHERE facet = ? GROUP BY value ORDER BY value");
  query.bind(static_cast<int>(facet));
  std::vector<BlockIndex::Count> totals;
  while (true) {
    SALLYPORT_TRY(const bool row, query.step());
    if (!row) return totals;
    totals.push_back(
        {facet, std::string(query.bytes(0)), static_cast<std::uint64_t>(query.number(1))});
  }
}

Result<std::optional<std::string>> SqlView::fact(std::string_view space, std::string_view key) {
  Query query = db_.query("SELECT value FROM facts WHERE space = ? AND key = ?");
  query.bind_text(space).bind_text(key);
  SALLYPORT_TRY(const bool row, query.step());
  if (!row) return std::nullopt;
  return std::string(query.bytes(0));
}

Result<std::vector<core::Fact>> SqlView::facts(std::string_view space) {
  Query query = db_.query("SELECT key, value FROM facts WHERE space = ? ORDER BY key");
  query.bind_text(space);
  std::vector<core::Fact> facts;
  while (true) {
    SALLYPORT_TRY(const bool row, query.step());
    if (!row) return facts;
    facts.push_back({std::string(space), std::string(query.bytes(0)), std::string(query.bytes(1))});
  }
}

Result<bool> SqlView::has_more_facts_than(std::uint64_t count) {
  Query query = db_.query("SELECT 1 FROM facts LIMIT 1 OFFSET ?");
  return query.bind(count).step();
}

Result<void> SqlView::scan_facts(const OnFact& on_fact) {
  Query query = db_.query("SELECT space, key, value FROM facts");
  while (true) {
    SALLYPORT_TRY(const bool row, query.step());
    if (!row) return {};
    SALLYPORT_CHECK_OK(on_fact(
        {std::string(query.bytes(0)), std::string(query.bytes(1)), std::string(query.bytes(2))}));
  }
}

Result<void> SqlView::insert(const StoredEntry& entry) {
  Query query = db_.query(
      "INSERT INTO entries (sequence, bytes, leaf, openings, checkpoint, seal) "
      "VALUES (?, ?, ?, ?, ?, ?)");
  query.bind(entry.sequence).bind_blob(*entry.bytes).bind_blob(text_of(entry.leaf));
  entry.openings.empty() ? query.bind_null() : query.bind_blob(entry.openings);
  entry.checkpoint.empty() ? query.bind_null() : query.bind_text(entry.checkpoint);
  entry.seal.empty() ? query.bind_null() : query.bind_blob(entry.seal);
  return query.run();
}

Result<void> SqlView::put_node(int level, std::uint64_t position, const Hash& hash) {
  Query query = db_.query("INSERT INTO nodes (level, position, hash) VALUES (?, ?, ?)");
  return query.bind(level).bind(position).bind_blob(text_of(hash)).run();
}

Result<void> SqlView::put_block_index(const BlockIndex& index, std::string_view seal) {
  Query block = db_.query(
      "INSERT INTO blocks (block, first_time, last_time, least_id, greatest_id, seal) "
      "VALUES (?, ?, ?, ?, ?, ?)");
  block.bind(index.block).bind(number_of(index.first_time)).bind(number_of(index.last_time));
  block.bind_blob(as_text(index.least_id)).bind_blob(as_text(index.greatest_id));
  seal.empty() ? block.bind_null() : block.bind_blob(seal);
  SALLYPORT_CHECK_OK(block.run());
  for (const BlockIndex::Count& count : index.counts) {
    Query facet = db_.query("INSERT INTO facets (facet, value, block, count) VALUES (?, ?, ?, ?)");
    facet.bind(static_cast<int>(count.facet)).bind_text(count.value).bind(index.block);
    SALLYPORT_CHECK_OK(facet.bind(count.count).run());
  }
  return {};
}

Result<void> SqlView::store_fact(const core::Fact& fact) {
  if (!fact.value) {
    Query query = db_.query("DELETE FROM facts WHERE space = ? AND key = ?");
    return query.bind_text(fact.space).bind_text(fact.key).run();
  }
  Query query = db_.query(
      "INSERT INTO facts (space, key, value) VALUES (?, ?, ?) "
      "ON CONFLICT (space, key) DO UPDATE SET value = excluded.value");
  return query.bind_text(fact.space).bind_text(fact.key).bind_text(*fact.value).run();
}

Result<void> SqlView::replace_seal(std::uint64_t sequence, std::string_view seal) {
  Query query = db_.query("UPDATE entries SET seal = ? WHERE sequence = ?");
  return query.bind_blob(seal).bind(sequence).run();
}

Result<void> SqlView::replace_block_seal(std::uint64_t block, std::string_view seal) {
  Query query = db_.query("UPDATE blocks SET seal = ? WHERE block = ?");
  return query.bind_blob(seal).bind(block).run();
}

Result<void> SqlView::store_openings(std::uint64_t sequence, std::string_view packed) {
  Query query = db_.query("UPDATE entries SET openings = ? WHERE sequence = ?");
  packed.empty() ? query.bind_null() : query.bind_blob(packed);
  return query.bind(sequence).run();
}

Result<void> SqlView::clear_bytes(std::uint64_t begin, std::uint64_t end) {
  Query query = db_.query(
      "UPDATE entries SET bytes = NULL, openings = NULL "
      "WHERE sequence >= ? AND sequence < ? AND bytes IS NOT NULL");
  return query.bind(begin).bind(end).run();
}

Result<void> SqlView::check_integrity() {
  Query query = db_.query("PRAGMA quick_check(1)");
  SALLYPORT_TRY([[maybe_unused]] const bool row, query.step());
  if (query.bytes(0) == "ok") return {};
  return ledger::ledger_unavailable("corrupt", query.bytes(0));
}

Result<void> SqlView::check_nothing_else(int version) {
  return store::check_nothing_else(db_, version);
}

}  // namespace sallyport::store
