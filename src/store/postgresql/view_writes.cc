// Gathers what a transaction writes, and sends it with its COMMIT.
#include "base/try.h"
#include "store/postgresql/view.h"

namespace sallyport::store::postgresql {

using ledger::BlockIndex;
using ledger::StoredEntry;

namespace {

// With the number of a log, the key of its lock.
constexpr const char* kLockLog = "SELECT pg_advisory_xact_lock(1397772884, $1::int8::int4)";

constexpr const char* kPutFacts =
    "INSERT INTO facts (log, space, key, value) SELECT $1::int8, w.* FROM unnest($2::bytea[], "
    "$3::bytea[], $4::bytea[]) w ON CONFLICT (log, space, key) DO UPDATE SET value = "
    "excluded.value";
constexpr const char* kDropFacts =
    "DELETE FROM facts f USING unnest($2::bytea[], $3::bytea[]) w(space, key) WHERE f.log = "
    "$1::int8 AND f.space = w.space AND f.key = w.key";

}  // namespace

void View::put_lock(Link& link, std::uint64_t log) {
  link.put(kLockLog, {number(log)});
}

Result<void> View::end_silent_holder(Link& link, std::uint64_t log,
                                     std::chrono::milliseconds hold) {
  SALLYPORT_CHECK_OK(link.ask(
      "SELECT pg_terminate_backend(a.pid) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid "
      "WHERE l.locktype = 'advisory' AND l.granted AND l.classid = 1397772884 AND l.objsubid = 2 "
      "AND l.objid = $1::int8::oid AND l.database = (SELECT oid FROM pg_database WHERE datname = "
      "current_database()) AND a.wait_event IN ('ClientRead', 'ClientWrite') AND clock_timestamp() "
      "- greatest(a.query_start, a.state_change) >= $2::int8 * interval '1 millisecond'",
      {number(log), number(static_cast<std::uint64_t>(hold.count()))}));
  return {};
}

void View::put_nothing(Link& link, std::uint64_t log) {
  const Param space = byte_strings({"ledger"});
  const Param key = byte_strings({"settled"});
  link.put(kPutFacts, {number(log), space, key, byte_strings({""})});
  link.put(kDropFacts, {number(log), space, key});
}

Result<bool> View::holds(Link& link, std::uint64_t log, const Mark& mark) {
  if (!mark.leaves.empty()) {
    SALLYPORT_TRY(
        const postgresql::Rows rows,
        link.ask("SELECT leaves = $3::bytea AND checkpoint = $4::text FROM commits WHERE log = "
                 "$1::int8 AND previous = $2::int8",
                 {number(log), number(mark.previous), bytes(mark.leaves), bytes(mark.checkpoint)}));
    return rows.size() == 1 && rows.number(0, 0) == 1;
  }
  SALLYPORT_TRY(const postgresql::Rows rows,
                link.ask("SELECT seal = $3::bytea FROM reseals WHERE log = $1::int8 AND sequence = "
                         "$2::int8",
                         {number(log), number(mark.previous - 1), bytes(mark.seal)}));
  return rows.size() == 1 && rows.number(0, 0) == 1;
}

Result<void> View::insert(const StoredEntry& entry) {
  SALLYPORT_TRY(const std::uint64_t next, size());
  if (entry.sequence != next) {
    return ledger::ledger_unavailable("corrupt", "an entry is never overwritten");
  }
  written_.push_back(entry);
  return {};
}

Result<void> View::put_node(int level, std::uint64_t position, const Hash& hash) {
  nodes_[{level, position}] = hash;
  return {};
}

Result<void> View::put_block_index(const BlockIndex& index, std::string_view seal) {
  blocks_.emplace_back(index, seal);
  return {};
}

Result<void> View::replace_seal(std::uint64_t sequence, std::string_view seal) {
  altered_ = true;
  if (newest_ && newest_->sequence == sequence) {
    newest_->seal = seal;
    newest_seal_ = seal;
  }
  SALLYPORT_CHECK_OK(
      link_.ask("INSERT INTO reseals (log, sequence, seal) VALUES ($1::int8, $2::int8, $3::bytea) "
                "ON CONFLICT (log, sequence) DO UPDATE SET seal = excluded.seal",
                {number(log_), number(sequence), bytes(seal)}));
  return {};
}

Result<void> View::replace_block_seal(std::uint64_t block, std::string_view seal) {
  altered_ = true;
  SALLYPORT_CHECK_OK(
      link_.ask("UPDATE blocks SET seal = $3::bytea WHERE log = $1::int8 AND block = $2::int8",
                {number(log_), number(block), bytes(seal)}));
  return {};
}

Result<void> View::store_fact(const core::Fact& fact) {
  facts_[{fact.space, fact.key}] = fact.value;
  return {};
}

Result<void> View::store_openings(std::uint64_t sequence, std::string_view packed) {
  altered_ = true;
  if (newest_ && newest_->sequence == sequence) newest_->openings = packed;
  SALLYPORT_CHECK_OK(link_.ask(
      "UPDATE entries SET openings = $3::bytea WHERE log = $1::int8 AND sequence = $2::int8",
      {number(log_), number(sequence),
       packed.empty() ? Param() : Param(cipher_.close(sequence, packed))}));
  return {};
}

Result<void> View::clear_bytes(std::uint64_t begin, std::uint64_t end) {
  altered_ = true;
  newest_.reset();
  SALLYPORT_CHECK_OK(
      link_.ask("UPDATE entries SET bytes = NULL, openings = NULL WHERE log = $1::int8 AND "
                "sequence >= $2::int8 AND sequence < $3::int8 AND bytes IS NOT NULL",
                {number(log_), number(begin), number(end)}));
  return {};
}

View::Mark View::mark() const {
  Mark mark{.previous = head_ ? head_->size : 0, .seal = newest_seal_};
  for (const StoredEntry& entry : written_) mark.leaves += text_of(entry.leaf);
  if (!written_.empty()) mark.checkpoint = written_.back().checkpoint;
  return mark;
}

bool View::put_all() {
  if (!written_.empty()) put_entries();
  if (!nodes_.empty()) put_nodes();
  for (const auto& [index, seal] : blocks_) put_block(link_, log_, index, seal);
  if (!facts_.empty()) put_facts();
  return altered_ || !written_.empty() || !facts_.empty();
}

void View::put_entries() {
  const Mark mine = mark();
  link_.put(
      "INSERT INTO commits (log, previous, size, leaves, checkpoint) VALUES ($1::int8, $2::int8, "
      "$3::int8, $4::bytea, $5::text)",
      {number(log_), number(mine.previous), number(mine.previous + written_.size()),
       bytes(mine.leaves), bytes(mine.checkpoint)});
  std::vector<std::uint64_t> sequences;
  Values entries;
  Values openings;
  Values seals;
  const auto or_null = [](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
  };
  for (const StoredEntry& entry : written_) {
    sequences.push_back(entry.sequence);
    entries.push_back(entry.bytes);
    openings.push_back(entry.openings.empty()
                           ? std::nullopt
                           : std::optional(cipher_.close(entry.sequence, entry.openings)));
    seals.push_back(or_null(entry.seal));
  }
  link_.put(
      "INSERT INTO entries (log, sequence, bytes, openings, seal) SELECT $1::int8, w.* FROM "
      "unnest($2::int8[], $3::bytea[], $4::bytea[], $5::bytea[]) w",
      {number(log_), numbers(sequences), byte_strings(entries), byte_strings(openings),
       byte_strings(seals)});
}

void View::put_nodes() {
  std::vector<int> levels;
  std::vector<std::uint64_t> positions;
  Values hashes;
  for (const auto& [where, hash] : nodes_) {
    levels.push_back(where.first);
    positions.push_back(where.second);
    hashes.emplace_back(text_of(hash));
  }
  link_.put(
      "INSERT INTO nodes (log, level, position, hash) SELECT $1::int8, w.* FROM "
      "unnest($2::int2[], $3::int8[], $4::bytea[]) w",
      {number(log_), smalls(levels), numbers(positions), byte_strings(hashes)});
}

void View::put_block(Link& link, std::uint64_t log, const BlockIndex& index,
                     std::string_view seal) {
  const auto time = [](WallTime at) {
    return number(static_cast<std::uint64_t>(at.time_since_epoch().count()));
  };
  std::vector<int> facets;
  Values values;
  std::vector<std::uint64_t> counts;
  for (const BlockIndex::Count& count : index.counts) {
    facets.push_back(static_cast<int>(count.facet));
    values.emplace_back(count.value);
    counts.push_back(count.count);
  }
  link.put(
      "WITH b AS (INSERT INTO blocks (log, block, first_time, last_time, least_id, greatest_id, "
      "seal) VALUES ($1::int8, $2::int8, $3::int8, $4::int8, $5::uuid, $6::uuid, $7::bytea) ON "
      "CONFLICT DO NOTHING RETURNING block) INSERT INTO facets (log, block, facet, value, count) "
      "SELECT $1::int8, b.block, w.* FROM b, unnest($8::int2[], $9::bytea[], $10::int8[]) w",
      {number(log), number(index.block), time(index.first_time), time(index.last_time),
       bytes(as_text(index.least_id)), bytes(as_text(index.greatest_id)),
       seal.empty() ? Param() : bytes(seal), smalls(facets), byte_strings(values),
       numbers(counts)});
}

void View::put_facts() {
  Values spaces[2];
  Values keys[2];
  Values values;
  for (const auto& [name, value] : facts_) {
    spaces[value ? 1 : 0].emplace_back(name.first);
    keys[value ? 1 : 0].emplace_back(name.second);
    if (value) values.emplace_back(*value);
  }
  if (!values.empty()) {
    link_.put(kPutFacts,
              {number(log_), byte_strings(spaces[1]), byte_strings(keys[1]), byte_strings(values)});
  }
  if (!keys[0].empty()) {
    link_.put(kDropFacts, {number(log_), byte_strings(spaces[0]), byte_strings(keys[0])});
  }
}

}  // namespace sallyport::store::postgresql
