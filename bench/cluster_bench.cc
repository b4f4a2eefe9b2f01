// Compares a shared log with the bare protocol: the same lock, statements and bytes, no other code.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <thread>

#include "base/try.h"
#include "bench/bench.h"
#include "bench/bench_ledger.h"
#include "store/postgresql/link.h"
#include "store/postgresql/postgresql_store.h"

namespace sallyport::bench {

namespace {

using store::postgresql::Link;

class SharedFolder {
 public:
  explicit SharedFolder(std::string url) : url_(std::move(url)) {
    std::string name = (std::filesystem::temp_directory_path() / "sallyport-bench-XXXXXX").string();
    SALLYPORT_INVARIANT(mkdtemp(name.data()) != nullptr);
    folder_ = name;
  }
  SharedFolder(const SharedFolder&) = delete;
  ~SharedFolder() {
    gateways_.clear();
    std::filesystem::remove_all(folder_);
  }

  // Opens one more gateway; the first one creates the keys.
  ledger::Ledger& gateway() {
    const std::filesystem::path data = folder_ / std::to_string(gateways_.size());
    if (!gateways_.empty()) {
      std::filesystem::create_directories(data);
      std::filesystem::permissions(data, std::filesystem::perms::owner_all);
      std::filesystem::copy(folder_ / "0" / "keys", data / "keys",
                            std::filesystem::copy_options::recursive);
    }
    auto store = store::PostgresqlStore::open({.log = {.url = url_, .lock_wait = kPatience}});
    SALLYPORT_INVARIANT(store.has_value());
    auto ledger =
        ledger::Ledger::open({**store, redactor_, clock_, entropy_}, {.data_folder = data});
    SALLYPORT_INVARIANT(ledger.has_value());
    gateways_.push_back({std::move(*store), std::move(*ledger)});
    return *gateways_.back().ledger;
  }
  const std::filesystem::path& folder() const { return folder_; }
  std::size_t size() const { return gateways_.size(); }

 private:
  static constexpr auto kPatience = std::chrono::seconds(30);
  struct Gateway {
    std::unique_ptr<store::PostgresqlStore> store;
    std::unique_ptr<ledger::Ledger> ledger;
  };
  std::string url_;
  std::filesystem::path folder_;
  SystemClock clock_;
  SystemEntropy entropy_;
  core::NoRedactor redactor_;
  std::vector<Gateway> gateways_;
};

// One writer of the bare protocol: BEGIN, the lock, the head, then the rows and COMMIT.
class BareWriter {
 public:
  explicit BareWriter(const std::string& url) {
    auto opened = Link::open({.url = url});
    SALLYPORT_INVARIANT(opened.has_value());
    link_ = std::move(*opened);
  }

  static void make_tables(const std::string& url) {
    BareWriter writer(url);
    SALLYPORT_INVARIANT(
        writer.link_
            ->run("DROP TABLE IF EXISTS bare_commits, bare_entries;"
                  "CREATE TABLE bare_commits (previous int8 PRIMARY KEY, size int8, "
                  "leaves bytea, checkpoint bytea);"
                  "CREATE TABLE bare_entries (sequence int8 PRIMARY KEY, bytes "
                  "bytea, openings bytea)")
            .has_value());
  }

  // Returns seconds.
  double write(std::size_t count, std::size_t batch) {
    return seconds_of([&] {
      for (std::size_t done = 0; done < count; done += batch) commit(batch);
    });
  }

 private:
  void commit(std::size_t batch) {
    link_->put("BEGIN");
    link_->put("SELECT pg_advisory_xact_lock(1397772884, 0)");
    link_->put("SELECT coalesce(max(size), 0) FROM bare_commits");
    const auto answers = link_->flush();
    SALLYPORT_INVARIANT(answers.has_value());
    const auto head = static_cast<std::uint64_t>(answers->back().number(0, 0));
    std::vector<std::uint64_t> places;
    for (std::size_t i = 0; i < batch; ++i) places.push_back(head + i);
    const store::postgresql::Values entries(batch, std::string(1024, 'e'));
    const store::postgresql::Values openings(batch, std::string(512, 'o'));
    link_->put(
        "INSERT INTO bare_entries SELECT * FROM unnest($1::int8[], $2::bytea[], $3::bytea[])",
        {store::postgresql::numbers(places), store::postgresql::byte_strings(entries),
         store::postgresql::byte_strings(openings)});
    link_->put("INSERT INTO bare_commits VALUES ($1::int8, $2::int8, $3::bytea, $4::bytea)",
               {store::postgresql::number(head), store::postgresql::number(head + batch),
                store::postgresql::bytes(std::string(32 * batch, 'l')),
                store::postgresql::bytes(std::string(200, 'c'))});
    link_->put("COMMIT");
    SALLYPORT_INVARIANT(link_->flush().has_value());
  }

  std::unique_ptr<Link> link_;
};

template <class Work>
std::vector<double> each_on_a_thread(std::size_t count, Work work) {
  std::vector<double> seconds(count);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] { seconds[i] = work(i); });
  }
  for (std::thread& thread : threads) thread.join();
  return seconds;
}

