#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include "base/try.h"
#include "bench/bench.h"
#include "bench/bench_ledger.h"
#include "ledger/store.h"

namespace sallyport::bench {

namespace {

std::vector<std::pair<std::string, std::string>> stored_bytes(BenchLedger& ledger,
                                                              std::size_t count) {
  std::vector<std::pair<std::string, std::string>> rows;
  (void)ledger.store().read([&](ledger::ReadView& view) {
    return view.scan(2, 2 + count, [&](const ledger::StoredEntry& entry) -> Result<bool> {
      rows.emplace_back(*entry.bytes, entry.openings);
      return true;
    });
  });
  return rows;
}

// The same bytes in one plain table, in batches, with the same pragmas and nothing else.
class BareTable {
 public:
  BareTable(const std::filesystem::path& folder,
            const std::vector<std::pair<std::string, std::string>>& rows)
      : file_(folder / "bare.db"), rows_(rows) {
    SALLYPORT_INVARIANT(sqlite3_open(file_.c_str(), &db_) == SQLITE_OK);
    run("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=4000;"
        "PRAGMA cache_size=-16384; CREATE TABLE t (n INTEGER PRIMARY KEY, a BLOB, b BLOB)");
    sqlite3_prepare_v2(db_, "INSERT INTO t VALUES (?, ?, ?)", -1, &insert_, nullptr);
  }
  BareTable(const BareTable&) = delete;
  ~BareTable() {
    sqlite3_finalize(insert_);
    sqlite3_close(db_);
    for (const char* const end : {"", "-wal", "-shm"})
      std::filesystem::remove(file_.string() + end);
  }

  double insert(std::size_t count, std::size_t batch) {  // seconds
    return seconds_of([&] {
      for (std::size_t done = 0; done < count;) {
        run("BEGIN IMMEDIATE");
        for (std::size_t i = 0; i < batch && done < count; ++i, ++done) insert_next();
        run("COMMIT");
      }
    });
  }

