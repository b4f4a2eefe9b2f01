#include "store/postgresql/view.h"

#include <algorithm>

#include "base/try.h"

namespace sallyport::store::postgresql {

using ledger::BlockIndex;
using ledger::Facet;
using ledger::StoredEntry;

namespace {

constexpr std::size_t kHash = std::tuple_size_v<Hash>;
constexpr std::uint64_t kPiece = 512;  // rows that are in memory at a time

// Another length is damage: a reader that compares the row finds the wrong hash.
Hash hash_of(std::string_view bytes) {
  Hash hash{};
  if (bytes.size() == hash.size()) std::ranges::copy(bytes, hash.begin());
  return hash;
}

Uuid uuid_of(std::string_view bytes) {
  Uuid id{};
  if (bytes.size() == id.size()) std::ranges::copy(bytes, id.begin());
  return id;
}

WallTime wall_of(std::int64_t count) {
  return WallTime(WallTime::duration(count));
}

Param time_param(WallTime time) {
  return number(static_cast<std::uint64_t>(time.time_since_epoch().count()));
}

// PostgreSQL has no number beyond this.
Param place(std::uint64_t at) {
  return number(std::min<std::uint64_t>(at, INT64_MAX));
}

std::uint64_t unsigned_at(const Rows& rows, int row, int column) {
  return static_cast<std::uint64_t>(rows.number(row, column));
}

std::vector<std::uint64_t> first_column(const Rows& rows) {
  std::vector<std::uint64_t> out;
  for (int row = 0; row < rows.size(); ++row) out.push_back(unsigned_at(rows, row, 0));
  return out;
}

void add_leaves(std::vector<Hash>& out, std::string_view packed) {
  for (; packed.size() >= kHash; packed.remove_prefix(kHash)) {
    out.push_back(hash_of(packed.substr(0, kHash)));
  }
}

// An entry, then the data of its commit: the leaf, and the checkpoint if the entry is the last.
#define SALLYPORT_ENTRY_COLUMNS                                                                    \
  "SELECT e.sequence, e.bytes, e.openings, coalesce(r.seal, e.seal), substring(c.leaves FROM (32 " \
  "* (e.sequence - c.previous))::int + 1 FOR 32), CASE WHEN c.size = e.sequence + 1 THEN "         \
  "c.checkpoint END FROM entries e JOIN LATERAL (SELECT * FROM commits "                           \
  "WHERE log = e.log AND previous <= e.sequence ORDER BY previous DESC LIMIT 1) c "                \
  "ON c.size > e.sequence LEFT JOIN reseals r ON r.log = e.log AND r.sequence = e.sequence "

// The commits of a stretch of entries.
constexpr const char* kCommitsOf =
    "SELECT previous, size, leaves, checkpoint FROM commits WHERE log = $1::int8 AND previous < "
    "$3::int8 AND previous >= coalesce((SELECT previous FROM commits WHERE log = $1::int8 AND "
    "previous <= $2::int8 ORDER BY previous DESC LIMIT 1), 0) ORDER BY previous";

constexpr const char* kBeginReading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

constexpr const char* kHead =
    "SELECT c.size, c.checkpoint, coalesce(r.seal, e.seal) FROM (SELECT * FROM commits "
    "WHERE log = $1::int8 ORDER BY previous DESC LIMIT 1) c "
    "LEFT JOIN entries e ON e.log = c.log AND e.sequence = c.size - 1 "
    "LEFT JOIN reseals r ON r.log = c.log AND r.sequence = c.size - 1";

constexpr const char* kNewestCommit =
    "SELECT size, checkpoint FROM commits WHERE log = $1::int8 ORDER BY previous DESC LIMIT 1";

}  // namespace

Result<Rows> View::ask(const char* sql, std::vector<Param> params) {
  const bool first = !std::exchange(began_, true);
  if (first) link_.put(kBeginReading);
  return link_.ask(sql, std::move(params));
}

StoredEntry View::entry_from(const postgresql::Rows& rows, int row, std::string_view leaf,
                             std::optional<std::string_view> checkpoint) const {
  StoredEntry entry{.secret = secret_};
  entry.sequence = unsigned_at(rows, row, 0);
  if (!rows.is_null(row, 1)) entry.bytes = std::string(rows.bytes(row, 1));
  entry.leaf = hash_of(leaf);
  const bool has_openings = !rows.is_null(row, 2);
  const std::optional<std::string> openings =
      has_openings ? cipher_.open(rows.bytes(row, 2)) : std::string();
  entry.openings = openings.value_or("");
  entry.checkpoint = checkpoint.value_or("");
  entry.seal = rows.bytes(row, 3);
  // Absent values are null, never empty.
  entry.odd = (entry.openings.empty() && has_openings) || (checkpoint && checkpoint->empty()) ||
              leaf.size() != kHash;
  return entry;
}

// For a query of SALLYPORT_ENTRY_COLUMNS.
StoredEntry View::entry_from(const postgresql::Rows& rows, int row) const {
  std::optional<std::string_view> checkpoint;
  if (!rows.is_null(row, 5)) checkpoint = rows.bytes(row, 5);
  return entry_from(rows, row, rows.bytes(row, 4), checkpoint);
}

Result<std::uint64_t> View::size() {
  SALLYPORT_TRY(const Head now, head());
  return now.size;
}

Result<View::Head> View::head() {
  if (!written_.empty()) {
    const StoredEntry& last = written_.back();
    return Head{last.sequence + 1, last.checkpoint, last.seal};
  }
  if (!head_) {
    SALLYPORT_TRY(head_, stored_head());
  }
  return *head_;
}

Result<View::Head> View::stored_head() {
  SALLYPORT_TRY(const postgresql::Rows rows, ask(kHead, {number(log_)}));
  return head_from(rows);
}

// For `kHead`.
View::Head View::head_from(const postgresql::Rows& rows) {
  if (rows.size() == 0) return {};
  return {unsigned_at(rows, 0, 0), std::string(rows.bytes(0, 1)), std::string(rows.bytes(0, 2))};
}

Result<void> View::begin_reading(const std::vector<core::FactKey>& facts) {
  began_ = true;
  link_.put(kBeginReading);
  link_.put(kHead, {number(log_)});
  put_wanted(facts);
  SALLYPORT_TRY(const std::vector<postgresql::Rows> answers, link_.flush());
  head_ = head_from(answers[1]);
  take_wanted(facts, answers[2]);
  return {};
}

Result<std::optional<StoredEntry>> View::entry(std::uint64_t sequence) {
  if (sequence >= base()) {
    const std::uint64_t at = sequence - base();
    if (at >= written_.size()) return std::nullopt;
    return written_[at];
  }
  if (newest_ && newest_->sequence == sequence) return newest_;
  SALLYPORT_TRY(const postgresql::Rows rows,
                ask(SALLYPORT_ENTRY_COLUMNS "WHERE e.log = $1::int8 AND e.sequence = $2::int8",
                    {number(log_), place(sequence)}));
  if (rows.size() == 0) return std::nullopt;
  return entry_from(rows, 0);
}

// Reads piece by piece, together with the commits of each piece, so that no row searches its own.
Result<void> View::scan(std::uint64_t begin, std::uint64_t end, const Visit& visit) {
  SALLYPORT_TRY(const std::uint64_t all, size());
  const std::uint64_t stored_end = std::min({end, base(), all});
  for (std::uint64_t at = begin; at < stored_end; at += kPiece) {
    const std::uint64_t to = std::min(stored_end, at + kPiece);
    link_.put(
        "SELECT e.sequence, e.bytes, e.openings, coalesce(r.seal, e.seal) FROM entries e LEFT JOIN "
        "reseals r ON r.log = e.log AND r.sequence = e.sequence WHERE e.log = $1::int8 AND "
        "e.sequence >= $2::int8 AND e.sequence < $3::int8 ORDER BY e.sequence",
        {number(log_), place(at), place(to)});
    link_.put(kCommitsOf, {number(log_), place(at), place(to)});
    SALLYPORT_TRY(const std::vector<postgresql::Rows> answers, link_.flush());
    SALLYPORT_TRY(const bool more, visit_piece(answers[0], answers[1], visit));
    if (!more) return {};
  }
  for (const StoredEntry& entry : written_) {
    if (entry.sequence < begin || entry.sequence >= end) continue;
    SALLYPORT_TRY(const bool more, visit(entry));
    if (!more) return {};
  }
  return {};
}

// A row that no commit covers is no entry.
Result<bool> View::visit_piece(const postgresql::Rows& entries, const postgresql::Rows& commits,
                               const Visit& visit) const {
  int commit = 0;
  for (int row = 0; row < entries.size(); ++row) {
    const std::uint64_t sequence = unsigned_at(entries, row, 0);
    while (commit < commits.size() && unsigned_at(commits, commit, 1) <= sequence) ++commit;
    if (commit == commits.size() || unsigned_at(commits, commit, 0) > sequence) continue;
    const std::uint64_t place_in = (sequence - unsigned_at(commits, commit, 0)) * kHash;
    const std::string_view leaves = commits.bytes(commit, 2);
    std::optional<std::string_view> checkpoint;
    if (unsigned_at(commits, commit, 1) == sequence + 1) checkpoint = commits.bytes(commit, 3);
    const StoredEntry entry = entry_from(
        entries, row, leaves.substr(std::min(place_in, leaves.size()), kHash), checkpoint);
    SALLYPORT_TRY(const bool more, visit(entry));
    if (!more) return false;
  }
  return true;
}

Result<std::vector<Hash>> View::leaves(std::uint64_t begin, std::uint64_t end) {
  std::vector<Hash> out;
  const std::uint64_t stored_end = std::min(end, base());
  const bool brought = begin >= leaves_from_ && stored_end <= leaves_from_ + leaves_.size();
  if (begin < stored_end && brought) {
    const auto from = leaves_.begin() + static_cast<std::ptrdiff_t>(begin - leaves_from_);
    out.assign(from, from + static_cast<std::ptrdiff_t>(stored_end - begin));
  } else if (begin < stored_end) {
    SALLYPORT_TRY(const postgresql::Rows rows,
                  ask(kCommitsOf, {number(log_), place(begin), place(stored_end)}));
    for (int row = 0; row < rows.size(); ++row) {
      const std::uint64_t first = std::max(begin, unsigned_at(rows, row, 0));
      const std::uint64_t last = std::min(stored_end, unsigned_at(rows, row, 1));
      if (first >= last) continue;
      add_leaves(out, rows.bytes(row, 2).substr((first - unsigned_at(rows, row, 0)) * kHash,
                                                (last - first) * kHash));
    }
  }
  for (const StoredEntry& entry : written_) {
    if (entry.sequence >= begin && entry.sequence < end) out.push_back(entry.leaf);
  }
  return out;
}

Result<std::vector<Hash>> View::nodes(int level, std::uint64_t begin, std::uint64_t end) {
  SALLYPORT_TRY(const postgresql::Rows rows,
                ask("SELECT position, hash FROM nodes WHERE log = $1::int8 AND level = $2::int2 "
                    "AND position >= $3::int8 AND position < $4::int8 ORDER BY position",
                    {number(log_), small(level), place(begin), place(end)}));
  std::vector<Hash> out;
  for (int row = 0; row < rows.size(); ++row) out.push_back(hash_of(rows.bytes(row, 1)));
  // Nodes of this transaction come after all stored ones.
  for (const auto& [where, hash] : nodes_) {
    if (where.first == level && where.second >= begin && where.second < end) out.push_back(hash);
  }
  return out;
}

// Indexes are added in order, so none follows the first missing one. A block without entries has no
// index, even if there is a row.
Result<std::uint64_t> View::indexed_blocks() {
  SALLYPORT_TRY(const std::uint64_t entries, size());
  SALLYPORT_TRY(const postgresql::Rows rows,
                ask("SELECT block + 1 FROM blocks WHERE log = $1::int8 ORDER BY block DESC LIMIT 1",
                    {number(log_)}));
  return rows.size() == 0 ? 0 : std::min(unsigned_at(rows, 0, 0), entries / ledger::kBlock);
}

Result<std::vector<std::uint64_t>> View::blocks_with(Facet facet, std::string_view value,
                                                     std::uint64_t from) {
  SALLYPORT_TRY(const postgresql::Rows rows,
                ask("SELECT block FROM facets WHERE log = $1::int8 AND facet = $2::int2 AND "
                    "value = $3::bytea AND block >= $4::int8 ORDER BY block",
                    {number(log_), small(static_cast<int>(facet)), bytes(value), place(from)}));
  return first_column(rows);
}

Result<std::vector<std::uint64_t>> View::blocks_between(WallTime since, WallTime until,
                                                        std::uint64_t from) {
  SALLYPORT_TRY(const postgresql::Rows rows,
                ask("SELECT block FROM blocks WHERE log = $1::int8 AND last_time >= $2::int8 AND "
                    "first_time < $3::int8 AND block >= $4::int8 ORDER BY block",
                    {number(log_), time_param(since), time_param(until), place(from)}));
  return first_column(rows);
}

Result<std::vector<std::uint64_t>> View::blocks_with_id(const Uuid& id) {
  SALLYPORT_TRY(const postgresql::Rows rows,
                ask("SELECT block FROM blocks WHERE log = $1::int8 AND least_id <= $2::uuid AND "
                    "greatest_id >= $2::uuid ORDER BY block",
                    {number(log_), bytes(as_text(id))}));
  return first_column(rows);
}

Result<bool> View::has_block_index(const BlockIndex& index) {
  SALLYPORT_TRY(
      const postgresql::Rows block,
      ask("SELECT count(*) FROM blocks WHERE log = $1::int8 AND block = $2::int8 AND first_time = "
          "$3::int8 AND last_time = $4::int8 AND least_id = $5::uuid AND greatest_id = $6::uuid",
          {number(log_), place(index.block), time_param(index.first_time),
           time_param(index.last_time), bytes(as_text(index.least_id)),
           bytes(as_text(index.greatest_id))}));
  if (block.number(0, 0) != 1) return false;
  std::vector<int> facets;
  Values values;
  std::vector<std::uint64_t> counts;
  for (const BlockIndex::Count& count : index.counts) {
    facets.push_back(static_cast<int>(count.facet));
    values.emplace_back(count.value);
    counts.push_back(count.count);
  }
  SALLYPORT_TRY(
      const postgresql::Rows found,
      ask("SELECT count(*) FROM unnest($3::int2[], $4::bytea[], $5::int8[]) w(facet, value, count) "
          "JOIN facets f ON f.log = $1::int8 AND f.block = $2::int8 AND f.facet = w.facet AND "
          "f.value = w.value AND f.count = w.count",
          {number(log_), place(index.block), smalls(facets), byte_strings(values),
           numbers(counts)}));
  return unsigned_at(found, 0, 0) == index.counts.size();
}

Result<void> View::scan_blocks(const OnBlock& on_block) {
  for (std::uint64_t from = 0;;) {
    SALLYPORT_TRY(
        const postgresql::Rows rows,
        ask("SELECT block, first_time, last_time, least_id, greatest_id, seal FROM blocks "
            "WHERE log = $1::int8 AND block >= $2::int8 ORDER BY block LIMIT $3::int8",
            {number(log_), place(from), number(kPiece)}));
    for (int row = 0; row < rows.size(); ++row) {
      const BlockIndex block{.block = unsigned_at(rows, row, 0),
                             .first_time = wall_of(rows.number(row, 1)),
                             .last_time = wall_of(rows.number(row, 2)),
                             .least_id = uuid_of(rows.bytes(row, 3)),
                             .greatest_id = uuid_of(rows.bytes(row, 4))};
      SALLYPORT_CHECK_OK(on_block(block, rows.bytes(row, 5)));
      from = block.block + 1;
    }
    if (static_cast<std::uint64_t>(rows.size()) < kPiece) return {};
  }
}

Result<void> View::scan_counts(const OnCount& on_count) {
  int facet = -1;
  std::string value;
  std::uint64_t block = 0;
  while (true) {
    SALLYPORT_TRY(
        const postgresql::Rows rows,
        ask("SELECT facet, value, block, count FROM facets WHERE log = $1::int8 AND (facet, value, "
            "block) > ($2::int2, $3::bytea, $4::int8) ORDER BY facet, value, block LIMIT $5::int8",
            {number(log_), small(facet), bytes(value), place(block), number(kPiece)}));
    for (int row = 0; row < rows.size(); ++row) {
      facet = static_cast<int>(rows.number(row, 0));
      value = rows.bytes(row, 1);
      block = unsigned_at(rows, row, 2);
      SALLYPORT_CHECK_OK(
          on_count(block, {static_cast<Facet>(facet), value, unsigned_at(rows, row, 3)}));
    }
    if (static_cast<std::uint64_t>(rows.size()) < kPiece) return {};
  }
}

Result<ledger::ReadView::Rows> View::rows() {
  SALLYPORT_TRY(const Head now, head());
  SALLYPORT_TRY(
      const postgresql::Rows rows,
      ask("SELECT (SELECT count(*) FROM nodes WHERE log = $1::int8), (SELECT count(*) FROM blocks "
          "WHERE log = $1::int8), (SELECT count(*) FROM facets WHERE log = $1::int8), (SELECT "
          "count(*) FROM entries WHERE log = $1::int8 AND (sequence < 0 OR sequence >= $2::int8))",
          {number(log_), place(now.size)}));
  const auto at = [&](int column) { return unsigned_at(rows, 0, column); };
  return ReadView::Rows{.nodes = at(0), .blocks = at(1), .counts = at(2), .strays = at(3)};
}

Result<std::vector<BlockIndex::Count>> View::totals(Facet facet) {
  SALLYPORT_TRY(const postgresql::Rows rows,
                ask("SELECT value, sum(count)::int8 FROM facets WHERE log = $1::int8 AND facet = "
                    "$2::int2 GROUP BY value ORDER BY value",
                    {number(log_), small(static_cast<int>(facet))}));
  std::vector<BlockIndex::Count> out;
  for (int row = 0; row < rows.size(); ++row) {
    out.push_back({facet, std::string(rows.bytes(row, 0)), unsigned_at(rows, row, 1)});
  }
  return out;
}

Result<bool> View::has_more_facts_than(std::uint64_t count) {
  SALLYPORT_TRY(const postgresql::Rows rows,
                ask("SELECT 1 FROM facts WHERE log = $1::int8 LIMIT 1 OFFSET $2::int8",
                    {number(log_), place(count)}));
  return rows.size() > 0;
}

Result<void> View::scan_facts(const OnFact& on_fact) {
  Key after;
  while (true) {
    SALLYPORT_TRY(const postgresql::Rows rows,
                  ask("SELECT space, key, value FROM facts WHERE log = $1::int8 AND (space, key) > "
                      "($2::bytea, $3::bytea) ORDER BY space, key LIMIT $4::int8",
                      {number(log_), bytes(after.first), bytes(after.second), number(kPiece)}));
    for (int row = 0; row < rows.size(); ++row) {
      after = {std::string(rows.bytes(row, 0)), std::string(rows.bytes(row, 1))};
      if (facts_.contains(after)) continue;
      SALLYPORT_CHECK_OK(on_fact({after.first, after.second, std::string(rows.bytes(row, 2))}));
    }
    if (static_cast<std::uint64_t>(rows.size()) < kPiece) break;
  }
  for (const auto& [name, value] : facts_) {
    if (value) SALLYPORT_CHECK_OK(on_fact({name.first, name.second, *value}));
  }
  return {};
}

void View::put_begin(const ledger::LedgerStore::Wants& wants) {
  constexpr std::uint64_t kFewLeaves = 4096;  // beyond that the edge comes from the nodes
  began_ = true;
  link_.put("BEGIN");
  // A separate statement: one that also reads would have its snapshot from before the wait.
  put_lock(link_, log_);
  link_.put(kNewestCommit, {number(log_)});
  link_.put(
      "SELECT previous, leaves FROM commits WHERE log = $1::int8 AND previous >= $2::int8 AND "
      "previous < $3::int8 ORDER BY previous",
      {number(log_), place(wants.known),
       place(wants.known > INT64_MAX - kFewLeaves ? INT64_MAX : wants.known + kFewLeaves)});
  link_.put(SALLYPORT_ENTRY_COLUMNS
            "WHERE e.log = $1::int8 AND e.sequence = (SELECT size - 1 FROM commits WHERE log = "
            "$1::int8 ORDER BY previous DESC LIMIT 1)",
            {number(log_)});
  put_wanted(wants.facts);
}

void View::take_begin(const ledger::LedgerStore::Wants& wants,
                      const std::vector<postgresql::Rows>& answers) {
  head_ = Head{};
  if (answers[2].size() > 0) {
    head_->size = unsigned_at(answers[2], 0, 0);
    head_->checkpoint = answers[2].bytes(0, 1);
  }
  note_since(answers[3]);
  if (answers[4].size() > 0) {
    newest_ = entry_from(answers[4], 0);
    head_->seal = newest_->seal;
  }
  take_wanted(wants.facts, answers[5]);
}

// Takes the leaves that the writer does not know yet. After a gap they are read where they are
// needed, and do not match the checkpoint.
void View::note_since(const postgresql::Rows& rows) {
  for (int row = 0; row < rows.size(); ++row) {
    const std::uint64_t previous = unsigned_at(rows, row, 0);
    if (leaves_.empty()) leaves_from_ = previous;
    if (leaves_from_ + leaves_.size() != previous) return;
    add_leaves(leaves_, rows.bytes(row, 1));
  }
}

}  // namespace sallyport::store::postgresql