void measure_lone(Report& report, const std::string& url, SharedFolder& shared, bool quick) {
  ledger::Ledger& gateway = shared.gateway();
  BareWriter::make_tables(url);
  BareWriter bare(url);
  const int count = quick ? 50 : 500;
  double commit = 0;
  double plain = 0;
  double sync = 0;
  for (int turn = 0; turn < 4; ++turn) {  // in turns, so that a slow minute affects all
    sync += fdatasync_seconds(shared.folder(), count) / 4;
    plain += bare.write(static_cast<std::size_t>(count), 1) / count / 4;
    commit += append_to(gateway, static_cast<std::size_t>(count), 1) / count / 4;
  }
  report.row("bare fdatasync of 8 KiB appended", fmt::format("{:.0f} us", sync * 1e6));
  report.row("bare lone commit", fmt::format("{:.0f} us", plain * 1e6),
             fmt::format("{:.2f} fdatasyncs", plain / sync));
  report.row("lone append", fmt::format("{:.0f} us", commit * 1e6),
             fmt::format("{:.2f} bare commits (goal: at most 1.4), {:.2f} fdatasyncs (at most 7)",
                         commit / plain, commit / sync));
  const double effect = effect_seconds(gateway, static_cast<std::size_t>(count));
  const double beside_it =
      append_to(gateway, static_cast<std::size_t>(count), 1) / count;  // of the same minute
  report.row("call with an effect, lone", fmt::format("{:.0f} us", effect * 1e6),
             fmt::format("{:.2f} appends (goal: at most 2.6)", effect / beside_it));
  const std::size_t many = quick ? 2560 : 51200;
  const double rate = static_cast<double>(many) / append_to(gateway, many, 256);
  const double beside = static_cast<double>(many) / bare.write(many, 512);
  report.row("256 callers, one gateway", fmt::format("{:.0f}/s", rate),
             fmt::format("{:.2f} of {:.0f}/s bare in batches of 512 (goal: at least 0.5)",
                         rate / beside, beside));
}

void measure_four(Report& report, const std::string& url, SharedFolder& shared, bool quick) {
  std::vector<ledger::Ledger*> gateways;
  for (int i = 0; i < 4; ++i) gateways.push_back(&shared.gateway());
  const std::size_t each = quick ? 640 : 12800;
  const auto ours =
      each_on_a_thread(4, [&](std::size_t i) { return append_to(*gateways[i], each, 64); });
  const auto bare =
      each_on_a_thread(4, [&](std::size_t) { return BareWriter(url).write(each, 64); });
  const auto [quickest, slowest] = std::ranges::minmax(ours);
  const double rate = 4 * static_cast<double>(each) / slowest;
  const double beside = 4 * static_cast<double>(each) / std::ranges::max(bare);
  report.row("4 gateways of 64 callers", fmt::format("{:.0f}/s", rate),
             fmt::format("{:.2f} of {:.0f}/s bare 4 x 64 (goal: at least 0.5), spread {:.2f} (at "
                         "most 0.2)",
                         rate / beside, beside, (slowest - quickest) / slowest));
}

// Each gateway appends alone, about 31 times a second.
void measure_sixteen(Report& report, SharedFolder& shared, bool quick) {
  std::vector<ledger::Ledger*> gateways;
  for (int i = 0; i < 16; ++i) gateways.push_back(&shared.gateway());
  std::vector<std::vector<double>> times(16);
  each_on_a_thread(16, [&](std::size_t i) {
    for (int n = 0; n < (quick ? 10 : 150); ++n) {
      std::this_thread::sleep_for(std::chrono::microseconds(16000 + 2000 * ((7 * n + 3 * i) % 16)));
      times[i].push_back(append_to(*gateways[i], 1, 1));
    }
    return 0.0;
  });
  std::vector<double> all;
  for (const auto& each : times) all.insert(all.end(), each.begin(), each.end());
  std::ranges::sort(all);
  report.row(
      "16 gateways, about 500 commits/s: p50, p99",
      fmt::format("{:.1f}, {:.1f} ms", 1e3 * all[all.size() / 2], 1e3 * all[all.size() * 99 / 100]),
      "(goal: p50 at most 2 lone appends, p99 at most 15 ms)");
}

// The processor share that the server spends on the beats of idle gateways. Empty: the server runs
// on another machine.
std::optional<double> seconds_for_beats(Link& link) {
  const auto pids = link.ask(
      "SELECT pid::int8 FROM pg_stat_activity WHERE application_name = 'sallyport beats' AND "
      "datname = current_database()");
  SALLYPORT_INVARIANT(pids.has_value());
  double nanoseconds = 0;
  for (int row = 0; row < pids->size(); ++row) {
    std::ifstream file(fmt::format("/proc/{}/schedstat", pids->number(row, 0)));
    double ran = 0;
    if (!(file >> ran)) return std::nullopt;
    nanoseconds += ran;
  }
  return nanoseconds * 1e-9;
}

void measure_beats(Report& report, const std::string& url, SharedFolder& shared, bool quick) {
  const auto link = Link::open({.url = url});
  SALLYPORT_INVARIANT(link.has_value());
  const std::optional<double> before = seconds_for_beats(**link);
  const double pause = quick ? 4 : 20;
  std::this_thread::sleep_for(std::chrono::duration<double>(pause));
  const std::optional<double> after = seconds_for_beats(**link);
  if (!before || !after) return report.row("beats", "not measured: the server is elsewhere");
  const double share = (*after - *before) / pause / static_cast<double>(shared.size()) * 16;
  report.row("beats of 16 gateways", fmt::format("{:.2f} % of a core", share * 100),
             "of the database (goal: at most 1 %)");
}

}  // namespace

// SC-60
void measure_cluster(Report& report, bool quick) {
  const char* const url = std::getenv("SALLYPORT_BENCH_POSTGRESQL");
  if (url == nullptr) return;
  const char* const about = std::getenv("SALLYPORT_BENCH_ABOUT");
  report.section(fmt::format("shared log in PostgreSQL{}{}", about == nullptr ? "" : ", ",
                             about == nullptr ? "" : about));
  SharedFolder shared(url);
  measure_lone(report, url, shared, quick);
  measure_four(report, url, shared, quick);
  measure_sixteen(report, shared, quick);
  measure_beats(report, url, shared, quick);
}

}  // namespace sallyport::bench