 private:
  void run(const char* sql) {
    SALLYPORT_INVARIANT(sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
  }

  void insert_next() {
    const auto& [a, b] = rows_[next_ % rows_.size()];
    sqlite3_bind_int64(insert_, 1, static_cast<sqlite3_int64>(next_++));
    sqlite3_bind_blob(insert_, 2, a.data(), static_cast<int>(a.size()), SQLITE_STATIC);
    sqlite3_bind_blob(insert_, 3, b.data(), static_cast<int>(b.size()), SQLITE_STATIC);
    sqlite3_step(insert_);
    sqlite3_reset(insert_);
  }

  std::filesystem::path file_;
  const std::vector<std::pair<std::string, std::string>>& rows_;
  sqlite3* db_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
  std::size_t next_ = 0;
};

double bare_inserts_per_second(const std::filesystem::path& folder, std::size_t batch,
                               const std::vector<std::pair<std::string, std::string>>& rows,
                               std::size_t count) {
  return static_cast<double>(count) / BareTable(folder, rows).insert(count, batch);
}

// Seconds per record for a young and for an old ledger, each the median of five turns. The turns
// alternate, so that both ledgers use the same disk at the same time.
template <class Young, class Old>
std::pair<double, double> young_and_old(std::size_t step, Young young, Old old) {
  std::vector<double> of_young;
  std::vector<double> of_old;
  for (int turn = 0; turn < 5; ++turn) {
    of_young.push_back(young() / static_cast<double>(step));
    of_old.push_back(old() / static_cast<double>(step));
  }
  return {median(of_young), median(of_old)};
}

}  // namespace

// LE-47
void measure_appends(Report& report, bool quick) {
  report.section("durable appends (each caller waits for its own record)");
  BenchLedger warm(Keep::OnDisk);
  warm.append(quick ? 500 : 5000, 1);
  const auto rows = stored_bytes(warm, 400);
  double bytes = 0;
  for (const auto& [a, b] : rows) bytes += static_cast<double>(a.size() + b.size());
  report.row("bytes stored a record (entry and openings)", fmt::format("{:.0f}", bytes / 400.0));

  const int lone = quick ? 75 : 750;
  double commit = 0;
  double sync = 0;
  for (int turn = 0; turn < 4; ++turn) {  // in turns, so that a slow minute affects both
    sync += fdatasync_seconds(warm.folder(), lone) / 4;
    commit += warm.append(static_cast<std::size_t>(lone), 1) / lone / 4;
  }
  report.row("bare fdatasync of 8 KiB appended", fmt::format("{:.0f} us", sync * 1e6));
  report.row("lone commit", fmt::format("{:.0f} us", commit * 1e6),
             fmt::format("{:.2f} fdatasyncs (goal: at most 1.5)", commit / sync));

  for (const std::size_t callers : {1, 16, 256}) {
    const std::size_t count = quick           ? callers * 40
                              : callers == 1  ? 5000
                              : callers == 16 ? 48000
                                              : 256000;
    BenchLedger fresh(Keep::OnDisk);
    const double bare_before = bare_inserts_per_second(fresh.folder(), callers, rows, count / 2);
    const double rate = static_cast<double>(count) / fresh.append(count, callers);
    const double bare_after = bare_inserts_per_second(fresh.folder(), callers, rows, count / 2);
    const double bare = (bare_before + bare_after) / 2;
    report.row(fmt::format("{} caller{}", callers, callers == 1 ? "" : "s"),
               fmt::format("{:.0f}/s", rate),
               fmt::format("{:.2f} of {:.0f}/s bare SQLite inserts in batches of {}{}", rate / bare,
                           bare, callers, callers == 256 ? " (goal: at least 0.5)" : ""));
    BenchLedger unsynced(Keep::OnDiskUnsynced);
    report.row(
        fmt::format("{} caller{}, syncing off", callers, callers == 1 ? "" : "s"),
        fmt::format("{:.0f}/s", static_cast<double>(count) / unsynced.append(count, callers)));
  }
}

void measure_growth(Report& report, bool quick) {
  report.section("cost does not grow with history (256 callers)");
  const std::size_t step = quick ? 5120 : 25600;
  const std::size_t total = quick ? 20000 : 1'000'000;
  BenchLedger old(Keep::OnDisk);
  std::size_t records = 0;
  for (const std::size_t so_far : {total / 1000, total / 10, total}) {
    old.append(so_far - records, 256);
    records = so_far;
    report.row(fmt::format("resident memory after {} records", so_far),
               fmt::format("{:.0f} MiB", resident_mib()));
  }
  const auto [early, late] = young_and_old(
      step,
      [&] {
        BenchLedger young(Keep::OnDisk);
        young.append(1000, 256);
        return young.append(step, 256);
      },
      [&] { return old.append(step, 256); });
  report.row("append at 1000 records", fmt::format("{:.2f} us", early * 1e6));
  report.row(fmt::format("append at {} records", total), fmt::format("{:.2f} us", late * 1e6),
             fmt::format("{:.2f} of the early cost (goal: flat)", late / early));

  const auto rows = stored_bytes(old, 400);
  BareTable old_table(old.folder(), rows);
  old_table.insert(total, 256);
  const auto beside = old.folder() / "beside";
  std::filesystem::create_directory(beside);
  const auto [bare_early, bare_late] = young_and_old(
      step,
      [&] {
        BareTable young(beside, rows);
        young.insert(1000, 256);
        return young.insert(step, 256);
      },
      [&] { return old_table.insert(step, 256); });
  report.row(fmt::format("bare SQLite insert at {} rows", total),
             fmt::format("{:.2f} us", bare_late * 1e6),
             fmt::format("{:.2f} of its early cost", bare_late / bare_early));
}

}  // namespace sallyport::bench
